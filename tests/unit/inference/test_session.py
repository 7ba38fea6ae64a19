"""What ONNX Runtime is given, and what it says no to. Networks come from the built-in files and from onnx.helper."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

from app.config import PROJECT_ROOT
from app.errors import ModelError
from app.inference.card import ModelCard
from app.inference.registry import ModelRegistry, Style
from app.inference.session import PROVIDERS, OrtSession, session_options
from app.types import Tensor

BUILT_IN = Path(__file__).parents[3] / "models"

REGISTRY = ModelRegistry.load(BUILT_IN, with_added=False)

HAYAO = REGISTRY.styles["hayao"]


def photo(height: int, width: int, seed: int = 0) -> Tensor:
    return np.random.default_rng(seed).uniform(-1, 1, (1, 3, height, width)).astype(np.float32)


def network(
    path: Path,
    shape: Sequence[int | str] = ("n", 3, "h", "w"),
    *,
    kind: int = TensorProto.FLOAT,
    operator: str = "Identity",
    domain: str = "",
) -> Path:
    """A network of one node from ``input`` to ``output``, both of ``shape`` and ``kind``."""
    ends = [helper.make_tensor_value_info(name, kind, shape) for name in ("input", "output")]
    node = helper.make_node(operator, ["input"], ["output"], domain=domain)
    opsets = [helper.make_opsetid("", 17), *([helper.make_opsetid(domain, 1)] if domain else [])]
    graph = helper.make_graph([node], "test", ends[:1], ends[1:])
    path.write_bytes(helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString())
    return path


def told_by(script: str) -> list[float]:
    """The numbers that ``script`` prints, in a process of its own which gives back what it frees as the service does.

    In this one, what other tests have left would be taken first.
    """
    done = subprocess.run([sys.executable, "-c", script], cwd=PROJECT_ROOT, check=True, capture_output=True, text=True)
    return [float(number) for number in done.stdout.split()]


KEEPING = """
from tests.unit.inference.test_session import HAYAO, photo
from app.inference.memory import resident_memory
from app.inference.session import OrtSession
from app.serving.allocator import settle_allocator

settle_allocator()
session, picture = OrtSession(HAYAO.path, HAYAO.card, threads=2), photo(768, 768)
# What the very first run takes is kept for good.
session.run(photo(64, 64))
before = resident_memory()
expected = session.run(picture)
kept = resident_memory() - before
session.release()
left = resident_memory() - before
print(kept, left, int((session.run(picture) == expected).all()))
"""


def test_memory_kept_between_runs_is_given_back_when_asked_for() -> None:
    kept, left, same = told_by(KEEPING)
    assert kept > 768 * 768 * 60
    assert left < kept / 2
    assert same


SHARING = """
from tests.unit.inference.test_session import HAYAO, REGISTRY, photo
from app.inference import appetite
from app.inference.memory import resident_memory
from app.inference.session import OrtSession
from app.serving.allocator import settle_allocator

settle_allocator()
appetite.LEAST_RUN_BYTES = 0
before, sessions, appetites, grown = resident_memory(), [], [], []
for style in ("hayao", "shinkai", "ink"):
    sessions.append(OrtSession(REGISTRY.styles[style].path, HAYAO.card, threads=1))
    sessions[-1].release()
    appetites.append(appetite.run_bytes(sessions[-1], HAYAO.card))
    sessions[-1].run(photo(768, 768))
    grown.append(resident_memory() - before)
print(*appetites, *grown)
"""


def test_what_one_network_s_run_has_left_the_next_one_takes_and_yet_each_one_s_appetite_is_found_out() -> None:
    first, second, third, *grown = told_by(SHARING)
    # Small blocks, which the C library keeps, hide a part of it; what others have left would hide all.
    assert 0.3 * first < min(second, third) <= max(second, third) < 1.5 * first
    assert grown[2] < 1.5 * grown[0]


class TestRunning:
    @pytest.fixture(scope="class")
    @staticmethod
    def session() -> OrtSession:
        return OrtSession(HAYAO.path, HAYAO.card, threads=2)

    @pytest.mark.parametrize("size", [(8, 8), (64, 40), (40, 64)])
    def test_any_multiple_of_8_goes_through(self, session: OrtSession, size: tuple[int, int]) -> None:
        output = session.run(photo(*size))
        assert output.shape == (1, 3, *size)
        assert output.dtype == np.float32
        assert np.isfinite(output).all()

    def test_equal_pictures_from_8_threads_give_equal_bytes(self, session: OrtSession) -> None:
        picture = photo(96, 64)
        alone = session.run(picture).tobytes()
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: session.run(picture).tobytes(), range(40)))
        assert set(answers) == {alone}

    def test_different_pictures_from_8_threads_do_not_mix(self, session: OrtSession) -> None:
        pictures = [photo(32 + 8 * (seed % 4), 64, seed) for seed in range(8)]
        alone = [session.run(picture) for picture in pictures]
        with ThreadPoolExecutor(8) as pool:
            together = list(pool.map(session.run, pictures * 4))
        assert all(np.array_equal(a, b) for a, b in zip(alone * 4, together, strict=True))

    def test_the_number_of_threads_does_not_change_the_picture(self, session: OrtSession) -> None:
        picture = photo(64, 64)
        one = OrtSession(HAYAO.path, HAYAO.card, threads=1)
        assert np.abs(one.run(picture) - session.run(picture)).max() < 1e-5

    @pytest.mark.parametrize("style", REGISTRY.styles.values(), ids=REGISTRY.styles.keys())
    @pytest.mark.parametrize(("variant", "tolerance"), [("fp16", 0.5 / 127.5), ("int8", 12 / 127.5)])
    def test_smaller_weights_draw_the_same_picture(self, style: Style, variant: str, tolerance: float) -> None:
        """Mean error against FP32, of a range of 2; noise is the hardest picture for INT8."""
        if variant not in style.card.variants:
            pytest.skip(f"{style.card.id} has no {variant}")
        picture = photo(64, 64)
        path = BUILT_IN / style.card.variants[variant].file
        full, small = (OrtSession(path, style.card, threads=1).run(picture) for path in (style.path, path))
        error = np.abs(full - small)
        assert error.mean() <= tolerance, f"mean {error.mean() * 127.5:.2f}, worst {error.max() * 127.5:.1f} of 255"
        assert error.max() > 0


class TestOptions:
    def test_threads_are_as_given_and_do_not_spin(self) -> None:
        options = session_options(3)
        assert (options.intra_op_num_threads, options.inter_op_num_threads) == (3, 1)
        assert options.get_session_config_entry("session.intra_op.allow_spinning") == "0"

    def test_everything_is_optimised_and_runs_in_order(self) -> None:
        options = session_options(1)
        assert options.graph_optimization_level == onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        assert options.execution_mode == onnxruntime.ExecutionMode.ORT_SEQUENTIAL

    def test_memory_is_not_kept_by_shape(self) -> None:
        options = session_options(1)
        assert not options.enable_mem_pattern
        assert options.get_session_config_entry("mlas.disable_kleidiai") == "1"

    def test_xnnpack_brings_its_own_threads(self) -> None:
        assert session_options(4, "xnnpack").intra_op_num_threads == 1


class TestProviders:
    def test_one_that_this_onnxruntime_lacks_is_refused_in_words(self) -> None:
        lacking = next(name for name, long in PROVIDERS.items() if long not in onnxruntime.get_available_providers())
        with pytest.raises(ModelError, match=rf"This ONNX Runtime has no provider {lacking}\. It has: .*cpu"):
            OrtSession(HAYAO.path, HAYAO.card, threads=1, provider=lacking)

    def test_one_that_nobody_knows_is_refused_in_words(self) -> None:
        with pytest.raises(ModelError, match="has no provider tpu"):
            OrtSession(HAYAO.path, HAYAO.card, threads=1, provider="tpu")


class TestFilesThatDoNotLoad:
    def test_an_ir_version_too_new_is_told_with_both_versions(self, tmp_path: Path) -> None:
        model = onnx.load(HAYAO.path)
        model.ir_version = 99
        path = tmp_path / "new.onnx"
        path.write_bytes(model.SerializeToString())
        with pytest.raises(ModelError, match=r"Style hayao: new\.onnx has ONNX IR version 99 .* reads up to \d+"):
            OrtSession(path, HAYAO.card, threads=1)

    @pytest.mark.parametrize(
        "content",
        [b"", b"version https://git-lfs.github.com/spec/v1\noid sha256:8869\n", b"not a network", b"\x08\x08"],
        ids=["zero bytes", "Git LFS pointer", "text", "header alone"],
    )
    def test_what_is_no_network_is_told_in_words(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "broken.onnx"
        path.write_bytes(content)
        with pytest.raises(ModelError, match=r"Style hayao: .*broken\.onnx"):
            OrtSession(path, HAYAO.card, threads=1)

    def test_a_network_cut_short_is_told_in_words(self, tmp_path: Path) -> None:
        path = tmp_path / "cut.onnx"
        path.write_bytes(HAYAO.path.read_bytes()[:100_000])
        with pytest.raises(ModelError, match=r"cannot load cut\.onnx: it is damaged"):
            OrtSession(path, HAYAO.card, threads=1)

    def test_a_missing_file_is_told_in_words(self, tmp_path: Path) -> None:
        with pytest.raises(ModelError, match=r"cannot load none\.onnx"):
            OrtSession(tmp_path / "none.onnx", HAYAO.card, threads=1)

    def test_an_unknown_operator_is_told_in_words(self, tmp_path: Path) -> None:
        path = network(tmp_path / "own.onnx", operator="Mine", domain="mine")
        with pytest.raises(ModelError, match="uses operators that this version lacks"):
            OrtSession(path, HAYAO.card, threads=1)

    def test_nothing_is_printed_and_no_path_is_told(self, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
        path = tmp_path / "broken.onnx"
        path.write_bytes(b"not a network")
        with pytest.raises(ModelError) as caught:
            OrtSession(path, HAYAO.card, threads=1)
        assert capfd.readouterr() == ("", "")
        assert str(tmp_path) not in str(caught.value)


class TestACardThatDoesNotFit:
    @pytest.mark.parametrize(
        ("changes", "sentence"),
        [
            ({"input_name": "x"}, r"the network has no input called x\. It has: input\."),
            ({"output_name": "y"}, r"the network has no output called y\. It has: output\."),
            ({"layout": "NHWC"}, r"input input has \w+ channels where NHWC puts 3"),
        ],
    )
    def test_is_told_in_words(self, tmp_path: Path, changes: dict[str, str], sentence: str) -> None:
        path = network(tmp_path / "network.onnx", (1, 3, 64, 64))
        card: ModelCard = replace(HAYAO.card, **changes)
        with pytest.raises(ModelError, match=sentence):
            OrtSession(path, card, threads=1)

    @pytest.mark.parametrize(
        ("shape", "kind", "sentence"),
        [
            (("n", 3, "h", "w"), TensorProto.FLOAT16, r"is tensor\(float16\), where tensor\(float\) is needed"),
            (("n", 3, "h", "w"), TensorProto.UINT8, r"is tensor\(uint8\), where tensor\(float\) is needed"),
            ((3, "h", "w"), TensorProto.FLOAT, "has 3 axes, and NCHW has 4"),
            (("n", 4, "h", "w"), TensorProto.FLOAT, "has 4 channels where NCHW puts 3"),
        ],
    )
    def test_so_is_a_network_of_another_shape_or_type(
        self, tmp_path: Path, shape: tuple[int | str, ...], kind: int, sentence: str
    ) -> None:
        with pytest.raises(ModelError, match=sentence):
            OrtSession(network(tmp_path / "network.onnx", shape, kind=kind), HAYAO.card, threads=1)

    def test_an_open_number_of_channels_is_taken(self, tmp_path: Path) -> None:
        session = OrtSession(network(tmp_path / "open.onnx", ("n", "c", "h", "w")), HAYAO.card, threads=1)
        assert np.array_equal(session.run(photo(8, 8)), photo(8, 8))
