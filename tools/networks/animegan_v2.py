"""AnimeGANv2's generator (Chen, Liu, Chen: AnimeGAN, ISICA 2019, and the author's second version), 2.15 M parameters.

Modules are named as in the checkpoints of bryandlee/animegan2-pytorch, which are the public ones in PyTorch:
face_paint_512_v1, face_paint_512_v2, celeba_distill, paprika.
"""

from __future__ import annotations

from typing import Final

from torch import Tensor, nn
from torch.nn.functional import interpolate

_SLOPE: Final = 0.2

# At a stride of 2 only the right and the lower edge are padded, as TensorFlow's trained network had it.
_STRIDED_PADDING: Final = (0, 1, 0, 1)


class AnimeGANv2(nn.Module):
    """(N, 3, H, W) in [-1, 1] to the same, through tanh; H and W from 8 up, best as multiples of 32.

    align_corners: how the two enlargements by 2 place their samples. The author's loader for torch.hub aligns the
    corners; his command for weights converted from TensorFlow (paprika) does not, and then H and W must be
    multiples of 4.
    """

    def __init__(self, *, align_corners: bool = True) -> None:
        super().__init__()
        self.align_corners = align_corners
        self.block_a = nn.Sequential(_unit(3, 32, kernel=7), _unit(32, 64, stride=2), _unit(64, 64))
        self.block_b = nn.Sequential(_unit(64, 128, stride=2), _unit(128, 128))
        residuals = (InvertedResidual(inputs, 256) for inputs in (128, 256, 256, 256))
        self.block_c = nn.Sequential(_unit(128, 128), *residuals, _unit(256, 128))
        self.block_d = nn.Sequential(_unit(128, 128), _unit(128, 128))
        self.block_e = nn.Sequential(_unit(128, 64), _unit(64, 64), _unit(64, 32, kernel=7))
        self.out_layer = nn.Sequential(nn.Conv2d(32, 3, 1, bias=False), nn.Tanh())

    def forward(self, x: Tensor) -> Tensor:
        """See the class."""
        half = self.block_a(x)
        quarter = self.block_c(self.block_b(half))
        decoded = self.block_d(self._enlarged(quarter, half))
        return self.out_layer(self.block_e(self._enlarged(decoded, x)))

    def _enlarged(self, small: Tensor, like: Tensor) -> Tensor:
        if self.align_corners:
            return interpolate(small, like.shape[-2:], mode="bilinear", align_corners=True)
        return interpolate(small, scale_factor=2.0, mode="bilinear", align_corners=False)


class PictureNorm(nn.GroupNorm):
    """GroupNorm with one group: over the whole picture and all channels, then a scale and a shift for each channel.

    Written out, as GroupNorm is exported as InstanceNormalization, where ONNX Runtime adds up all the values in one
    float32: 2.5e-4 off in the output at 384 x 512. By channels first it is 7e-6.
    """

    def __init__(self, channels: int) -> None:
        super().__init__(1, channels)

    def forward(self, x: Tensor) -> Tensor:
        """``x`` and the answer: (N, channels, H, W)."""
        centred = x - _mean(x)
        scale = self.weight[:, None, None] / (_mean(centred.square()) + self.eps).sqrt()
        return centred * scale + self.bias[:, None, None]


def _mean(x: Tensor) -> Tensor:
    return x.mean(3, keepdim=True).mean(2, keepdim=True).mean(1, keepdim=True)


class InvertedResidual(nn.Module):
    """Twice the channels, a 3 x 3 convolution in each, and back; added to what came in where channels stay."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        inner = inputs * 2
        self.layers = nn.Sequential(
            _unit(inputs, inner, kernel=1),
            _unit(inner, inner, groups=inner, bias=True),
            nn.Conv2d(inner, outputs, 1, bias=False),
            PictureNorm(outputs),
        )
        self.adds = inputs == outputs

    def forward(self, x: Tensor) -> Tensor:
        """``x``: (N, inputs, H, W); the answer: (N, outputs, H, W)."""
        return x + self.layers(x) if self.adds else self.layers(x)


def _unit(
    inputs: int, outputs: int, *, kernel: int = 3, stride: int = 1, groups: int = 1, bias: bool = False
) -> nn.Sequential:
    """Padding, convolution, norm over the whole picture and all channels, leaky ReLU; weights sit at 1 and 2."""
    padding = _STRIDED_PADDING if stride == 2 else (kernel // 2,) * 4
    return nn.Sequential(
        # A padding of nothing would stay in the exported graph.
        nn.ReflectionPad2d(padding) if any(padding) else nn.Identity(),
        nn.Conv2d(inputs, outputs, kernel, stride, groups=groups, bias=bias),
        PictureNorm(outputs),
        nn.LeakyReLU(_SLOPE),
    )
