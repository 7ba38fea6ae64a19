"""Networks made smaller and faster, each result proved against the FP32 network on the same pictures.

``graph`` reads a network's graph; ``simplify``, ``half``, ``int8``, ``dynamic`` and ``ort_format`` each make one kind
of file; ``search`` finds the nodes that must stay FP32; ``panel`` and ``clock`` say what a file cost and what it
brought; ``workshop`` puts them together.
"""

# Before any module here loads ONNX Runtime: the switch that keeps it from reporting to its maker is read once.
import app.inference.session  # noqa: F401
