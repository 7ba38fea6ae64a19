# AnimeBooth for amd64 and arm64; no step depends on the architecture. More: docs/docker.md.

FROM python:3.13-slim-bookworm AS packages

# requirements-traces.txt adds what ANIMEBOOTH_TRACES needs.
ARG REQUIREMENTS=requirements.txt
COPY requirements.txt requirements-traces.txt /
# Wheels only: a package without one for this machine fails here, in words, instead of after an hour of compiling.
RUN python -m venv /venv \
    && /venv/bin/python -m pip install --no-cache-dir --disable-pip-version-check --only-binary=:all: \
        --requirement "/${REQUIREMENTS}"


FROM python:3.13-slim-bookworm

# What OpenCV's and MediaPipe's wheels load from the system. Not pinned: rebuilding brings their security fixes.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends libegl1 libgl1 libgles2 libglib2.0-0 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin animebooth

WORKDIR /srv/animebooth
COPY --from=packages /venv /venv
COPY LICENSE gunicorn.conf.py wsgi.py ./
COPY models models
COPY static static
COPY templates templates
COPY app app

# Compiled once here, for the user below may write nowhere.
RUN /venv/bin/python -m compileall -q app wsgi.py gunicorn.conf.py
ENV PATH=/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    PORT=8000

USER 10001:10001
EXPOSE 8000

# Python, since the image has no curl. Ready means: it can convert.
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 CMD ["python", "-c", \
    "import os, urllib.request as r; r.urlopen(f'http://127.0.0.1:{os.environ[\"PORT\"]}/readyz', timeout=4)"]

CMD ["gunicorn", "--config", "gunicorn.conf.py", "wsgi:app"]
