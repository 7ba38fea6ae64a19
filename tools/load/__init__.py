"""Playing many people at once, on the machine that serves them."""
