"""The training room: networks small enough for a Pi, taught by a large one or by a slow classical chain."""
