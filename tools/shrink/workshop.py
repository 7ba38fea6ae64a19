"""One network through the whole workshop: each kind of file made, judged, timed, and only then put in its place."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from onnx import ModelProto

from app.errors import ModelError
from tools.judge.bars import BAR_SETS, Bar
from tools.shrink.dynamic import write_dynamic
from tools.shrink.eight_bits import EightBits
from tools.shrink.files import read_full_precision, write_model
from tools.shrink.graph import count_operators, with_names
from tools.shrink.half import half, half_weights, kept_full, rounded
from tools.shrink.ort_format import write_ort
from tools.shrink.panel import Panel, Verdict
from tools.shrink.ranges import tensor_ranges
from tools.shrink.results import Outcome, Refused, Result
from tools.shrink.simplify import SAME, largest_difference, simplified

SUFFIXES: Final[Mapping[str, str]] = {
    "simplified": "_simplified.onnx",
    "fp16-weights": "_fp16_weights.onnx",
    "fp16": "_fp16.onnx",
    "int8": "_int8.onnx",
    "dynamic": "_dynamic.onnx",
    "ort": ".ort",
    "ort-here": "_here.ort",
    "int8-ort": "_int8.ort",
}
"""What can be made, in the order it is made, and what the name of its file ends in."""

USUAL: Final = ("simplified", "fp16-weights", "fp16", "int8", "ort")

COMPARED_ONLY: Final = frozenset({"dynamic"})
"""Kinds that are made to be compared, whatever they lose."""

_RANGE_PHOTOS: Final = 2


class Workshop:
    """panel: holds the FP32 file, and judges. eight_bits: makes INT8. stem: what names of files begin with.

    int8_bars: for the kinds in 8 bit. rounds: timed runs of each file. tell: takes a line on what goes on.
    """

    def __init__(
        self,
        panel: Panel,
        eight_bits: EightBits,
        *,
        stem: str,
        int8_bars: Sequence[Bar],
        rounds: int,
        tell: Callable[[str], None],
        simplify: Callable[[ModelProto], ModelProto] = simplified,
    ) -> None:
        self._panel = panel
        self._eight_bits = eight_bits
        self._stem = stem
        self._rounds = rounds
        self._tell = tell
        self._simplify = simplify
        self._bars = dict.fromkeys(("simplified", "ort", "ort-here"), BAR_SETS["equal"])
        self._bars |= dict.fromkeys(("fp16-weights", "fp16"), BAR_SETS["fp16"])
        self._bars |= {kind: tuple(int8_bars) for kind in ("int8", "int8-ort", "dynamic")}

    def run(self, kinds: Sequence[str], folder: Path) -> Outcome:
        """Make ``kinds`` in ``folder``. What misses its bars is refused and leaves no file."""
        outcome = Outcome()
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder, prefix=".part-") as part:
            bench = _Bench(Path(part), self._stem, self._panel, self._eight_bits, self._simplify)
            if bench.why_not_simplified:
                self._tell(f"not simplified: {bench.why_not_simplified}")
            made = self._make_all(bench, [kind for kind in SUFFIXES if kind in kinds], outcome)
            times = self._panel.times([bench.path(kind) for kind in made], self._rounds) if made else []
            for (kind, (verdict, note)), spent in zip(made.items(), times, strict=True):
                path = bench.path(kind).replace(folder / bench.path(kind).name)
                outcome.results.append(Result(kind, path, verdict, spent.ratio, note))
        return outcome

    def _make_all(self, bench: _Bench, kinds: Sequence[str], outcome: Outcome) -> dict[str, tuple[Verdict, str]]:
        made = {}
        for kind in kinds:
            name = bench.path(kind).name
            self._tell(f"{name} ...")
            try:
                note = bench.make(kind, self._bars[kind])
                made[kind] = (self._judged(kind, bench.path(kind)), note)
            except (Refused, ModelError) as error:
                outcome.refused[name] = str(error).rstrip(".")
                # Nothing else must be made of it.
                bench.path(kind).unlink(missing_ok=True)
        return made

    def _judged(self, kind: str, path: Path) -> Verdict:
        verdict = self._panel.judge(path, self._bars[kind])
        if not verdict.passed and kind not in COMPARED_ONLY:
            raise Refused(f"it loses too much: {verdict.faults}")
        return verdict


class _Bench:
    """Where files are while they are made. Each maker returns a note for people, or raises Refused."""

    def __init__(
        self,
        folder: Path,
        stem: str,
        panel: Panel,
        eight_bits: EightBits,
        simplify: Callable[[ModelProto], ModelProto],
    ) -> None:
        self._folder = folder
        self._stem = stem
        self._panel = panel
        self._eight_bits = eight_bits
        self._original = read_full_precision(panel.reference)
        self.why_not_simplified = ""
        self._base = with_names(self._simplify(simplify))
        self._base_path = folder / "base.onnx"
        write_model(self._base, self._base_path)

    def path(self, kind: str) -> Path:
        """Where the file of ``kind`` is made, under the name it will have."""
        return self._folder / f"{self._stem}{SUFFIXES[kind]}"

    def make(self, kind: str, bars: Sequence[Bar]) -> str:
        """Write the file of ``kind``; a note on it."""
        makers: Mapping[str, Callable[[Path], str]] = {
            "simplified": self._simplified,
            "fp16-weights": self._fp16_weights,
            "fp16": lambda path: self._fp16(path, bars),
            "int8": self._int8,
            "dynamic": self._dynamic,
            "ort": lambda path: self._ort(self._base_path, path, portable=True),
            "ort-here": lambda path: self._ort(self._base_path, path, portable=False),
            "int8-ort": self._int8_ort,
        }
        return makers[kind](self.path(kind))

    def _simplify(self, simplify: Callable[[ModelProto], ModelProto]) -> ModelProto:
        """The simplified network where it is proved the same, else the original."""
        trial = self._folder / "trial.onnx"
        try:
            smaller = simplify(self._original)
            write_model(smaller, trial)
        except ValueError as error:
            self.why_not_simplified = str(error)
            return self._original
        panel = self._panel
        gap = largest_difference(panel.reference, trial, panel.card, panel.proofs, panel.threads)
        # Written so that NaN fails.
        if not gap <= SAME:
            self.why_not_simplified = f"the answers differ by {gap:.1e}, and at most {SAME:.0e} is allowed"
            return self._original
        return smaller

    def _simplified(self, path: Path) -> str:
        if self.why_not_simplified:
            raise Refused(f"{self.why_not_simplified}; the original is kept for everything else")
        write_model(self._base, path)
        return f"{count_operators(self._original)} nodes, now {count_operators(self._base)}"

    def _fp16_weights(self, path: Path) -> str:
        write_model(half_weights(self._base), path)
        return ""

    def _fp16(self, path: Path, bars: Sequence[Bar]) -> str:
        ranges = tensor_ranges(self._base, self._panel.card.input_name, self._panel.tensors[:_RANGE_PHOTOS])
        kept = kept_full(self._base, ranges)
        twin = self._folder / "twin.onnx"
        write_model(rounded(self._base, kept), twin)
        verdict = self._panel.judge(twin, bars)
        if not verdict.passed:
            raise Refused(f"where numbers really have half precision it loses too much: {verdict.faults}")
        write_model(half(self._base, kept), path)
        stay = f"; {len(kept)} of {count_operators(self._base)} nodes stay FP32" if kept else ""
        return f"for chips that reckon in half precision{stay}"

    def _int8(self, path: Path) -> str:
        return self._eight_bits.write(self._base, path)

    def _dynamic(self, path: Path) -> str:
        write_dynamic(self._base, path)
        return "for comparison only"

    def _ort(self, source: Path, path: Path, *, portable: bool) -> str:
        write_ort(source, path, portable=portable)
        return "" if portable else "for processors like this one only"

    def _int8_ort(self, path: Path) -> str:
        if not self.path("int8").exists():
            raise Refused("there is no INT8 file to make it from")
        return self._ort(self.path("int8"), path, portable=True)
