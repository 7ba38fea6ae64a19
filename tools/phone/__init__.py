"""A network as files for phones: fixed sizes, other engines, and all that an app needs to know."""

# Before anything here imports ONNX Runtime: this module switches its reports to its maker off.
import app.inference.session  # noqa: F401
