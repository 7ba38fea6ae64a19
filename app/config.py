"""Settings: one table of names, defaults and meanings, read once from ``ANIMEBOOTH_*`` environment variables."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, Final

PREFIX: Final = "ANIMEBOOTH_"
PROJECT_ROOT: Final = Path(__file__).resolve().parent.parent


class SettingError(ValueError):
    """A variable holds a value that its setting cannot take; the message names both."""


def _setting(default: object, help: str, *, secret: bool = False, check: Callable[[Any], bool] | None = None) -> Any:
    return field(default=default, metadata={"help": help, "secret": secret, "check": check})


def _positive(number: float) -> bool:
    return number > 0


def _not_negative(number: float) -> bool:
    return number >= 0


@dataclass(frozen=True, slots=True)
class Settings:
    """Every setting of the service. Each field is read from ``ANIMEBOOTH_`` plus its name in capitals."""

    models_dir: Path = _setting(PROJECT_ROOT / "models", "Folder with models.toml and the weight files.")
    style: str = _setting("cute", "Style used when a request names none.")
    variant: str = _setting(
        "fp32",
        "Weights used where a style has them, verified: fp32, fp16 or int8; or small, a smaller network. Styles without"
        " that one use their first.",
        check=lambda name: name in ("fp32", "fp16", "int8", "small"),
    )
    slow_seconds: float = _setting(
        1.0,
        "A machine whose start shows that a network would take longer than so many seconds for a picture of 768 x 576"
        " draws with the smaller network of each style that has one; 0 = never.",
        check=_not_negative,
    )
    size: int = _setting(
        768,
        "Longest side of the answer in pixels when a request names none (64 to 4096).",
        check=lambda side: 64 <= side <= 4096,
    )
    provider: str = _setting(
        "cpu",
        "ONNX Runtime execution provider: cpu, openvino, cuda, xnnpack or coreml. One that the installed"
        " ONNX Runtime lacks ends the start with a sentence.",
        check=lambda name: name in ("cpu", "openvino", "cuda", "xnnpack", "coreml"),
    )
    threads: int = _setting(
        0, "Threads of one network run; 0 = as many as the process may really use.", check=_not_negative
    )
    concurrency: int = _setting(
        0,
        "Most network runs at the same time, each with its share of the threads; a lone one has them all. 0 = the"
        " measured best.",
        check=_not_negative,
    )
    batch: int = _setting(
        1,
        "Most pictures of the same style and shape in one network run (1 to 64). 1 is best on processors; graphics"
        " cards want more.",
        check=lambda pictures: 1 <= pictures <= 64,
    )
    batch_wait_ms: int = _setting(
        0,
        "Milliseconds (0 to 200) that a run waits for more pictures of its kind while its batch is not full; 0 takes"
        " those that wait already.",
        check=lambda wait: 0 <= wait <= 200,
    )
    shape_step: int = _setting(
        1,
        "Sides are padded to a multiple of so many pixels (1 to 256) before a network, besides its own: fewer shapes,"
        " for providers that prepare for each.",
        check=lambda step: 1 <= step <= 256,
    )
    memory_mib: int = _setting(
        0,
        "MiB of memory that the process may take (512 or more): only as many pictures are drawn at once as fit. 0 = its"
        " control group's limit, or three quarters of the machine's.",
        check=lambda mebibytes: mebibytes == 0 or mebibytes >= 512,
    )
    max_upload_mib: int = _setting(16, "Largest upload in MiB.", check=_positive)
    max_megapixels: int = _setting(50, "Most megapixels (width x height) of an upload.", check=_positive)
    max_side: int = _setting(20_000, "Longest side of an upload in pixels.", check=_positive)
    max_requests: int = _setting(64, "Most requests inside at once; above that the answer is 503.", check=_positive)
    deadline: float = _setting(60.0, "Seconds one request may take, waiting included.", check=_positive)
    cache_mib: int = _setting(
        64,
        "MiB of memory for answers that may be asked for again; 0 = nothing is remembered at all.",
        check=_not_negative,
    )
    cache_drawings_mib: int = _setting(
        32,
        "MiB of memory for pictures that are drawn, so that another strength or format of them costs no network;"
        " 0 = none.",
        check=_not_negative,
    )
    cache_seconds: int = _setting(
        600, "Seconds after which what is remembered is forgotten, asked for or not.", check=_positive
    )
    cache_redis: str = _setting(
        "", "Redis in which several machines share their answers: redis://HOST:PORT; empty = none.", secret=True
    )
    rate_limit: str = _setting(
        "120 per minute",
        "Pictures one client address may convert, in Flask-Limiter's notation; empty = no limit. Loopback is exempt.",
    )
    rate_limit_storage: str = _setting("memory://", "Where the rate limit counts: memory:// or redis://HOST:PORT.")
    api_key: str = _setting(
        "", "Key that POST /convert asks for, and /metrics and /status from other machines; empty = none.", secret=True
    )
    trusted_proxies: int = _setting(
        0, "Reverse proxies in front whose X-Forwarded-* headers are believed; 0 = none.", check=_not_negative
    )

    log_format: str = _setting(
        "text",
        "text: what a person reads; json: one object a line, and one line a request. Neither names anybody.",
        check=lambda name: name in ("text", "json"),
    )
    traces: str = _setting(
        "",
        "OTLP collector that OpenTelemetry traces are sent to, like http://collector:4318/v1/traces; empty = none are"
        " made. Needs the packages of requirements-traces.txt.",
    )

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] | None = None) -> Settings:
        """Read every ``ANIMEBOOTH_*`` variable of ``environment`` (default: the process's own).

        Raises SettingError for a value that does not fit, and for an ``ANIMEBOOTH_*`` name that is no setting.
        """
        environment = os.environ if environment is None else environment
        names = {PREFIX + item.name.upper(): item for item in fields(cls)}
        given = {name: value for name, value in environment.items() if name.startswith(PREFIX)}
        unknown = sorted(given.keys() - names.keys())
        if unknown:
            raise SettingError(f"{unknown[0]} is no setting. Settings: {', '.join(sorted(names))}.")
        values: dict[str, Any] = {names[name].name: _parse(name, value, names[name]) for name, value in given.items()}
        return cls(**values)


def _parse(name: str, text: str, item: Any) -> object:
    kind = type(item.default)
    kind = Path if isinstance(item.default, Path) else kind
    try:
        value = kind(text)
    except ValueError:
        raise SettingError(f"{name} cannot be {text!r}: it wants {kind.__name__}.") from None
    check = item.metadata["check"]
    if check is not None and not check(value):
        raise SettingError(f"{name} cannot be {text!r}. {item.metadata['help']}")
    return value
