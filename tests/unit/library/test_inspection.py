"""What a look at a network must bring to light: a table for the real ones, and for made ones each thing alone."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto

from app.config import PROJECT_ROOT
from app.errors import ModelError
from app.library.adding import sample_photos
from app.library.inspection import Needs, Wishes, inspect_network
from app.types import RgbImage
from tests.unit.library import networks
from tests.unit.library.networks import as_ort

MODELS = PROJECT_ROOT / "models"
REFERENCE = PROJECT_ROOT.parent / "shared" / "models" / "reference"
"""The full AnimeGANv3 files, which are not part of the project: where they are missing, their rows are skipped."""

SIGNED = (-1.0, 1.0)


@dataclass(frozen=True)
class Found:
    """A row: what must be found."""

    layout: str
    multiple_of: int
    minimum: int
    fixed: tuple[int, int] | None
    local: bool
    halo: int
    ends: str = ""


LITE2 = Found("NCHW", 8, 8, None, local=True, halo=144)

TABLE: dict[str, tuple[Path, Found]] = {
    **{
        f"lite_{name}": (MODELS / f"lite_{name}.onnx", LITE2)
        for name in ("hayao", "shinkai", "cute", "ink", "hayao_fp16", "hayao_int8", "cute_int8")
    },
    "tiny_Cute": (REFERENCE / "AnimeGANv3_tiny_Cute.onnx", Found("NHWC", 16, 32, None, False, 48, "Tanh")),
    "Shinkai_37": (REFERENCE / "AnimeGANv3_Shinkai_37.onnx", Found("NHWC", 8, 16, None, False, 48, "Tanh")),
    "Hayao_36": (REFERENCE / "AnimeGANv3_Hayao_36.onnx", Found("NHWC", 8, 512, (512, 512), False, 48, "Tanh")),
}


@cache
def photos() -> tuple[RgbImage, ...]:
    return tuple(sample_photos(PROJECT_ROOT / "static"))


def inspect(path: Path, **wishes: object) -> Needs:
    return inspect_network(path, photos(), threads=2, wishes=Wishes(**wishes))  # type: ignore[arg-type]


def why(needs: Needs, what: str) -> str:
    return next(finding.why for finding in needs.findings if finding.what == what)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name == "Hayao_36" else ()) for name in TABLE]
)
def test_a_real_network_is_seen_through(name: str) -> None:
    path, found = TABLE[name]
    if not path.exists():
        pytest.skip(f"{path.name} is not on this machine")
    needs = inspect(path)
    assert (needs.layout, needs.channel_order) == (found.layout, "RGB")
    assert (needs.input_range, needs.output_range) == (SIGNED, SIGNED)
    assert (needs.sizes.multiple_of, needs.sizes.minimum, needs.sizes.fixed) == (
        found.multiple_of,
        found.minimum,
        found.fixed,
    )
    assert (needs.local, needs.halo) == (found.local, found.halo)
    assert found.ends in why(needs, "output range")
    assert ("GlobalAveragePool" in why(needs, "local")) is not found.local


def test_an_ort_file_is_seen_through_without_its_graph(tmp_path: Path) -> None:
    as_ort(networks.HAYAO, tmp_path / "network.ort")
    needs = inspect(tmp_path / "network.ort")
    assert (needs.layout, needs.input_range, needs.output_range) == ("NCHW", SIGNED, SIGNED)
    assert (needs.sizes.multiple_of, needs.local, needs.halo) == (8, True, 144)


class TestLayout:
    @pytest.mark.parametrize(
        ("shape", "layout"),
        [
            ((1, 3, "h", "w"), "NCHW"),
            ((1, "h", "w", 3), "NHWC"),
            (("n", 3, 256, 256), "NCHW"),
            (("n", 256, 256, 3), "NHWC"),
        ],
    )
    def test_is_told_by_the_axis_of_3(self, tmp_path: Path, shape: networks.Shape, layout: str) -> None:
        assert inspect(networks.identity(tmp_path / "a.onnx", shape)).layout == layout

    def test_is_told_by_running_where_no_axis_is_known(self, tmp_path: Path) -> None:
        free = ("n", "a", "b", "c")
        assert inspect(networks.looking(tmp_path / "a.onnx", 1, shape=free)).layout == "NCHW"
        assert inspect(nhwc_of_free_axes(tmp_path / "b.onnx")).layout == "NHWC"

    def test_the_output_that_is_a_picture_is_picked(self, tmp_path: Path) -> None:
        assert inspect(networks.with_a_mask(tmp_path / "a.onnx")).output_name == "picture"


def nhwc_of_free_axes(path: Path) -> Path:
    """A matrix product over the last axis runs with three channels there, and with nothing else."""
    weights = [networks.constant("w", [[1, 0, 0], [0, 1, 0], [0, 0, 1]])]
    return networks.save(path, [networks.node("MatMul", ("input", "w"))], shape=("n", "a", "b", "c"), weights=weights)


class TestSides:
    @pytest.mark.parametrize(("stride", "multiple"), [(4, 8), (8, 8), (16, 16), (32, 32), (64, 64)])
    def test_the_least_multiple_that_works_is_found(self, tmp_path: Path, stride: int, multiple: int) -> None:
        needs = inspect(networks.strided(tmp_path / "a.onnx", stride))
        assert needs.sizes.multiple_of == multiple
        assert needs.sizes.fixed is None

    def test_fixed_sides_are_read_from_the_shape(self, tmp_path: Path) -> None:
        needs = inspect(networks.identity(tmp_path / "a.onnx", (1, 3, 256, 384)))
        assert needs.sizes.fixed == (384, 256)

    def test_fixed_sides_that_the_shape_hides_are_found_by_running(self, tmp_path: Path) -> None:
        size = networks.constant("size", [1, 3, 256, 256], int)
        steps = [networks.node("Reshape", ("input", "size"))]
        needs = inspect(networks.save(tmp_path / "a.onnx", steps, weights=[size]))
        assert needs.sizes.fixed == (256, 256)
        assert "at no others tried" in why(needs, "sides")

    def test_tiny_fixed_sides_are_refused(self, tmp_path: Path) -> None:
        with pytest.raises(ModelError, match=r"a\.onnx cannot be a style: its sides are fixed at 64 x 64 px"):
            inspect(networks.identity(tmp_path / "a.onnx", (1, 3, 64, 64)))


class TestReach:
    @pytest.mark.parametrize(("far", "halo"), [(1, 16), (16, 16), (17, 32), (100, 112), (400, 400)])
    def test_the_halo_is_how_far_a_network_looks_rounded_up(self, tmp_path: Path, far: int, halo: int) -> None:
        needs = inspect(networks.looking(tmp_path / "a.onnx", far))
        assert (needs.local, needs.halo) == (True, halo)
        assert f"further than {far} px away" in why(needs, "local")

    def test_a_network_that_looks_at_a_pixel_alone_needs_no_halo(self, tmp_path: Path) -> None:
        needs = inspect(networks.identity(tmp_path / "a.onnx"))
        assert (needs.local, needs.halo) == (True, 0)

    def test_a_network_that_looks_too_far_for_a_tile_is_not_local(self, tmp_path: Path) -> None:
        needs = inspect(networks.looking(tmp_path / "a.onnx", 504))
        assert (needs.local, needs.halo) == (False, 48)

    def test_a_normalisation_over_the_picture_is_not_local(self, tmp_path: Path) -> None:
        needs = inspect(networks.normalised(tmp_path / "a.onnx"))
        assert (needs.local, needs.halo) == (False, 48)
        assert "1 InstanceNormalization" in why(needs, "local")
        assert "px away and further changed its answer by" in why(needs, "local")

    def test_a_look_at_the_whole_that_no_operator_gives_away_shows_by_perturbation(self, tmp_path: Path) -> None:
        needs = inspect(networks.levelled(tmp_path / "a.onnx"))
        assert not needs.local
        assert why(needs, "local").startswith("noise 448 px away and further changed its answer by")

    def test_an_operator_over_the_whole_is_believed_where_no_perturbation_shows_it(self, tmp_path: Path) -> None:
        """What it takes from the whole may be little for noise, and much for photos."""
        needs = inspect(networks.pooled_for_nothing(tmp_path / "a.onnx"))
        assert not needs.local
        assert why(needs, "local") == "the graph has 1 GlobalAveragePool; though noise 448 px away changed nothing"

    def test_the_halo_counts_from_the_worst_pixel_of_a_stride(self, tmp_path: Path) -> None:
        """A cell of 16 px looks 15 px far from its edge, and not at all over it."""
        needs = inspect(networks.strided(tmp_path / "a.onnx", 16))
        assert (needs.local, needs.halo) == (True, 16)
        assert "further than 15 px away" in why(needs, "local")

    def test_a_mean_over_the_channels_alone_is_local(self, tmp_path: Path) -> None:
        assert inspect(networks.channel_mean(tmp_path / "a.onnx")).local

    def test_tiles_must_begin_at_the_stride_also_where_any_side_runs(self, tmp_path: Path) -> None:
        needs = inspect(networks.strided(tmp_path / "a.onnx", 32, padded=True))
        assert needs.local
        assert needs.sizes.multiple_of == 32

    def test_fixed_sides_can_be_local_too(self, tmp_path: Path) -> None:
        needs = inspect(networks.looking(tmp_path / "a.onnx", 16, shape=(1, 3, 256, 256)))
        assert (needs.local, needs.halo) == (True, 16)


REFUSED = {
    "a classifier": (networks.classifier, r"its output output is 1 x 3, not a picture: it may classify or detect"),
    "one that enlarges": (networks.enlarging, r"is 256 x 128 px for a picture of 128 x 64 px: a style keeps the size"),
    "one that answers in grey": (networks.grey, r"has 1 channels where NCHW puts 3"),
    "one that turns the layout": (networks.turned, r"has 128 channels where NCHW puts 3"),
    "one of two inputs": (networks.two_inputs, r"it has 2 inputs \(input, style\); a style has one, a picture"),
    "one that ignores the photo": (networks.constant_grey, r"its answer is the same for every photo"),
    "float16": (lambda path: networks.identity(path, kind=TensorProto.FLOAT16), r"its input is float16: export it"),
    "bytes": (lambda path: networks.identity(path, kind=TensorProto.UINT8), r"its input is tensor\(uint8\); a style"),
    "three axes": (lambda path: networks.identity(path, (3, "h", "w")), r"its input has 3 axes \(3 x any x any\)"),
    "one channel": (lambda path: networks.identity(path, (1, 1, "h", "w")), r"is 1 x 1 x any x any; a colour picture"),
    "a batch of 4": (lambda path: networks.identity(path, (4, 3, "h", "w")), r"it takes 4 pictures at once"),
}


@pytest.mark.parametrize(("make", "sentence"), REFUSED.values(), ids=REFUSED.keys())
def test_what_draws_no_picture_of_a_picture_is_refused_with_the_reason(tmp_path: Path, make, sentence: str) -> None:
    with pytest.raises(ModelError, match=rf"^a\.onnx cannot be a style: .*{sentence}"):
        inspect(make(tmp_path / "a.onnx"))


@pytest.mark.parametrize("length", [3, 1000, 1_900_000])
def test_a_file_cut_short_is_refused(tmp_path: Path, length: int) -> None:
    path = tmp_path / "a.onnx"
    path.write_bytes(networks.HAYAO.read_bytes()[:length])
    with pytest.raises(ModelError, match=r"ONNX Runtime cannot load a\.onnx: it is damaged"):
        inspect(path)


def test_weights_in_a_second_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.onnx"
    onnx.save(onnx.load(networks.HAYAO), path, save_as_external_data=True, location="a.data", size_threshold=0)
    with pytest.raises(ModelError, match=r"a\.onnx keeps its weights in a second file"):
        inspect(path)


def test_what_the_owner_says_is_not_looked_for(tmp_path: Path) -> None:
    needs = inspect(
        networks.looking(tmp_path / "a.onnx", 1),
        input_range=(0.0, 255.0),
        output_range=(0.0, 255.0),
        channel_order="BGR",
        multiple_of=24,
        minimum=48,
        local=False,
        halo=40,
    )
    assert (needs.input_range, needs.output_range, needs.channel_order) == ((0.0, 255.0), (0.0, 255.0), "BGR")
    assert (needs.sizes.multiple_of, needs.sizes.minimum, needs.local, needs.halo) == (24, 48, False, 40)
    assert [why(needs, what) for what in ("input range", "output range", "channel order", "local", "halo")] == [
        "as told"
    ] * 5


def test_an_output_that_is_not_there_is_told_with_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="it has no output mask; it has output"):
        inspect(networks.identity(tmp_path / "a.onnx"), output_name="mask")
