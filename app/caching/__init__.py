"""Answers that were made once are not made again: docs/decisions/0005-cache.md."""
