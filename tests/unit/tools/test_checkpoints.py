"""Checkpoints in every wrapping training scripts give them, and everything else refused in one sentence."""

from __future__ import annotations

import argparse
import pickle
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="checkpoints are PyTorch's")

import torch

from tests.unit.tools.torch_makers import tiny_lite
from tools.checkpoints import Weights, family_of, load_network, read_checkpoint
from tools.command import MOST_BYTES, ToolError
from tools.networks.animegan_v2 import AnimeGANv2
from tools.networks.animegan_v3 import AnimeGANv3
from tools.networks.lite2 import SIZES, Lite2

STATE = tiny_lite().state_dict()
OTHER = {key: value * 0 for key, value in STATE.items()}


def before(prefix: str, state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {prefix + key: value for key, value in state.items()}


def itself() -> dict[str, object]:
    checkpoint: dict[str, object] = {}
    checkpoint["model"] = checkpoint
    return checkpoint


WRAPPED = {
    "bare": (STATE, ()),
    "a training script's": ({"generator": STATE, "discriminator": OTHER, "epoch": 3}, ("generator",)),
    "with a tensor for the epoch": ({"state_dict": STATE, "epoch": torch.tensor(3)}, ("state_dict",)),
    "nested": ({"model": {"state_dict": STATE}, "args": argparse.Namespace(lr=1e-3)}, ("model", "state_dict")),
    "average and last step": ({"generator": OTHER, "generator_ema": STATE}, ("generator_ema",)),
    "average with its decay": ({"ema": {"decay": 0.999, "shadow": STATE}, "generator": OTHER}, ("ema", "shadow")),
    "under an unknown key": ({"net": STATE, "step": 7}, ("net",)),
    "DataParallel": (before("module.", STATE), ("module.",)),
    "compiled and parallel": (before("_orig_mod.module.", STATE), ("_orig_mod.", "module.")),
    "Lightning": (
        {"state_dict": {**before("discriminator.", OTHER), **before("generator.", STATE)}},
        ("state_dict", "generator."),
    ),
    "average within one state dict": ({**before("G.", OTHER), **before("ema.module.", STATE)}, ("ema.", "module.")),
}


@pytest.mark.parametrize(("content", "route"), WRAPPED.values(), ids=WRAPPED)
def test_the_generator_is_found(tmp_path: Path, content: object, route: tuple[str, ...]) -> None:
    torch.save(content, tmp_path / "a.pt")
    weights = read_checkpoint(tmp_path / "a.pt")
    assert weights.route == route
    assert weights.state.keys() == STATE.keys()
    assert all(torch.equal(weights.state[key], value) for key, value in STATE.items())


def test_the_older_file_format_is_read(tmp_path: Path) -> None:
    torch.save(STATE, tmp_path / "a.pth", _use_new_zipfile_serialization=False)
    assert read_checkpoint(tmp_path / "a.pth").state.keys() == STATE.keys()


def saved(content: object) -> Callable[[Path], None]:
    return lambda path: torch.save(content, path)


def cut(path: Path) -> None:
    torch.save(STATE, path)
    path.write_bytes(path.read_bytes()[:-200])


def cut_old(path: Path) -> None:
    torch.save(STATE, path, _use_new_zipfile_serialization=False)
    path.write_bytes(path.read_bytes()[:-20])


def program(path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.script(torch.nn.Conv2d(3, 3, 1)).save(str(path))


def bomb(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a/data.pkl", "w") as member:
        for _ in range((MOST_BYTES >> 24) + 1):
            member.write(bytes(1 << 24))


BROKEN = {
    "nothing": (lambda path: None, "missing"),
    "empty": (lambda path: path.write_bytes(b""), "empty"),
    "text": (lambda path: path.write_text("weights to come"), "no PyTorch checkpoint"),
    "noise": (lambda path: path.write_bytes(bytes(range(256)) * 40), "no PyTorch checkpoint"),
    "truncated": (cut, "damaged"),
    "truncated, older format": (cut_old, "damaged"),
    "a zip of something else": (lambda path: zipfile.ZipFile(path, "w").close(), "no PyTorch checkpoint"),
    "unpacks to too much": (bomb, "unpacks to"),
    "a whole module": (saved(torch.nn.Conv2d(3, 3, 1)), "holds torch.nn.*more than weights"),
    "code": (lambda path: path.write_bytes(pickle.dumps(print, 2)), "no PyTorch checkpoint|more than weights"),
    "a TorchScript program": (program, "TorchScript"),
    "a list": (saved([1, 2]), "a list is where"),
    "one tensor": (saved(torch.zeros(3)), "a Tensor is where"),
    "an empty dict": (saved({}), "it holds nothing"),
    "numbers": (saved({"loss": 0.5, "epoch": 3}), "it holds loss, epoch"),
    "itself": (saved(itself()), "no state_dict"),
}


@pytest.mark.parametrize(("make", "why"), BROKEN.values(), ids=BROKEN)
def test_what_holds_no_weights_is_refused(tmp_path: Path, make: Callable[[Path], object], why: str) -> None:
    path = tmp_path / "a.pt"
    make(path)
    with pytest.raises(ToolError, match=why) as refusal:
        read_checkpoint(path)
    assert str(refusal.value).count("\n") == 0


def weights(state: dict[str, torch.Tensor]) -> Weights:
    return Weights(Path("a.pt"), state, ())


def test_each_family_is_known_by_its_keys() -> None:
    assert load_network(weights(STATE))[0] == "lite"
    assert load_network(weights(Lite2(SIZES["s"]).state_dict()))[0] == "lite2"
    assert load_network(weights(AnimeGANv2().state_dict()))[0] == "animegan-v2"
    assert load_network(weights(AnimeGANv3().state_dict()))[0] == "animegan-v3"
    assert family_of(weights({"generator/base/Conv/weights:0": torch.zeros(7, 7, 3, 32)})) == "animegan-v3"


def test_a_family_can_be_named() -> None:
    name, network = load_network(weights(AnimeGANv2().state_dict()), "animegan-v2-halfpixel")
    assert name == "animegan-v2-halfpixel"
    assert not network.align_corners
    assert not network.training


def test_the_weights_are_loaded() -> None:
    network = load_network(weights(STATE))[1]
    assert all(torch.equal(network.state_dict()[key], value) for key, value in STATE.items())


def test_half_precision_becomes_float32() -> None:
    network = load_network(weights({key: value.half() for key, value in STATE.items()}))[1]
    assert {value.dtype for value in network.state_dict().values()} == {torch.float32}


def test_batch_counters_may_be_missing() -> None:
    state = {key: value for key, value in AnimeGANv3().state_dict().items() if "tracked" not in key}
    load_network(weights(state))


def test_keys_of_no_known_network_are_shown() -> None:
    with pytest.raises(ToolError, match=r"no network known here .* begin with conv\.weight, conv\.bias"):
        load_network(weights({"conv.weight": torch.zeros(1), "conv.bias": torch.zeros(1)}))


def without(key: str) -> dict[str, torch.Tensor]:
    return {name: value for name, value in STATE.items() if name != key}


MISFITS = {
    "without its mark": (without("stem.weight"), "it has no stem.weight"),
    "without a layer": (without("mid.0.b.bias"), "it has no mid.0.b.bias"),
    "another shape": (
        {**STATE, "t.weight": torch.zeros(4, 4, 1, 1)},
        "t.weight is 4 x 4 x 1 x 1 in the file and 4 x 4",
    ),
    "one number": ({**STATE, "d1.weight": torch.tensor(1.0)}, "is a single number in the file"),
    "no channels": ({**STATE, "stem.weight": torch.zeros(0, 12, 3, 3)}, "stem.weight is 0 x 12 x 3 x 3"),
    "terabytes claimed": ({**STATE, "t.bias": torch.zeros(1).expand(1 << 40)}, f"t.bias is {1 << 40} in the file"),
    "a surplus key": ({**STATE, "style": torch.zeros(2)}, "has no style"),
    "whole numbers": ({**STATE, "t.bias": torch.zeros(4, dtype=torch.int64)}, "t.bias is torch.int64"),
    "NaN": ({**STATE, "t.bias": torch.tensor([0.0, 1.0, float("nan"), 0.0])}, "t.bias holds infinities or"),
}


@pytest.mark.parametrize(("state", "why"), MISFITS.values(), ids=MISFITS)
def test_a_misfit_names_the_first_key_that_differs(state: dict[str, torch.Tensor], why: str) -> None:
    with pytest.raises(ToolError, match=why):
        load_network(weights(state))
