"""Samples from --data: a folder of pictures, an .npz or .npy, a function; or random values.

Tests: tests/tools/cli/test_quantize_alone.py
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tvmq.calibration.data.normalization import NORMALIZATIONS
from tvmq.calibration.data.picture_preprocessing import PicturePreprocessing
from tvmq.calibration.data.pictures import (
    Frame,
    find_pictures,
    frame_of,
    most_pictures,
    pillow,
    read_pictures,
    size_of_first,
)
from tvmq.calibration.data.sounds import (
    SoundPreprocessing,
    find_sounds,
    is_of_sounds,
    rate_in,
    read_sounds,
    sound_input_of,
)
from tvmq.calibration.data.texts import SUFFIXES as TEXT_SUFFIXES
from tvmq.calibration.data.texts import TextPreprocessing, encode_texts, read_texts, text_inputs_of
from tvmq.calibration.data.user_function import (
    check_place,
    first_item,
    is_function,
    left_out,
    load_function,
    spool_samples,
    without_label,
)
from tvmq.calibration.dataset import Input, check_batch
from tvmq.errors import CalibrationError, DataError
from tvmq.tools.cli.console import notice, step
from tvmq.tools.cli.files import Arrays, check_arrays, is_shared_by_all, member_names, read_arrays, read_member
from tvmq.tools.cli.model import ModelSource, Shape
from tvmq.tools.cli.picture_options import PictureOptions
from tvmq.tools.cli.samples import CALIBRATE, COMPARE, Samples

LABELS = ("labels", "label", "targets", "target", "y")  # arrays of an .npz that are no inputs
MOST_RANDOM = 32
RAW = NORMALIZATIONS["raw"]
CROP = 0.875  # 224 of 256, as ImageNet is evaluated


def missing_data(model: Path, source: ModelSource, mode: str, why: str) -> CalibrationError:
    """Error for missing calibration data; `why` says why the model needs them."""
    return CalibrationError(
        f"quantize: calibrate_mode '{mode}' chooses ranges from data, and scales computed at run time are no "
        f"alternative ({why}); add --data with about 100 typical samples of {_inputs(source)}, in one of these "
        f"forms:{data_forms(model, source)}"
    )


def data_forms(model: Path, source: ModelSource) -> str:
    """Commands that give data, a line for each form."""
    arrays = ", ".join(_keyword(name) for name in source.shapes or ("x",))
    forms = [
        ("--data pictures/", "a folder of images, in subfolders by class if there are any"),
        ("--data samples.npz", f"np.savez('samples.npz', {arrays}), samples first"),
        ("--data my_data.py:batches", "a function that yields batches: arrays, dictionaries, tuples"),
        ("--random-data", "no data: to try the speed, not the accuracy"),
    ]
    shown = forms if _is_picture(source) else forms[1:]
    lines = [f"\n  tvmq quantize {shlex.quote(str(model))} {option:<26} # {what}" for option, what in shown]
    return "".join(lines)


def _inputs(source: ModelSource) -> str:
    return ", ".join(f"'{name}' {_shape_text(shape)}" for name, shape in source.shapes.items())


def _is_picture(source: ModelSource) -> bool:
    try:
        frame_of(source.shapes, source.dtypes)
    except DataError:
        return False
    return True


def _keyword(name: str) -> str:
    return f"{name}=array" if name.isidentifier() else f"**{{'{name}': array}}"


def _shape_text(shape: Shape | None) -> str:
    return "of unknown rank" if shape is None else "x".join("?" if d is None else str(d) for d in shape)


def sample_shapes(samples: Samples | None, frame: Frame | None) -> dict[str, Shape]:
    """{input: shape}, samples first, as `choose_shapes` takes them."""
    if samples is None:
        return {}
    if frame is not None:
        return {frame.input: frame.shape(1)}
    return {name: array.shape for name, array in {**samples.arrays, **samples.shared}.items()}


def open_pictures(
    folder: Path, source: ModelSource, options: PictureOptions, *, count: int, quiet: bool
) -> tuple[Samples, PicturePreprocessing]:
    """Pictures of a folder, resized to the frame of the model; not normalized yet."""
    pillow()
    frame = frame_of(source.shapes, source.dtypes, options.layout)
    files = find_pictures(folder)
    frame = _choose_size(frame, size_of_first(files), quiet=quiet)
    wanted = most_pictures(frame, min(count, len(files.paths)))
    resize = options.resize or (
        "crop" if source.scores and min(frame.height or 0, frame.width or 0) >= 64 else "stretch"
    )
    with step("read pictures", wanted, quiet=quiet) as advance:
        read = read_pictures(files, frame, count=wanted, resize=resize, crop=options.crop or CROP, advance=advance)
    classes = f" of {len(files.classes)} classes (subfolders)" if files.classes else ""
    origin = f"{len(read.array)} of {len(files.paths)} pictures{classes}"
    if not quiet:
        fits = size_of_first(files) == {(frame.height, frame.width)}
        how = "not resized" if fits else _resize_text(frame, resize, options.crop or CROP)
        notice(f"pictures: {origin}; {frame.layout}, {frame.channels} channels, {frame.height}x{frame.width} ({how})")
        for line in read.skipped[:3]:
            notice(f"skipped {line}")
        if read.skipped:
            notice(f"{len(read.skipped)} pictures could not be read and are left out")
    samples = Samples({frame.input: read.array}, origin, read.labels, files.classes)
    samples.skipped, samples.names = read.skipped, read.names
    samples.complete = len(read.array) + len(read.skipped) == len(files.paths)
    return samples, PicturePreprocessing(frame, resize, options.crop or CROP, RAW)


def _resize_text(frame: Frame, resize: str, crop: float) -> str:
    if resize == "crop":
        return f"shorter side resized to {round(min(frame.height or 0, frame.width or 0) / crop)}, center-cropped"
    return "stretched" if resize == "stretch" else "padded with gray"


def _choose_size(frame: Frame, sizes: set[tuple[int, int]], *, quiet: bool) -> Frame:
    """Choose the dynamic sizes of the frame: those of the pictures if they agree, else 224."""
    if frame.height and frame.width:
        return frame
    height, width = next(iter(sizes)) if len(sizes) == 1 else (224, 224)
    why = "the size of these" if len(sizes) == 1 else "since these differ in size"
    chosen = Frame(frame.input, frame.layout, frame.channels, frame.height or height, frame.width or width, frame.dtype)
    if not quiet:
        notice(f"the model takes pictures of any size: using {chosen.height}x{chosen.width}, {why} (--shape)")
    return chosen


def open_arrays(path: Path, source: ModelSource, *, quiet: bool) -> Samples:
    """Read arrays of a file. Where names do not fit, arrays are matched to inputs by shape, with a notice."""
    names, stored = list(source.shapes), member_names(path)
    renamed = {}
    if len(stored) > 1 and not any(name in stored for name in names):
        renamed = _by_shape({name: read_member(path, name) for name in stored if name not in LABELS}, source)
    if renamed and not quiet:
        pairs = ", ".join(f"'{theirs}' for input '{ours}'" for ours, theirs in renamed.items())
        notice(f"data: no array of '{path}' is named as an input; matched by shape: {pairs}")
    is_shared = partial(is_shared_by_all, source.shapes)
    arrays = {ours: read_member(path, theirs) for ours, theirs in renamed.items()}
    arrays = arrays or read_arrays(path, names, is_shared)
    shared = {name: array for name, array in arrays.items() if is_shared(name, array.shape)}
    arrays = {name: array for name, array in arrays.items() if name not in shared}
    _check_layout(arrays, source, quiet=quiet)
    samples = Samples(arrays, f"'{path}'", shared=shared)
    label_name = next((name for name in LABELS if name in stored and name not in arrays), None)
    labels = read_member(path, label_name) if label_name else None
    if labels is not None and labels.ndim and len(labels) == len(samples):
        samples.labels = labels
    elif label_name:
        count = f"{len(labels)} rows" if labels is not None and labels.ndim else "one value"
        what = f"data: '{label_name}' of '{path}' has {count} for {len(samples)} samples"
        if label_name in LABELS[:2]:
            raise DataError(f"{what}; save one label for each sample, or leave the array out")
        if not quiet:
            notice(f"{what} and is not taken as labels")
    return samples


def open_sounds(
    folder: Path, source: ModelSource, *, count: int, quiet: bool
) -> tuple[Samples, SoundPreprocessing]:
    """Sounds of a folder, in the length of the model."""
    name, rank, length = sound_input_of(source.shapes)
    files = find_sounds(folder)
    wanted = min(count, len(files.paths))
    with step("read sounds", wanted, quiet=quiet) as advance:
        read, prepared = read_sounds(
            files, rank, length, name, count=wanted, rate=rate_in(source.metadata), advance=advance
        )
    classes = f" of {len(files.classes)} classes (subfolders)" if files.classes else ""
    origin = f"{len(read.array)} of {len(files.paths)} sounds{classes}"
    if not quiet:
        notice(f"sounds: {origin}; {prepared.length} values at {prepared.rate} Hz, mono, -1..1")
        for line in read.skipped[:3]:
            notice(f"skipped {line}")
    samples = Samples({name: prepared.place(read.array)}, origin, read.labels, files.classes)
    samples.skipped, samples.names = read.skipped, read.names
    samples.complete = len(read.array) + len(read.skipped) == len(files.paths)
    return samples, prepared


def open_texts(
    path: Path, source: ModelSource, tokenizer: Path | None, *, count: int, quiet: bool
) -> tuple[Samples, TextPreprocessing]:
    """Texts of a file, as the words of the model's tokenizer.

    raises  DataError without --tokenizer
    """
    if tokenizer is None:
        raise DataError(f"data: '{path}' holds texts; add --tokenizer tokenizer.json, the model's own")
    roles, length = text_inputs_of(source.shapes, source.dtypes)
    texts, labels = read_texts(path)
    with step("read texts", quiet=quiet):
        arrays, prepared = encode_texts(texts[:count], roles, length, tokenizer)
    typed: dict[str, np.ndarray] = {name: array.astype(source.dtypes[name]) for name, array in arrays.items()}
    origin = f"{len(texts[:count])} of {len(texts)} texts of '{path}'"
    if not quiet:
        notice(f"texts: {origin}; {prepared.length} words, padding included")
    samples = Samples(typed, origin, None if labels is None else labels[:count])
    samples.complete = len(texts) <= count
    return samples, prepared


def _by_shape(members: Mapping[str, np.ndarray], source: ModelSource) -> dict[str, str]:
    """{input: name of its array} by shape; empty unless the shapes leave only one choice."""
    match = {name: [key for key, a in members.items() if _fits(a, shape)] for name, shape in source.shapes.items()}
    chosen = [keys[0] for keys in match.values() if len(keys) == 1]
    unique = len(chosen) == len(source.shapes) == len(set(chosen))
    return {name: keys[0] for name, keys in match.items()} if unique else {}


def _fits(array: np.ndarray, shape: Shape | None) -> bool:
    if shape is None or array.ndim != len(shape):
        return False
    return all(want is None or want == size for want, size in zip(shape[1:], array.shape[1:], strict=True))


def _check_layout(arrays: Arrays, source: ModelSource, *, quiet: bool) -> None:
    """Refuse arrays of pictures in another layout, and mention raw pixels."""
    for name, array in arrays.items():
        shape = source.shapes.get(name)
        if shape is None:
            continue
        if array.ndim + 1 == len(shape) and _fits(array[None], shape):
            raise DataError(
                f"data: input '{name}' takes {_shape_text(shape)}, and the array is one sample of shape {array.shape} "
                "without an axis of samples; save array[None], or better many samples"
            )
        if array.ndim != 4 or len(shape) != 4:
            _check_sizes(name, array, shape)
            continue
        for order in ((0, 3, 1, 2), (0, 2, 3, 1)):
            if not _fits(array, shape) and _fits(array.transpose(order), shape):
                raise DataError(
                    f"data: input '{name}' takes {_shape_text(shape)}, the array is {_shape_text(array.shape)}: its "
                    f"channels are on another axis; save np.transpose(array, {order})"
                )
        _check_sizes(name, array, shape)
        if array.dtype == np.uint8 and source.dtypes.get(name, "").startswith("float") and not quiet:
            notice(f"data: '{name}' holds bytes but the input takes {source.dtypes[name]}: 0..255 are not scaled")


def _check_sizes(name: str, array: np.ndarray, shape: Shape) -> None:
    """Refuse samples of other sizes than the model's, before it is imported. raises DataError"""
    if array.ndim == len(shape) and not _fits(array, shape):
        wanted = _shape_text(shape)
        remark = " (? is any)" if "?" in wanted else ""
        raise DataError(
            f"data: input '{name}' takes {wanted}{remark}, the array is {_shape_text(array.shape)}; "
            "resize the samples as in training, or export the model with these sizes dynamic"
        )


def open_function(
    text: str, source: ModelSource, *, quiet: bool = False
) -> tuple[Callable[..., Any], dict[str, Shape]]:
    """Load the user's function; returns it and the shapes of the first batch that it yields."""
    function = load_function(text, "--data")
    inputs = [
        Input(name, tuple(shape) if shape is not None else (), source.dtypes[name])
        for name, shape in source.shapes.items()
    ]
    item = first_item(function, text)
    extra = left_out(item, inputs)
    if extra and not quiet:
        notice(f"data: ignoring {', '.join(extra)} of {text}: not an input of the model")
    return function, {name: value.shape for name, value in check_batch(without_label(item, inputs), inputs, 0).items()}


def read_function(function: Callable[..., Any], text: str, inputs: list[Input], *, count: int, quiet: bool) -> Samples:
    """Read the first `count` samples that it yields, kept on disk."""
    with step("read data", quiet=quiet) as advance:
        arrays, labels = spool_samples(function, text, inputs, count, advance)
    samples = Samples(arrays, f"{text}", labels)
    if not quiet:
        notice(f"data: {len(samples)} samples of {text}{', with labels' if labels is not None else ''}")
    return samples


def random_samples(inputs: list[Input]) -> Samples:
    """Random values: standard normal for floats, 0..255 for bytes, small numbers for other integers."""
    random = np.random.default_rng(0)

    def values(info: Input) -> np.ndarray:
        shape = (MOST_RANDOM, *(size or 64 for size in info.shape[1:])) if info.shape else ()
        shape = (max(1, MOST_RANDOM * 1_000_000 // max(1_000_000, math.prod(shape))), *shape[1:]) if shape else ()
        kind = np.dtype(info.dtype)
        if kind.kind == "f":
            return random.standard_normal(shape).astype(kind)
        return random.integers(0, 256 if kind.itemsize == 1 and kind.kind == "u" else 2, shape).astype(kind)

    arrays = {info.name: values(info) for info in inputs}
    fewest = min((len(array) for array in arrays.values() if array.ndim), default=1)
    return Samples({n: a[:fewest] if a.ndim else a for n, a in arrays.items()}, "random values", random=True)


def classify_data(text: str) -> str:
    """ "folder", "sounds", "texts", "file" or "function"; DataError for anything else.

    >>> classify_data("load.py:batches")
    'function'
    """
    path = Path(text)
    if path.is_dir():
        return "sounds" if is_of_sounds(path) else "folder"
    if is_function(text):
        return "function"
    if path.is_file() and path.suffix.lower() in TEXT_SUFFIXES:
        return "texts"
    if path.is_file() and path.suffix.lower() not in (".npz", ".npy"):
        raise DataError(
            f"data: '{text}' is not an .npz or .npy file; give a folder of pictures, an .npz or .npy, or a function as "
            "file.py:name"
        )
    if not path.exists() and path.suffix.lower() not in (".npz", ".npy"):
        raise DataError(
            f"data: '{text}' does not exist; give a folder of pictures, an .npz or .npy, or a function as file.py:name"
        )
    return "file"


def check_data(text: str) -> None:
    """Check before the model is read that --data exists and can be opened. raises DataError"""
    kind = classify_data(text)
    if kind == "file":
        check_arrays(Path(text))
    if kind == "folder":
        find_pictures(Path(text))
        pillow()
    if kind == "sounds":
        find_sounds(Path(text))
    if kind == "texts":
        read_texts(Path(text))
    if kind == "function":
        check_place(text, "data")


def sample_limit(samples: int | None, held_out: int | None) -> int:
    """Limit on the samples that are read."""
    return (samples or CALIBRATE) + (COMPARE if held_out is None else held_out)
