"""A style's network and variants replaced, with the other commands standing in."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from app.config import PROJECT_ROOT
from app.imaging.sizing import SizeRequirements
from app.inference.registry import ModelRegistry
from app.library.inspection import Needs
from tools.command import ToolError
from tools.variants.making import Makers, make_variants, needs_fault, put_small, put_weights

MODELS = PROJECT_ROOT / "models"
CARD = ModelRegistry.read(MODELS, with_added=False).card("hayao")
NEEDS = Needs(
    layout="NCHW",
    input_name="input",
    output_name="output",
    input_range=(-1.0, 1.0),
    output_range=(-1.0, 1.0),
    channel_order="RGB",
    sizes=SizeRequirements(multiple_of=8, minimum=8),
    local=True,
    halo=104,
    findings=(),
)
VERIFIED = """[styles.variants.{variant}.verified]
against = "fp32"
sha256 = "x"
against_sha256 = "y"
date = 2026-11-30
command = "python"
pictures = 15
size = 512
ssim = 0.99
psnr = 48.5
banding = 0.24
color = 0.62
worst_ssim = 0.98
worst_banding = 0.4
time = {{ aarch64 = 0.33 }}"""


@dataclass
class Workshop:
    """Makes the files that it is told to, and passes those that it is told to."""

    makes: tuple[str, ...] = ("_fp16_weights", "_int8")
    passes: tuple[str, ...] = ("fp16", "int8")
    told: list[str] = field(default_factory=list)

    def makers(self) -> Makers:
        return Makers(self._optimize, self._verify, self.told.append)

    def _optimize(self, style: str, models: Path, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for suffix in self.makes:
            (folder / f"lite_{style}{suffix}.onnx").write_text(f"{style}{suffix}", encoding="utf-8")

    def _verify(self, style: str, variant: str, models: Path) -> str | None:
        # The command finds the variant in models.toml as it is at that moment.
        assert (models / variants(models, style)[variant]["file"]).is_file()
        return VERIFIED.format(variant=variant) if variant in self.passes else None


def variants(models: Path, style: str) -> Mapping[str, Mapping[str, object]]:
    styles = tomllib.loads((models / "models.toml").read_text(encoding="utf-8"))["styles"]
    return next(entry["variants"] for entry in styles if entry["id"] == style)


@pytest.fixture
def models(tmp_path: Path) -> Path:
    folder = tmp_path / "models"
    shutil.copytree(MODELS, folder, ignore=shutil.ignore_patterns("added", "pulled"))
    return folder


def test_a_smaller_network_is_put_beside_and_the_rest_stays(models: Path, tmp_path: Path) -> None:
    before = {name: entry for name, entry in variants(models, "hayao").items() if name != "small"}
    put_small(models, "hayao", models / "lite_cute.onnx", lambda path: NEEDS)
    after = variants(models, "hayao")
    assert (models / str(after["small"]["file"])).read_bytes() == (models / "lite_cute.onnx").read_bytes()
    assert {name: entry for name, entry in after.items() if name != "small"} == before
    make_variants(models, "hayao", tmp_path / "out", Workshop().makers())
    assert list(variants(models, "hayao")) == ["fp32", "fp16", "int8", "small"]
    assert ModelRegistry.load(models, small=True, with_added=False).styles["hayao"].weights_in_use[0] == "small"
    with pytest.raises(ToolError, match="halo is 144 there and 152 here"):
        put_small(models, "hayao", models / "lite_cute.onnx", lambda path: replace(NEEDS, halo=152))


def test_variants_are_put_with_their_verdicts(models: Path, tmp_path: Path) -> None:
    make_variants(models, "cute", tmp_path / "out", (workshop := Workshop()).makers())
    assert {name: set(entry) for name, entry in variants(models, "cute").items()} == {
        "fp32": {"file", "sha256", "bytes"},
        "fp16": {"file", "sha256", "bytes", "verified"},
        "int8": {"file", "sha256", "bytes", "verified"},
    }
    assert (models / "lite_cute_fp16.onnx").read_text(encoding="utf-8") == "cute_fp16_weights"
    assert variants(models, "cute")["int8"]["bytes"] == len("cute_int8")
    assert workshop.told == []


def test_what_did_not_pass_is_there_but_has_no_verdict(models: Path, tmp_path: Path) -> None:
    workshop = Workshop(passes=("fp16",))
    make_variants(models, "hayao", tmp_path / "out", workshop.makers())
    assert "verified" not in variants(models, "hayao")["int8"]
    assert workshop.told == ["hayao int8: did not pass, so it is there but not offered."]


def test_what_was_not_made_is_gone_even_where_an_earlier_run_made_it(models: Path, tmp_path: Path) -> None:
    make_variants(models, "hayao", tmp_path / "out", Workshop().makers())
    workshop = Workshop(makes=("_fp16_weights",))
    make_variants(models, "hayao", tmp_path / "out", workshop.makers())
    assert set(variants(models, "hayao")) - {"small"} == {"fp32", "fp16"}
    assert not (models / "lite_hayao_int8.onnx").exists()
    assert workshop.told == ["hayao int8: not made, so models.toml has none."]


def test_other_weights_take_the_place_of_all_variants(models: Path) -> None:
    put_weights(models, "hayao", models / "lite_cute.onnx", lambda path: NEEDS)
    assert set(variants(models, "hayao")) - {"small"} == {"fp32"}
    assert (models / "lite_hayao.onnx").read_bytes() == (models / "lite_cute.onnx").read_bytes()
    assert ModelRegistry.load(models, with_added=False).styles["hayao"].usable


def test_weights_that_need_what_the_table_does_not_say_are_refused(models: Path) -> None:
    before = (models / "models.toml").read_bytes()
    with pytest.raises(ToolError, match=r"does not fit style hayao .* halo is 144 there and 152 here"):
        put_weights(models, "hayao", models / "lite_cute.onnx", lambda path: replace(NEEDS, halo=152))
    assert (models / "models.toml").read_bytes() == before


@pytest.mark.parametrize(
    ("needs", "fault"),
    [
        (NEEDS, None),
        (replace(NEEDS, sizes=SizeRequirements(multiple_of=4, minimum=8)), None),
        (replace(NEEDS, sizes=SizeRequirements(multiple_of=16, minimum=16)), "multiples of 8 there and 16 here"),
        (replace(NEEDS, sizes=SizeRequirements(fixed=(512, 512))), "fixed is None there"),
        (replace(NEEDS, layout="NHWC"), "layout is NCHW there and NHWC here"),
        (replace(NEEDS, input_name="x"), "input_name is input there and x here"),
        (replace(NEEDS, output_range=(0.0, 1.0)), "output_range"),
        (replace(NEEDS, local=False), "local is True there and False here"),
    ],
)
def test_the_first_thing_that_differs_is_named(needs: Needs, fault: str | None) -> None:
    found = needs_fault(CARD, needs)
    assert found is None if fault is None else fault in str(found)


def test_a_style_that_is_not_there_is_told(models: Path, tmp_path: Path) -> None:
    with pytest.raises(ToolError, match=r"no style nobody\. It has: hayao, "):
        make_variants(models, "nobody", tmp_path / "out", Workshop().makers())
