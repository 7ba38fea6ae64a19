"""AnimeGANv3's generator, the branch its author deploys, 1.04 M parameters.

After the paper (Liu, Chen, Zhu: A Novel Double-Tail Generative Adversarial Network for Fast Photo Animation,
IEICE Transactions E107-D, 2024) and the published graphs, whose numbers it gives back. The author trains in TensorFlow;
``from_tensorflow`` takes his variables' names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from torch import Tensor, nn
from torch.nn.functional import conv1d, interpolate, leaky_relu, pad

_SLOPE: Final = 0.2
_EPSILON: Final = 1e-5

# Of TensorFlow's batch normalisation.
_BATCH_EPSILON: Final = 1e-3

_ATTENTION_EPSILON: Final = 1e-9

# At a stride of 2 only the left and the upper edge are padded.
_STRIDED_PADDING: Final = (1, 0, 1, 0)

FIRST_VARIABLE: Final = "generator/base/Conv/weights"
"""The variable by which a state dict with TensorFlow's names is known."""

_ATTENTION_SCOPE: Final = "generator/main/External_attention"

# TensorFlow 1 numbers the variables of a layer written by hand in the order they are made.
_BATCH_NORM: Final[Mapping[str, str]] = {
    "weight": "Variable",
    "bias": "Variable_1",
    "running_mean": "Variable_2",
    "running_var": "Variable_3",
}


class AnimeGANv3(nn.Module):
    """(N, 3, H, W) in [-1, 1] to the same, through tanh; H and W are multiples of 8, from 16 up."""

    def __init__(self) -> None:
        super().__init__()
        self.base = nn.Sequential(
            AdaptiveConvolution(3, 32, kernel=7),
            AdaptiveConvolution(32, 32, stride=2),
            AdaptiveConvolution(32, 64),
            AdaptiveConvolution(64, 64, stride=2),
            AdaptiveConvolution(64, 128),
            AdaptiveConvolution(128, 128, stride=2),
            AdaptiveConvolution(128, 128),
        )
        self.attention = ExternalAttention(128)
        widths = ((128, 128), (128, 128), (128, 64), (64, 64), (64, 32), (32, 32))
        self.main = nn.Sequential(*(AdaptiveConvolution(inputs, outputs) for inputs, outputs in widths))
        self.out = nn.Conv2d(32, 3, 7, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """See the class."""
        kept = []
        for step, layer in enumerate(self.base):
            x = layer(x)
            if step in (0, 2, 4):
                kept.append(x)
        x = self.attention(x)
        for enlarged, joined in zip(self.main[::2], self.main[1::2], strict=True):
            x = joined(enlarged(enlarge(x)) + kept.pop())
        return self.out(pad(x, (3, 3, 3, 3), mode="reflect")).tanh()


class AdaptiveConvolution(nn.Module):
    """A convolution, linearly adaptive denormalisation (LADE), leaky ReLU.

    Each channel is normalised over the picture and then given the mean and the spread that a second, 1 x 1
    convolution of the very same values has: the network sets its statistics by itself.
    """

    def __init__(self, inputs: int, outputs: int, *, kernel: int = 3, stride: int = 1) -> None:
        super().__init__()
        self.padding = _STRIDED_PADDING if stride == 2 else (kernel // 2,) * 4
        self.convolution = nn.Conv2d(inputs, outputs, kernel, stride, bias=False)
        self.statistics = nn.Conv2d(outputs, outputs, 1, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """``x``: (N, inputs, H, W); the answer: (N, outputs, H / stride, W / stride)."""
        x = self.convolution(pad(x, self.padding, mode="reflect"))
        mean, spread = _statistics(x)
        wanted_mean, wanted_spread = _statistics(self.statistics(x))
        return leaky_relu((x - mean) * (wanted_spread / spread) + wanted_mean, _SLOPE)


def _statistics(x: Tensor) -> tuple[Tensor, Tensor]:
    """Mean and spread of each channel of each picture: (N, C, 1, 1)."""
    mean = _mean(x)
    variance = _mean((x - mean).square())
    return mean, (variance + _EPSILON).sqrt()


def _mean(x: Tensor) -> Tensor:
    """By rows first: ONNX Runtime adds up in one float32 what one reduction spans."""
    return x.mean(3, keepdim=True).mean(2, keepdim=True)


class ExternalAttention(nn.Module):
    """Attention of every pixel to a learned memory; channels stay (Guo et al.: Beyond Self-attention, 2021)."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.enter = nn.Conv2d(channels, channels, 1, bias=False)
        self.memory = nn.Conv1d(channels, channels, 1, bias=False)
        self.leave = nn.Conv2d(channels, channels, 1, bias=False)
        self.norm = nn.BatchNorm2d(channels, eps=_BATCH_EPSILON)

    def forward(self, x: Tensor) -> Tensor:
        """``x`` and the answer: (N, channels, H, W)."""
        likeness = self.memory(self.enter(x).flatten(2)).softmax(2)
        shares = likeness / (likeness.sum(1, keepdim=True) + _ATTENTION_EPSILON)
        recalled = conv1d(shares, self.memory.weight.transpose(0, 1)).reshape(x.shape)
        return leaky_relu(self.norm(self.leave(recalled)) + x, _SLOPE)


def enlarge(x: Tensor) -> Tensor:
    """``x`` (N, C, H, W) twice as large, bilinearly as TensorFlow 1 does: sample 2i is x[i], 2i + 1 the middle.

    PyTorch has no such placement. It is the one with aligned corners of a picture that is one pixel longer.
    """
    height, width = x.shape[-2:]
    longer = pad(x, (0, 1, 0, 1), mode="replicate")
    size = (height * 2 + 1, width * 2 + 1)
    return interpolate(longer, size, mode="bilinear", align_corners=True)[..., :-1, :-1]


def from_tensorflow(variables: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """State dict for AnimeGANv3 from the author's variables; those of other branches and of training are left out.

    ``:0`` at the end of a name is overlooked. A variable that is not there is left out of the answer as well.
    """
    plain = {name.removesuffix(":0"): value for name, value in variables.items()}
    return {key: _turned(plain[name]) for key, name in _names() if name in plain}


def _turned(variable: Tensor) -> Tensor:
    """TensorFlow keeps kernels as (..., inputs, outputs), PyTorch as (outputs, inputs, ...)."""
    if variable.ndim < 2:
        return variable
    return variable.permute(-1, -2, *range(variable.ndim - 2)).contiguous()


def _names() -> Iterator[tuple[str, str]]:
    """Our key and the author's variable, of everything AnimeGANv3 holds, in the order of the state dict."""
    yield from _scope_names("base", layers=7)
    yield "attention.enter.weight", f"{_ATTENTION_SCOPE}/Conv/weights"
    yield "attention.memory.weight", f"{_ATTENTION_SCOPE}/kernel"
    yield "attention.leave.weight", f"{_ATTENTION_SCOPE}/Conv_1/weights"
    for key, name in _BATCH_NORM.items():
        yield f"attention.norm.{key}", f"{_ATTENTION_SCOPE}/{name}"
    yield from _scope_names("main", layers=6)
    yield "out.weight", "generator/main/Conv_12/weights"


def _scope_names(scope: str, layers: int) -> Iterator[tuple[str, str]]:
    for layer in range(layers):
        for place, part in enumerate(("convolution", "statistics")):
            number = layer * 2 + place
            suffix = f"_{number}" if number else ""
            yield f"{scope}.{layer}.{part}.weight", f"generator/{scope}/Conv{suffix}/weights"
