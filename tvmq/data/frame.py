"""The frame that a model has for a picture: layout, channels and size, read off the shape of its input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tvmq.errors import DataError

CHANNELS = (1, 3)
USUAL_SIZE = 224  # of networks that leave the size open: what most were trained on


@dataclass(frozen=True)
class Frame:
    """One input for pictures.

    input     its name
    layout    "NCHW" or "NHWC"
    channels  1 or 3
    height, width   in pixels; None where the model leaves it free
    dtype     of the input
    """

    input: str
    layout: str
    channels: int
    height: int | None
    width: int | None
    dtype: str = "float32"

    def shape(self, batch: int) -> tuple[int, ...]:
        """Of the input with so many pictures.

        >>> Frame("x", "NCHW", 3, 32, 48).shape(2), Frame("x", "NHWC", 1, 32, 48).shape(1)
        ((2, 3, 32, 48), (1, 32, 48, 1))
        """
        size = (self.height or USUAL_SIZE, self.width or USUAL_SIZE)
        return (batch, self.channels, *size) if self.layout == "NCHW" else (batch, *size, self.channels)


def frame_of(
    shapes: Mapping[str, Sequence[int | None] | None], dtypes: Mapping[str, str], layout: str | None = None
) -> Frame:
    """The frame of a model that takes one picture.

    shapes   {input: shape, None for free dimensions, or None for an unknown rank}
    layout   taken instead of the guess
    raises   DataError for a model of other inputs, saying what pictures need

    >>> frame_of({"x": (None, 3, None, None)}, {"x": "float32"})
    Frame(input='x', layout='NCHW', channels=3, height=None, width=None, dtype='float32')
    """
    found = {name: _layout(shape, layout) for name, shape in shapes.items()}
    usable = [name for name, kind in found.items() if kind]
    if len(shapes) != 1 or len(usable) != 1:
        described = ", ".join(f"'{name}' {_text(shape)}" for name, shape in shapes.items())
        raise DataError(
            f"data: a folder of pictures suits a model with one input of shape (batch, 1 or 3, height, width) or "
            f"(batch, height, width, 1 or 3); this one takes {described}. Give an .npz with its arrays, or a "
            "function as file.py:name"
        )
    name = usable[0]
    kind, shape = found[name], shapes[name]
    if shape is None:
        return Frame(name, kind, 3, None, None, dtypes[name])
    channels, height, width = shape[1:] if kind == "NCHW" else (shape[3], shape[1], shape[2])
    return Frame(name, kind, channels or 3, height, width, dtypes[name])


def _layout(shape: Sequence[int | None] | None, given: str | None) -> str:
    """ "NCHW", "NHWC", or "" for what is no picture."""
    if shape is None:
        return given or "NCHW"
    if len(shape) != 4:
        return ""
    first, last = shape[1] in CHANNELS, shape[3] in CHANNELS
    if given:
        return given if shape[1 if given == "NCHW" else 3] in (*CHANNELS, None) else ""
    if first or last:
        return "NCHW" if first else "NHWC"
    return "NCHW" if shape[1] is None else ""


def _text(shape: Sequence[int | None] | None) -> str:
    return "of unknown rank" if shape is None else f"({', '.join('?' if d is None else str(d) for d in shape)})"
