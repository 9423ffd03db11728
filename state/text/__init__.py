"""What is read of a text alone: its normal form, its terms, its passages, what it instructs."""
