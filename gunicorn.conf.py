"""How gunicorn serves AnimeBooth. Why: docs/decisions/0004-serving.md."""

import os
import sys
from ipaddress import ip_address
from pathlib import Path

from app.config import SettingError, Settings
from app.serving.start import start_engine
from app.telemetry.shared import Shared, offer_folder

try:
    _settings = Settings.from_environment()
    _port = int(os.environ.get("PORT") or 8000)
except SettingError as error:
    sys.exit(f"AnimeBooth cannot start: {error}")
except ValueError:
    sys.exit(f"AnimeBooth cannot start: PORT cannot be {os.environ['PORT']!r}: it wants a number.")

bind = f"0.0.0.0:{_port}"
# One process: the networks' threads already use every processor, and a second process would load them again.
workers = 1
worker_class = "app.serving.worker.Worker"
# One for each upload inside: who waits for a turn costs a sleeping thread. The queue is the application's own, which
# knows what each will take. Threads are made when they are needed.
threads = _settings.max_requests
# Idle and waiting clients cost no thread; above this number new ones wait in the kernel's queue.
worker_connections = 512
# Not 0, so that connections are kept; for how long is in app/serving/patience.py.
keepalive = 1
# Seconds without a sign of life from the worker's poller (not: seconds a request may take) before it is replaced.
timeout = 120
graceful_timeout = 30
# The sign of life is an unnamed file whose time is set each second: on a disk that stalls, healthy workers are killed.
_shared_memory = Path("/dev/shm")  # noqa: S108
worker_tmp_dir = str(_shared_memory) if os.access(_shared_memory, os.W_OK) else None
# Where the workers keep what /metrics tells, so that each can tell it of all. Made before anything is counted.
_counts = Shared(offer_folder(worker_tmp_dir))
# The engine is built in the process that serves: its threads would not survive a fork.
preload_app = False
# A proxy's word is taken in one place, by ANIMEBOOTH_TRUSTED_PROXIES; gunicorn itself would believe this machine.
forwarded_allow_ips = ""
# An access log would be a list of who sent pictures and when.
accesslog = None
if _settings.log_format == "json":
    logger_class = "app.serving.log.JsonLogger"
control_socket_disable = True
chdir = str(Path(__file__).resolve().parent)


def when_ready(server):
    """The port is open: say where."""
    server.log.info("AnimeBooth: open %s", " or ".join(_addresses(server.LISTENERS)))


def post_worker_init(worker):
    """In each worker's own process, before its first request."""
    start_engine(worker, max_requests=_settings.max_requests)


def child_exit(server, worker):
    """In the master, when a worker has ended, however it did."""
    _counts.bury(worker.pid)


def _addresses(listeners):
    for listener in listeners:
        host, port = listener.sock.getsockname()[:2]
        yield f"http://{'localhost' if ip_address(host).is_unspecified else host}:{port}"
