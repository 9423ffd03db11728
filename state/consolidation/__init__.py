"""What a pass makes of memories that are alike: when one begins, what it looks at, and what is decided by rule."""
