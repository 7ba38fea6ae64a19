"""The Flask program that most people copy, to measure ours against: one session, the photo squashed, PNG out.

``python -m tools.plain_service --model models/lite_hayao.onnx --side 768 --port 9000``
"""

from __future__ import annotations

import argparse
import os
from io import BytesIO
from pathlib import Path

import numpy as np
from flask import Flask, Response, request
from PIL import Image

# A measuring tool sends nobody a report (see app/inference/session.py).
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

import onnxruntime as ort


def create_plain_app(model: Path, side: int) -> Flask:
    """POST /convert with the form field ``image`` answers with a ``side`` x ``side`` PNG."""
    app = Flask(__name__)
    session = ort.InferenceSession(str(model))

    @app.post("/convert")
    def convert() -> Response:
        photo = Image.open(request.files["image"].stream).convert("RGB").resize((side, side))
        tensor = np.asarray(photo, np.float32).transpose(2, 0, 1)[None] / 127.5 - 1
        answer = session.run(None, {session.get_inputs()[0].name: tensor})[0][0]
        pixels = ((np.clip(answer, -1, 1) + 1) * 127.5).transpose(1, 2, 0).astype(np.uint8)
        buffer = BytesIO()
        Image.fromarray(pixels).save(buffer, "PNG")
        return Response(buffer.getvalue(), mimetype="image/png")

    return app


def main() -> None:
    """Serve on loopback with Flask's own server, as its tutorial does."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--side", type=int, required=True)
    parser.add_argument("--port", type=int, required=True)
    wishes = parser.parse_args()
    create_plain_app(wishes.model, wishes.side).run(port=wishes.port, threaded=True)


if __name__ == "__main__":
    main()
