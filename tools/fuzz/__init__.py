"""Feeding the decoder what nobody would send on purpose, and what somebody would."""
