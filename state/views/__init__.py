"""The reader's views of the state: rows, pages, the tail behind a watermark, a starting agent's context."""
