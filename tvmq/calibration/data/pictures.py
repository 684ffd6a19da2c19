"""A folder of pictures as samples: which files, of which class, cut to the size of a model.

The frame that a model has for a picture: layout, channels and size, read off the shape of its input.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from tvmq.calibration.data.spool import Spool
from tvmq.errors import DataError

if TYPE_CHECKING:
    from PIL import Image
from collections.abc import Iterable, Mapping, Sequence

CHANNELS = (1, 3)
USUAL_SIZE = 224  # of networks that leave the size open: what most were trained on


@dataclass(frozen=True)
class Frame:
    """An input for pictures.

    input     its name
    layout    "NCHW" or "NHWC"
    channels  1 or 3
    height, width   in pixels; None where the model leaves it dynamic
    dtype     of the input
    """

    input: str
    layout: str
    channels: int
    height: int | None
    width: int | None
    dtype: str = "float32"

    def shape(self, batch: int) -> tuple[int, ...]:
        """Shape of the input for a batch of so many pictures.

        >>> Frame("x", "NCHW", 3, 32, 48).shape(2), Frame("x", "NHWC", 1, 32, 48).shape(1)
        ((2, 3, 32, 48), (1, 32, 48, 1))
        """
        size = (self.height or USUAL_SIZE, self.width or USUAL_SIZE)
        return (batch, self.channels, *size) if self.layout == "NCHW" else (batch, *size, self.channels)


def frame_of(
    shapes: Mapping[str, Sequence[int | None] | None], dtypes: Mapping[str, str], layout: str | None = None
) -> Frame:
    """The frame of a model that takes one picture.

    shapes   {input: shape, None for dynamic dimensions, or None for an unknown rank}
    layout   taken instead of the guess
    raises   DataError for a model of other inputs, saying what pictures need

    >>> frame_of({"x": (None, 3, None, None)}, {"x": "float32"})
    Frame(input='x', layout='NCHW', channels=3, height=None, width=None, dtype='float32')
    """
    layouts = {name: _layout(shape, layout) for name, shape in shapes.items()}
    usable = [name for name, kind in layouts.items() if kind]
    if len(shapes) != 1 or len(usable) != 1:
        described = ", ".join(f"'{name}' {_text(shape)}" for name, shape in shapes.items())
        raise DataError(
            f"data: a folder of pictures suits a model with one input of shape (batch, 1 or 3, height, width) or "
            f"(batch, height, width, 1 or 3); this one takes {described}. Give an .npz with its arrays, or a "
            "function as file.py:name"
        )
    name = usable[0]
    kind, shape = layouts[name], shapes[name]
    if shape is None:
        return Frame(name, kind, 3, None, None, dtypes[name])
    channels, height, width = shape[1:] if kind == "NCHW" else (shape[3], shape[1], shape[2])
    return Frame(name, kind, channels or 3, height, width, dtypes[name])


def _layout(shape: Sequence[int | None] | None, layout: str | None) -> str:
    """ "NCHW", "NHWC", or "" for what is no picture."""
    if shape is None:
        return layout or "NCHW"
    if len(shape) != 4:
        return ""
    first, last = shape[1] in CHANNELS, shape[3] in CHANNELS
    if layout:
        return layout if shape[1 if layout == "NCHW" else 3] in (*CHANNELS, None) else ""
    if first or last:
        return "NCHW" if first else "NHWC"
    return "NCHW" if shape[1] is None else ""


def _text(shape: Sequence[int | None] | None) -> str:
    return "of unknown rank" if shape is None else f"({', '.join('?' if d is None else str(d) for d in shape)})"


SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff", ".gif", ".ppm", ".pgm")
# What Pillow may take them for, whatever they are called: it starts other programs for some formats (PostScript)
FORMATS = ("JPEG", "PNG", "BMP", "WEBP", "TIFF", "GIF", "PPM")
PARTS = {"train", "training", "val", "valid", "validation", "test", "testing", "calib", "calibration"}
RESIZES = ("crop", "stretch", "pad")
MOST_BYTES = 1_000_000_000  # of pictures that are kept on disk
PAD = 114  # gray of the borders: what detectors that pad were trained with


@dataclass(frozen=True)
class Folder:
    """Pictures of a folder.

    root     the folder
    paths    the files, classes taking turns, so that the first so many hold all classes alike
    classes  names of the subfolders, sorted; empty where the pictures are in no subfolders
    labels   index into `classes` for each path; None without classes
    """

    root: Path
    paths: tuple[Path, ...]
    classes: tuple[str, ...] = ()
    labels: tuple[int, ...] | None = None


def find_pictures(folder: Path) -> Folder:
    """Pictures in a folder, or in its subfolders, which then name the classes.

    raises  DataError where there are none
    """
    return find_files(folder, SUFFIXES, "pictures")


def find_files(folder: Path, suffixes: Sequence[str], kind: str) -> Folder:
    """Files of these suffixes, as `find_pictures`; kind: what they are, for messages."""
    own = _files(folder.iterdir(), suffixes)
    below = {one.name: _files(one.rglob("*"), suffixes) for one in sorted(folder.iterdir()) if one.is_dir()}
    below = {name: paths for name, paths in below.items() if paths}
    if len(below) > 1 and {name.lower() for name in below} <= PARTS:
        raise DataError(
            f"data: '{folder}' holds the parts {', '.join(below)} of a data set, which are no classes; give one: "
            f"--data '{folder / next(iter(below))}'"
        )
    if not own and not below:
        others = sum(1 for path in folder.rglob("*") if path.is_file())
        holds = f"holds no {kind} ({', '.join(suffixes)}) but {others} other files" if others else "is empty"
        raise DataError(
            f"data: '{folder}' {holds}; give the folder with the {kind}, or with one subfolder of {kind} for each class"
        )
    if own or len(below) == 1:  # files beside folders, or one folder in another: no classes
        return Folder(folder, tuple(chain(own, *below.values())))
    ordered = [[(path, label) for path in paths] for label, paths in enumerate(below.values())]
    turns = [one for one in chain.from_iterable(zip_longest(*ordered)) if one]
    return Folder(folder, tuple(path for path, _ in turns), tuple(below), tuple(label for _, label in turns))


def _files(paths: Iterable[Path], suffixes: Sequence[str]) -> list[Path]:
    files = (path for path in paths if path.suffix.lower() in suffixes)
    return sorted(path for path in files if path.is_file() and not path.name.startswith("."))


@dataclass
class Pictures:
    """Pictures that were read: uint8, of shape (count, height, width, channels), on disk.

    labels   class of each; None without classes
    names    paths below the folder
    skipped  files that could not be read, with the reason
    """

    array: np.ndarray
    labels: np.ndarray | None
    names: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)


def read_pictures(
    folder: Folder,
    frame: Frame,
    *,
    count: int,
    resize: str,
    crop: float,
    advance: Callable[[], None] = lambda: None,
) -> Pictures:
    """The first `count` pictures that can be read, in the size of the frame.

    resize   as `fit` takes it
    raises   DataError if none can be read
    """
    spool, skipped, labels, names = Spool(), [], [], []
    for index, path in enumerate(folder.paths):
        if spool.count == count:
            break
        picture = read_picture(path, frame.channels)
        if isinstance(picture, str):
            skipped.append(f"{path}: {picture}")
            continue
        spool.append(np.asarray(fit(picture, frame, resize, crop)).reshape(frame_shape(frame)))
        names.append(path.relative_to(folder.root).as_posix())
        labels.append(folder.labels[index] if folder.labels is not None else 0)
        advance()
    if not spool.count:
        raise DataError(f"data: none of {len(folder.paths)} pictures can be read, first {skipped[0]}; copy them again")
    return Pictures(spool.array(), np.array(labels) if folder.labels is not None else None, names, skipped)


def frame_shape(frame: Frame) -> tuple[int, int, int]:
    """(height, width, channels)"""
    return (frame.height or USUAL_SIZE, frame.width or USUAL_SIZE, frame.channels)


def most_pictures(frame: Frame, wanted: int) -> int:
    """How many of the wanted pictures fit into MOST_BYTES, at least 16."""
    return max(16, min(wanted, MOST_BYTES // int(np.prod(frame_shape(frame)))))


def pillow() -> None:
    """DataError unless pictures can be read."""
    try:
        import PIL.Image  # noqa: F401
    except ImportError:
        raise DataError(
            "data: reading pictures needs pillow, which is not installed; pip install pillow (or tvmq[images])"
        ) from None


def size_of_first(folder: Folder, count: int = 8) -> set[tuple[int, int]]:
    """(height, width) of the first pictures that can be opened."""
    from PIL import Image

    sizes = set()
    for path in folder.paths[:count]:
        try:
            with Image.open(path, formats=FORMATS) as picture:
                sizes.add((picture.height, picture.width))
        except Exception:  # read_pictures counts it
            continue
    return sizes


def read_picture(source: Path | BinaryIO, channels: int) -> Image.Image | str:
    """The picture of a file upright in so many channels, or why it cannot be read."""
    from PIL import Image, ImageOps

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # palettes with transparency, odd metadata
            warnings.simplefilter("error", Image.DecompressionBombWarning)  # 90 million pixels, from some 100 kB
            with Image.open(source, formats=FORMATS) as picture:
                upright = ImageOps.exif_transpose(picture)
                return _eight_bits(upright).convert("RGB" if channels == 3 else "L")
    except Exception as error:  # Pillow's own, struct's, zlib's, a bomb
        return f"{type(error).__name__}: {error}".splitlines()[0]


def _eight_bits(picture: Image.Image) -> Image.Image:
    """16-bit gray as 8 bits: Pillow's own conversion would clip it."""
    if not picture.mode.startswith("I"):
        return picture
    from PIL import Image

    values = np.asarray(picture)
    return Image.fromarray((values >> 8 if values.max() > 255 else values).astype(np.uint8))


def fit(picture: Image.Image, frame: Frame, resize: str, crop: float) -> Image.Image:
    """The picture in the frame's size, bilinear.

    resize   "crop": its shorter side becomes the frame's divided by `crop`, and the centre is cut out; "stretch": its
             sides become the frame's, whatever that does to proportions; "pad": it fits in whole, with gray borders
    """
    from PIL import Image, ImageOps

    size = (frame.width or USUAL_SIZE, frame.height or USUAL_SIZE)
    if picture.size == size:
        return picture
    if resize == "stretch":
        return picture.resize(size, Image.Resampling.BILINEAR)
    if resize == "pad":
        return ImageOps.pad(picture, size, Image.Resampling.BILINEAR, color=(PAD,) * len(picture.getbands()))
    ratio = max(size[0] / picture.width, size[1] / picture.height) / crop
    larger = picture.resize(
        tuple(max(w, round(side * ratio)) for side, w in zip(picture.size, size, strict=True)),  # type: ignore[arg-type]
        Image.Resampling.BILINEAR,
    )
    left, top = ((larger.width - size[0]) // 2, (larger.height - size[1]) // 2)
    return larger.crop((left, top, left + size[0], top + size[1]))
