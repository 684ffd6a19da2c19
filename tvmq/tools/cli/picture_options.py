"""Options for the preprocessing of pictures; values not given are guessed.

Tests: tests/tools/cli/test_quantize_alone.py
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, ClassVar, Literal

import typer

from tvmq.calibration.data.normalization import NORMALIZATIONS
from tvmq.calibration.data.pictures import RESIZES
from tvmq.errors import ConfigError


@dataclass(frozen=True)
class PictureOptions:
    """Preprocessing of pictures, as options of a command; values not given are guessed.

    normalize  Normalization used in training. imagenet: torchvision's mean and std; unit: 0..1; signed: -1..1; raw:
               0..255; caffe: BGR minus the mean pixel; mnist.
    mean       Mean in x = (pixel * scale - mean) / std: one number, or one per channel. Example: 0.4914,0.4822,0.4465
    std        Standard deviation, see --mean. Example: 0.2470,0.2435,0.2616
    scale      Scale of pixels, see --mean. Default: 1/255; 1 keeps 0..255.
    color      Order of the model's channels.
    layout     Layout of the model's input: channels first or last.
    resize     Resizing to the model's input. crop: resize the shorter side to size / --crop and cut out the centre;
               stretch; pad: add gray borders. Default: crop for classifiers of 64 pixels or more, else stretch.
    crop       Share of the shorter side that --resize crop keeps. Default: 0.875.
    """

    PANEL: ClassVar[str] = "Pictures (--data FOLDER); options not given are guessed and reported"
    normalize: Annotated[str | None, Enum("Normalization", [(name, name) for name in NORMALIZATIONS])] = None
    mean: str | None = None
    std: str | None = None
    scale: float | None = None
    color: Literal["rgb", "bgr"] | None = None
    layout: Literal["NCHW", "NHWC"] | None = None
    resize: Annotated[str | None, Enum("Resize", [(name, name) for name in RESIZES])] = None
    crop: Annotated[float | None, typer.Option(min=0.1, max=1)] = None

    def __post_init__(self) -> None:
        self.numbers("mean"), self.numbers("std")  # texts that are not numbers are refused before any work

    def numbers(self, option: str) -> tuple[float, ...] | None:
        """Numbers of --mean or --std. raises ConfigError for other texts

        >>> PictureOptions(mean="0.5, 0.25").numbers("mean"), PictureOptions().numbers("std")
        ((0.5, 0.25), None)
        """
        text = getattr(self, option)
        if text is None:
            return None
        try:
            return tuple(float(part) for part in text.split(","))
        except ValueError:
            message = f"--{option}: '{text}' is not a list of numbers; example: 0.485,0.456,0.406"
            raise ConfigError(message) from None

    def has_values(self) -> bool:
        """True if any option was given."""
        return self != ALL_GUESSED

    def normalizes(self) -> bool:
        """True if the normalization was given, so that it need not be guessed."""
        return any(value is not None for value in (self.normalize, self.mean, self.std, self.scale))


ALL_GUESSED = PictureOptions()
