"""Styles from outside: found in a catalogue, fetched, looked at, added, checked, removed (docs/models.md)."""
