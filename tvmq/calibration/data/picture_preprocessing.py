"""Preprocessing of pictures that a model keeps: how a picture becomes its input, and what its classes are called.

    picture file, or uint8 pixels -> size of the model (resize) -> normalization -> layout and type of the input
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tvmq.calibration.data.normalization import BGR, GRAY, RGB, Normalization
from tvmq.calibration.data.pictures import CHANNELS, RESIZES, Frame, fit, frame_shape, pillow, read_picture
from tvmq.errors import ArtifactError, DataError

KEY = "picture"  # of the ledger's entry
LARGEST = 2**14  # side of an input, in pixels


@dataclass(frozen=True)
class PicturePreprocessing:
    """Function from a picture to the input of a model, as the model was calibrated with it.

    frame          name, layout, channels, size and type of the input
    resize         "crop", "stretch" or "pad", see `tvmq quantize --help`
    crop           share of the shorter side that "crop" keeps
    normalization  of the pixels

        y, = exe.run({exe.preprocessing.frame.input: exe.preprocessing("photo.jpg")})
    """

    frame: Frame
    resize: str
    crop: float
    normalization: Normalization

    def __call__(self, picture: str | Path | bytes | np.ndarray) -> np.ndarray:
        """Input of one sample, of shape (1, channels, height, width) or (1, height, width, channels).

        picture  a file, or its bytes; or pixels, uint8 (height, width, channels), red first, or (height, width)
        raises   DataError for what is no picture, and without pillow
        """
        return self.normalize(self.pixels(picture)[None])

    def pixels(self, picture: str | Path | bytes | np.ndarray) -> np.ndarray:
        """The picture in the size of the model: uint8 (height, width, channels); errors as those of a call."""
        pillow()
        if isinstance(picture, str | Path | bytes):
            source = io.BytesIO(picture) if isinstance(picture, bytes) else Path(picture)
            image = read_picture(source, self.frame.channels)
            if isinstance(image, str):
                named = f"{len(picture)} bytes" if isinstance(picture, bytes) else f"'{picture}'"
                raise DataError(f"preprocessing: {named} cannot be read as a picture ({image})")
        else:
            image = _image_of(np.asarray(picture), self.frame.channels)
        return np.asarray(fit(image, self.frame, self.resize, self.crop)).reshape(frame_shape(self.frame))

    def normalize(self, pixels: np.ndarray) -> np.ndarray:
        """Input of the model from pictures of its size: uint8 (count, height, width, channels)."""
        return normalize_pictures(pixels, self.frame, self.normalization)

    def __str__(self) -> str:
        size = f"{self.frame.height}x{self.frame.width}"
        return f"pictures of {size} ({self.resize}), {self.normalization.formula()}, {self.frame.layout}"

    def to_json(self) -> dict[str, Any]:
        """The fields as JSON has them."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> PicturePreprocessing:
        """The inverse of `to_json`. raises ArtifactError for fields that are not its own, as those of a damaged file"""
        try:
            numbers = dict(fields["normalization"])
            numbers |= {name: tuple(map(float, numbers[name])) for name in ("mean", "std")}
            result = cls(Frame(**fields["frame"]), fields["resize"], float(fields["crop"]), Normalization(**numbers))
            is_right = result._is_possible()
        except (KeyError, TypeError, ValueError):
            is_right = False
        if not is_right:
            raise ArtifactError("preprocessing: what the model keeps of it is damaged; quantize the model again")
        return result

    def _is_possible(self) -> bool:
        """True for sizes that pictures have, and words that are known."""
        frame, one = self.frame, self.normalization
        return (
            all(type(size) is int and 0 < size <= LARGEST for size in (frame.height, frame.width))
            and (frame.channels in CHANNELS and frame.layout in ("NCHW", "NHWC") and isinstance(frame.input, str))
            and np.dtype(frame.dtype).kind in "fiu"
            and (self.resize in RESIZES and 0 < self.crop <= 1 and one.color in (RGB, BGR, GRAY))
            and all(len(values) in (1, frame.channels) for values in (one.mean, one.std))
            and isinstance(one.scale, int | float)
        )


def normalize_pictures(pixels: np.ndarray, frame: Frame, normalization: Normalization) -> np.ndarray:
    """Input of a model, in its layout and type, from pictures: uint8 (count, height, width, channels)."""
    values = normalization(pixels)
    placed = values if frame.layout == "NHWC" else values.transpose(0, 3, 1, 2)
    kind = np.dtype(frame.dtype)
    if kind.kind in "iu":  # codes: whole numbers
        placed = np.clip(np.rint(placed), np.iinfo(kind).min, np.iinfo(kind).max)
    return np.ascontiguousarray(placed, dtype=kind)


def _image_of(pixels: np.ndarray, channels: int) -> Any:
    """Pixels as a picture of Pillow, in so many channels."""
    from PIL import Image

    if pixels.dtype != np.uint8 or pixels.ndim not in (2, 3) or (pixels.ndim == 3 and pixels.shape[2] not in (1, 3)):
        raise DataError(
            f"preprocessing: pixels must be uint8 of shape (height, width) or (height, width, 1 or 3). "
            f"Got {pixels.dtype} of shape {pixels.shape} instead"
        )
    if not pixels.size:
        raise DataError(f"preprocessing: the picture of shape {pixels.shape} has no pixels")
    flat = pixels[..., 0] if pixels.ndim == 3 and pixels.shape[2] == 1 else pixels
    return Image.fromarray(np.ascontiguousarray(flat)).convert("RGB" if channels == 3 else "L")
