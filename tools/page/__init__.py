"""The page of one's own machine: what people look into with a browser, on loopback alone."""
