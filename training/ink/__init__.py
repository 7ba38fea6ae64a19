"""`ink`: AnimeBooth's own style, a classical chain of picture processing that belongs to nobody else."""

from training.ink.chain import draw

__all__ = ["draw"]
