"""Who is let in, in which order, and when: docs/decisions/0006-admission.md says why.

Works with numbers alone: what a conversion is expected to cost is told (app.workload), what it did cost is learned.
"""
