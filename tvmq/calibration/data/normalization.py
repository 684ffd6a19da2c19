"""Normalization that a network was trained with: pixels of 0..255 brought to another range. Usual forms, by name.

x = (pixel * scale - mean) / std        float32, mean and std by channel, in the order of the model's channels
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tvmq.errors import ConfigError

RGB, BGR, GRAY = "rgb", "bgr", "gray"


@dataclass(frozen=True)
class Normalization:
    """How pixels become inputs.

    name   "imagenet", "unit", ... or "own"
    scale  pixels are multiplied with it first
    mean   one number, or one for each channel, in the order of `color`
    std    likewise
    color  "rgb", "bgr" or "gray": order of the channels that the model takes

    >>> NORMALIZATIONS["unit"](np.uint8([[[0, 51, 255]]])).tolist()
    [[[0.0, 0.20000000298023224, 1.0]]]
    """

    name: str
    scale: float = 1 / 255
    mean: tuple[float, ...] = (0.0,)
    std: tuple[float, ...] = (1.0,)
    color: str = RGB

    def __call__(self, pictures: np.ndarray) -> np.ndarray:
        """float32 of uint8 pictures whose last axis is the channels; red comes first in them."""
        ordered = pictures[..., ::-1] if self.color == BGR else pictures
        # the last bit as torchvision has it, which divides
        floats = ordered.astype(np.float32)
        scaled = floats / np.float32(255) if self.scale == 1 / 255 else floats * np.float32(self.scale)
        return np.asarray((scaled - np.array(self.mean, np.float32)) / np.array(self.std, np.float32))

    def flags(self) -> str:
        """The options of the command line that name it.

        >>> Normalization("own", 1.0, (104.0, 117.0, 123.0), (1.0,), "bgr").flags()
        '--scale 1 --mean 104,117,123 --std 1 --color bgr'
        """
        order = f" --color {self.color}" if self.color == BGR else ""
        if self.name in NORMALIZATIONS and replace(NORMALIZATIONS[self.name], color=self.color) == self:
            return f"--normalize {self.name}{order if NORMALIZATIONS[self.name].color != self.color else ''}"
        numbers = (",".join(f"{value:.6g}" for value in values) for values in (self.mean, self.std))
        return f"--scale {self.scale:.6g} --mean {next(numbers)} --std {next(numbers)}{order}"

    def formula(self) -> str:
        """In words.

        >>> NORMALIZATIONS["signed"].formula(), NORMALIZATIONS["raw"].formula()
        ('(pixel / 255 - 0.5) / 0.5', 'pixel')
        """
        text = "pixel" if self.scale == 1 else "pixel / 255" if self.scale == 1 / 255 else f"pixel * {self.scale:.6g}"
        if any(self.mean):
            text = f"({text} - {_numbers(self.mean)})"
        if set(self.std) != {1.0}:
            text = f"{text} / {_numbers(self.std)}"
        return f"{text} in order BGR" if self.color == BGR else text


def _numbers(values: tuple[float, ...]) -> str:
    return f"{values[0]:g}" if len(values) == 1 else f"({', '.join(f'{value:g}' for value in values)})"


NORMALIZATIONS = {
    one.name: one
    for one in (
        # torchvision, timm and most that was trained on ImageNet
        Normalization("imagenet", mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225)),
        Normalization("unit"),
        Normalization("signed", mean=(0.5,), std=(0.5,)),
        Normalization("raw", scale=1.0),
        # Caffe and its zoo: BGR, the mean pixel of ImageNet
        Normalization("caffe", scale=1.0, mean=(103.939, 116.779, 123.68), color=BGR),
        # mean and deviation of MNIST, as the examples of torch have them
        Normalization("mnist", mean=(0.1307,), std=(0.3081,), color=GRAY),
    )
}


def candidates(channels: int) -> list[Normalization]:
    """The usual ones for so many channels, the likeliest first.

    >>> [one.name for one in candidates(1)]
    ['unit', 'signed', 'mnist', 'raw']
    """
    names = ("imagenet", "unit", "signed", "raw", "caffe") if channels == 3 else ("unit", "signed", "mnist", "raw")
    return [NORMALIZATIONS[name] if channels == 3 else replace(NORMALIZATIONS[name], color=GRAY) for name in names]


def replace_numbers(
    start: Normalization,
    channels: int,
    *,
    mean: tuple[float, ...] | None = None,
    std: tuple[float, ...] | None = None,
    scale: float | None = None,
    color: str | None = None,
) -> Normalization:
    """A normalization with some of its numbers replaced.

    raises  ConfigError for numbers that do not fit the channels, and for a std that is not positive
    """
    for option, values in (("--mean", mean), ("--std", std)):
        if values is not None and len(values) not in (1, channels):
            raise ConfigError(
                f"{option}: {len(values)} numbers for {channels} channels; give 1 or {channels}, as 0.5 or 0.5,0.5,0.5"
            )
    if std is not None and min(std) <= 0:
        raise ConfigError(f"--std: must be positive. Got {min(std):g} instead")
    numbers = {"mean": mean, "std": std, "scale": scale, "color": color}
    changes = {name: value for name, value in numbers.items() if value is not None}
    return replace(start, name="own" if changes.keys() - {"color"} else start.name, **changes)  # type: ignore[arg-type]
