"""What readers get of the state: rows, pages, the tail behind a watermark, a starting agent's context."""
