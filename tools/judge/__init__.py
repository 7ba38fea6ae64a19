"""Judging one network by another: run both on the same pictures, measure, hold against bars, report."""
