"""What the owner of a service sees: metrics, structured logs, traces. No web framework in here, and no pictures."""
