"""Play many people at once against the service: ``python -m tools.loadtest``.

Starts the service as scripts/serve does, on a free port of this machine, or takes one that runs here (--url), and plays
people who send photos like those of phones, made from the page's samples, 15 % of them seen before:

    clients    1, 2, 4, ... people who each send the next photo once the last is answered
    overload   people who come by chance, ten times as many as can be served
    hits       the same photo again and again

Prints what they saw and how it compares with what is asked of the service; exit code 1 where that does not hold. With
--against plain the same is played against the service without what is there for many at once, side by side. The client
takes a part of the processor itself: on a machine of its own, or with a few cores more, the service does better.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from tools.command import FAILED, run_command, whole_file, whole_number
from tools.load.gallery import MIXES
from tools.load.stages import Album, Crowd, Stages
from tools.load.summary import Summary
from tools.load.target import SERVICES, Target, running, started
from tools.load.traffic import REPEATS
from tools.load.verdict import Verdict, of_clients, of_hits, of_overload

CLIENTS: Final = (1, 2, 4, 8, 16, 64)
SECONDS: Final = 15.0
TIMES_CAPACITY: Final = 10.0
HITS: Final = 100
STAGES: Final = ("clients", "overload", "hits")
WARM_UP: Final = (2, 24)
"""Clients and requests before anything is counted; also tells how many requests fill a stage."""

_COLUMNS: Final = (
    *("stage", "pictures/s", "p50 ms", "p95 ms", "p99 ms", "pictures", "hits", "refused", "p50 ms", "failed", "MiB"),
)


@dataclass
class Run:
    """What one service did.

    requests: of each number of clients; 0 while it is not known. overloaded: the stage far above its capacity.
    verdicts: only for the service as it is.
    """

    service: str
    requests: int = 0
    clients: list[Summary] = field(default_factory=list)
    overloaded: Summary | None = None
    hits: Summary | None = None
    verdicts: list[Verdict] = field(default_factory=list)

    @property
    def stages(self) -> list[Summary]:
        """All of them, in order."""
        return [*self.clients, *(stage for stage in (self.overloaded, self.hits) if stage)]


def main(arguments: list[str] | None = None) -> int:
    """The command; its exit code."""
    options = _parser().parse_args(arguments)
    crowd = Crowd(MIXES[options.mix], options.repeats, options.seed)
    album = Album(crowd.kinds)
    runs: list[Run] = []
    for name, target in _targets(options):
        # The same work for each: the first decides how much.
        run = Run(name, requests=runs[0].requests if runs else 0)
        runs.append(_played(run, target, crowd, album, options))
    if options.json:
        with whole_file(options.json) as part:
            part.write_text(json.dumps([asdict(run) for run in runs], indent=2) + "\n", encoding="utf-8")
    return 0 if all(verdict.holds for verdict in runs[0].verdicts) else FAILED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tools.loadtest", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    count, numbers = whole_number(1), " ".join(map(str, CLIENTS))
    parser.add_argument("stages", nargs="*", metavar="STAGE", help=f"some of {', '.join(STAGES)} (default: all)")
    parser.add_argument("--url", help="a service that runs on this machine, instead of one started for the purpose")
    parser.add_argument(
        "--against", choices=[name for name in SERVICES if name != "as it is"], help="side by side with"
    )
    parser.add_argument("--setting", action="append", default=[], metavar="NAME=VALUE", help="of the started service")
    parser.add_argument("--clients", type=count, nargs="+", default=CLIENTS, metavar="N", help=f"default: {numbers}")
    parser.add_argument(
        "--seconds",
        type=float,
        default=SECONDS,
        help="of each stage, about: requests that take so long, at least two a client (default: %(default)s)",
    )
    parser.add_argument(
        "--rate", type=float, help=f"people a second in overload (default: {TIMES_CAPACITY:g} x capacity)"
    )
    parser.add_argument("--mix", choices=MIXES, default="phones", help="sizes of the photos (default: %(default)s)")
    parser.add_argument(
        "--repeats", type=float, default=REPEATS, help="share of photos seen before (default: %(default)s)"
    )
    parser.add_argument("--seed", type=whole_number(0), default=1, help="of the traffic (default: %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures there")
    return parser


def _targets(options: argparse.Namespace) -> Iterator[tuple[str, Target]]:
    """Each service in turn, running while it is handed out."""
    if options.url:
        yield options.url, running(options.url)
        return
    given = dict(setting.split("=", 1) for setting in options.setting)
    for name in ("as it is", *([options.against] if options.against else [])):
        with started({**SERVICES[name], **given}) as target:
            yield name, target


def _played(run: Run, target: Target, crowd: Crowd, album: Album, options: argparse.Namespace) -> Run:
    print(f"\n{run.service}: {target.url}\n\n| {' | '.join(_COLUMNS)} |\n|{'---|' * len(_COLUMNS)}", flush=True)
    asyncio.run(_play(run, target, crowd, album, options))
    print()
    for verdict in run.verdicts:
        print(f"{'holds' if verdict.holds else 'FAILS'}: {verdict.asked}: {verdict.seen}", flush=True)
    return run


async def _play(run: Run, target: Target, crowd: Crowd, album: Album, options: argparse.Namespace) -> None:
    stages = options.stages or STAGES
    warm = await Stages(target, crowd, album).closed(*WARM_UP)
    play = Stages(target, crowd, album, played=1)
    if "clients" in stages:
        run.requests = run.requests or max(2 * max(options.clients), round(warm.rate * options.seconds))
        for clients in options.clients:
            run.clients.append(_told(await play.closed(clients, run.requests)))
        run.verdicts += of_clients(run.clients)
    if "overload" in stages:
        capacity = max((stage.rate for stage in run.clients), default=warm.rate)
        rate = options.rate or TIMES_CAPACITY * capacity
        run.overloaded = _told(await play.open(rate, options.seconds))
        run.verdicts += of_overload(run.overloaded, target.deadline)
    if "hits" in stages:
        run.hits = _told(await play.same(HITS))
        run.verdicts += of_hits(run.hits)


def _told(stage: Summary) -> Summary:
    """The same, printed as a row on the way."""
    failed = sum(stage.failures.values())
    cells: Sequence[object] = (
        *(stage.name, stage.rate, f"{stage.p50:.0f}", f"{stage.p95:.0f}", f"{stage.p99:.0f}", stage.pictures),
        *(stage.hits, stage.refused, f"{stage.refused_p50:.0f}", failed, " → ".join(f"{mib:.0f}" for mib in stage.mib)),
    )
    print(f"| {' | '.join(map(str, cells))} |", flush=True)
    return stage


if __name__ == "__main__":
    run_command(main)
