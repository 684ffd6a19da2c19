"""Options for the preprocessing of pictures; values not given are guessed.

Tests: tests/tools/cli/test_quantize_alone.py
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Annotated

import typer

from tvmq.calibration.data.normalization import NORMALIZATIONS
from tvmq.calibration.data.pictures import RESIZES
from tvmq.errors import ConfigError

PANEL = "Pictures (--data FOLDER); options not given are guessed and reported"

_Normalize = Enum("_Normalize", {name: name for name in NORMALIZATIONS})  # type: ignore[misc]
_Layout = Enum("_Layout", {"NCHW": "NCHW", "NHWC": "NHWC"})
_Color = Enum("_Color", {"rgb": "rgb", "bgr": "bgr"})
_Resize = Enum("_Resize", {name: name for name in RESIZES})  # type: ignore[misc]

Normalizes = Annotated[
    _Normalize | None,
    typer.Option(
        "--normalize",
        rich_help_panel=PANEL,
        help="Normalization used in training. imagenet: torchvision's mean and std; unit: 0..1; signed: -1..1; "
        "raw: 0..255; caffe: BGR minus the mean pixel; mnist.",
    ),
]
Means = Annotated[
    str | None,
    typer.Option(
        "--mean",
        rich_help_panel=PANEL,
        help="Mean in x = (pixel * scale - mean) / std: one number, or one per channel. Example: 0.4914,0.4822,0.4465",
    ),
]
Stds = Annotated[
    str | None,
    typer.Option("--std", rich_help_panel=PANEL, help="Standard deviation, see --mean. Example: 0.2470,0.2435,0.2616"),
]
Scales = Annotated[
    float | None,
    typer.Option("--scale", rich_help_panel=PANEL, help="Scale of pixels, see --mean. Default: 1/255; 1 keeps 0..255."),
]
Colors = Annotated[_Color | None, typer.Option("--color", rich_help_panel=PANEL, help="Order of the model's channels.")]
Layouts = Annotated[
    _Layout | None,
    typer.Option("--layout", rich_help_panel=PANEL, help="Layout of the model's input: channels first or last."),
]
Resizes = Annotated[
    _Resize | None,
    typer.Option(
        "--resize",
        rich_help_panel=PANEL,
        help="Resizing to the model's input. crop: resize the shorter side to size / --crop and cut out the centre; "
        "stretch; pad: add gray borders. Default: crop for classifiers of 64 pixels or more, else stretch.",
    ),
]
Crops = Annotated[
    float | None,
    typer.Option(
        "--crop",
        min=0.1,
        max=1,
        rich_help_panel=PANEL,
        help="Share of the shorter side that --resize crop keeps. Default: 0.875.",
    ),
]


@dataclass(frozen=True)
class PictureOptions:
    """Picture options of the command line; None values are guessed."""

    normalize: str | None = None
    mean: tuple[float, ...] | None = None
    std: tuple[float, ...] | None = None
    scale: float | None = None
    color: str | None = None
    layout: str | None = None
    resize: str | None = None
    crop: float | None = None

    def has_values(self) -> bool:
        """True if any option was given."""
        return self != PictureOptions()

    def normalizes(self) -> bool:
        """True if the normalization was given, so that it need not be guessed."""
        return any(value is not None for value in (self.normalize, self.mean, self.std, self.scale))


def picture_options(
    normalize: Enum | None, mean: str | None, std: str | None, scale: float | None,
    color: Enum | None, layout: Enum | None, resize: Enum | None, crop: float | None,
) -> PictureOptions:  # fmt: skip
    """Parse the values of the command line. raises ConfigError for texts that are not numbers."""
    words = (None if value is None else str(value.value) for value in (normalize, color, layout, resize))
    name, order, place, fit = words
    return PictureOptions(name, numbers("--mean", mean), numbers("--std", std), scale, order, place, fit, crop)


def numbers(option: str, text: str | None) -> tuple[float, ...] | None:
    """Parse numbers separated by commas.

    >>> numbers("--mean", "0.5, 0.25"), numbers("--mean", None)
    ((0.5, 0.25), None)
    """
    if text is None:
        return None
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise ConfigError(f"{option}: '{text}' is not a list of numbers; example: 0.485,0.456,0.406") from None
