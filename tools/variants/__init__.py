"""Putting a network and its smaller variants into models.toml."""
