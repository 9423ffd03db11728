"""Properties of a single text: its normal form, terms, passages and instructions."""
