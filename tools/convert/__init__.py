"""Kinds of checkpoints and how each becomes ONNX; ``tools.convert_checkpoint`` is the command."""
