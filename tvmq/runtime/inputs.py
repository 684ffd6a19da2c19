"""Inputs and outputs of an executable, and the checks of arrays before a run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np

from tvmq.errors import DataError

ENDLESS = 2**31 - 1  # a size that nothing limits may be so large


@dataclass(frozen=True)
class TensorInfo:
    """An input or output: name, shape, element type; scale and zero point of its codes in the integer core.

    A dynamic dimension is the text of its name, ("batch", 3, 224, 224), or of what it is computed by, "2*rows".

    >>> print(TensorInfo("x", (1, 3), "float32"))
    x float32[1, 3]
    """

    name: str
    shape: tuple[int | str, ...]
    dtype: str
    scale: Any = None
    zero_point: Any = None

    def __str__(self) -> str:
        return f"{self.name} {self.dtype}[{', '.join(map(str, self.shape))}]"


def infos(described: Sequence[Mapping[str, Any]]) -> tuple[TensorInfo, ...]:
    """Tensors of a module's description."""
    return tuple(TensorInfo(**{**facts, "shape": tuple(facts["shape"])}) for facts in described)


def fits(shape: Sequence[int], wanted: Sequence[int | str]) -> bool:
    """True for the shape of an input, dynamic dimensions of any size.

    >>> fits((2, 3), ("batch", 3)), fits((2, 4), ("batch", 3)), fits((2,), ("batch", 3))
    (True, False, False)
    """
    return len(shape) == len(wanted) and all(
        isinstance(want, str) or want == have for have, want in zip(shape, wanted, strict=True)
    )


class Inputs:
    """Aligned memory for the inputs of a model, and the checks of what is put there.

    TVM's kernels crash on arrays that are not aligned to 64 bytes, and NumPy's hardly ever are: all are
    copied.

    arrays   one array an input, in order; each begins at a multiple of 64 bytes. Dynamic dimensions are 0 in them
    """

    def __init__(self, wanted: Sequence[TensorInfo]) -> None:
        self.wanted = tuple(wanted)
        self._fitting = {info.shape: info.shape for info in wanted}  # {shape as described: a shape that fits it}
        shapes = [[0 if isinstance(size, str) else size for size in info.shape] for info in wanted]
        self.arrays = [aligned_zeros(shape, info.dtype) for shape, info in zip(shapes, wanted, strict=True)]

    def check(self, inputs: Mapping[str, Any], *, check_finite: bool = False) -> list[np.ndarray]:
        """The arrays in order, of the right shapes and types; nothing is changed yet.

        raises   DataError naming the input, what it is and what the model takes
        """
        if type(inputs) is not dict and not isinstance(inputs, Mapping):
            kind = type(inputs).__name__
            raise DataError(f"run: inputs must be {{name: array}}. Got {kind} instead; exe(x) takes arrays")
        if len(inputs) != len(self.wanted):
            _check_names(inputs, self.wanted)
        arrays = []
        for info, own in zip(self.wanted, self.arrays, strict=True):
            array = inputs.get(info.name)
            if array is None:
                _check_names(inputs, self.wanted)
            # What fits as it is has one short way: this is most of what a call costs in Python.
            if (
                type(array) is not np.ndarray
                or array.shape != self._fitting[info.shape]
                or array.dtype is not own.dtype
            ):
                # of a cache that has grown only the shape is another
                if type(array) is not np.ndarray or array.dtype is not own.dtype or not fits(array.shape, info.shape):
                    array = convert_value(array, info)
                self._fitting[info.shape] = array.shape
            if check_finite:
                refuse_not_finite(array, f"input '{info.name}'", "repair the preprocessing")
            arrays.append(array)
        return arrays

    def by_position(self, arrays: Sequence[Any]) -> dict[str, Any]:
        """Arrays in order as {name: array}."""
        if len(arrays) != len(self.wanted):
            names = [info.name for info in self.wanted]
            raise DataError(f"run: {len(arrays)} arrays given, the model takes {len(names)}: {names}")
        return {info.name: array for info, array in zip(self.wanted, arrays, strict=True)}


def aligned_zeros(shape: Sequence[int], dtype: str) -> np.ndarray:
    """Zeros that begin at a multiple of 64 bytes, as TVM's kernels need.

    >>> aligned_zeros((2, 3), "float32").ctypes.data % 64, aligned_zeros((2, 0), "float32").ctypes.data % 64
    (0, 0)
    """
    kind = np.dtype(dtype)
    memory = np.zeros(kind.itemsize * math.prod(shape) + 64, np.uint8)
    return np.ndarray(tuple(shape), kind, memory, -memory.__array_interface__["data"][0] % 64)


def convert_value(value: Any, info: TensorInfo) -> np.ndarray:
    """A value as an array of the model's shape and element type.

    Floats take any number, integers only integers in their range, bool only bool.
    raises   DataError naming the input, what it is and what the model takes
    """
    try:
        array = np.asarray(value)
    except Exception as error:  # ragged lists, tensors on other devices, ...
        kind = type(value).__name__
        raise DataError(f"run: input '{info.name}' is a {kind} that makes no array ({error})") from error
    wanted = np.dtype(info.dtype)
    if not fits(array.shape, info.shape):
        shape = f"({', '.join(map(str, info.shape))}{',' * (len(info.shape) == 1)})"
        several = array.ndim and fits((1, *array.shape[1:]), info.shape)
        way = "; Executable.run_many takes any number of samples, as a dynamic batch does" if several else ""
        raise DataError(f"run: input '{info.name}' has shape {array.shape}, the model takes {shape}{way}")
    if array.dtype.kind not in _SOURCES[wanted.kind]:
        is_quantized = hasattr(value, "qparams")  # a QTensor, whose array has its real values
        way = "give its codes, .int_repr()" if is_quantized else f"convert it on purpose, with astype('{info.dtype}')"
        raise DataError(f"run: input '{info.name}' is {array.dtype}, the model takes {info.dtype}; {way}")
    if wanted.kind in "iu" and array.size:
        _check_range(array, info, wanted)
    with np.errstate(over="ignore"):  # float64 beyond float32 becomes infinite, and infinities clip
        return array.astype(wanted, copy=False)


# Kind of the model's element type -> kinds of arrays that it takes.
_SOURCES = {"f": "fiub", "i": "iub", "u": "iub", "b": "b"}


def _check_range(array: np.ndarray, info: TensorInfo, wanted: np.dtype[Any]) -> None:
    limits = np.iinfo(wanted)
    lowest, highest = int(array.min()), int(array.max())
    if lowest < limits.min or highest > limits.max:
        raise DataError(
            f"run: input '{info.name}' holds {lowest}..{highest}, "
            f"the model takes {info.dtype}: {limits.min}..{limits.max}"
        )


def refuse_not_finite(array: np.ndarray, place: str, advice: str) -> None:
    """DataError for NaN and infinities; place: such as "input 'x'"."""
    if array.dtype.kind != "f" or np.isfinite(array).all():
        return
    bad = ~np.isfinite(array)
    raise DataError(
        f"run: {place} holds {int(bad.sum())} NaN or infinite values of {array.size}, "
        f"first at {np.argwhere(bad)[0].tolist()}; {advice}"
    )


def _check_names(inputs: Mapping[str, Any], wanted: Sequence[TensorInfo]) -> None:
    """DataError for an input that the model does not have, or that is missing."""
    names = [info.name for info in wanted]
    for name in inputs:
        if name not in names:
            close = get_close_matches(str(name), names, n=1)
            hint = f"; did you mean '{close[0]}'?" if close else ""
            raise DataError(f"run: the model has no input '{name}', it takes {names}{hint}")
    for name in names:
        if inputs.get(name) is None:
            raise DataError(f"run: input '{name}' is missing; the model takes {names}")


def has_dynamic_shape(info: TensorInfo) -> bool:
    """True for a tensor with a dimension that is a name.

    >>> [has_dynamic_shape(TensorInfo("x", shape, "float32")) for shape in (("batch", 3), (1, 3))]
    [True, False]
    """
    return any(isinstance(size, str) for size in info.shape)


def sizes_of_inputs(
    infos: Sequence[TensorInfo], arrays: Sequence[Any], limits: Mapping[str, Mapping[str, Any]]
) -> dict[str, int]:
    """{dynamic dimension: size}, the same in all inputs.

    arrays   of which only the shapes are read
    limits   {dynamic dimension: {"least", "most", "why", "multiple"}}, see graph/analysis/limits.py
    raises   DataError for inputs that disagree, and for a size that the model does not take
    """
    sizes: dict[str, int] = {}
    where: dict[str, str] = {}
    sums: list[tuple[str, int, str, int]] = []
    checked: dict[tuple[int | str, ...], tuple[int, ...]] = {}  # {shape as described: shape} of inputs before
    for info, array in zip(infos, arrays, strict=True):
        if checked.get(info.shape) == array.shape:
            continue
        checked[info.shape] = array.shape
        for axis, (name, size) in enumerate(zip(info.shape, array.shape, strict=True)):
            if not isinstance(name, str):
                continue
            if not name.isidentifier():
                sums.append((info.name, axis, name, size))
                continue
            if sizes.setdefault(name, size) != size:
                raise DataError(
                    f"run: input '{info.name}' has {size} for '{name}' (axis {axis}), input '{where[name]}' has "
                    f"{sizes[name]}; they must be equal"
                )
            where.setdefault(name, info.name)
            refusal = describe_refusal(limits.get(name), size)
            if refusal:
                raise DataError(f"run: input '{info.name}' has {size} for '{name}' (axis {axis}), {refusal}")
    for source, axis, text, size in sums:
        if (wanted := size_of_text(text, sizes)) not in (None, size):
            raise DataError(
                f"run: input '{source}' has {size} for '{text}' (axis {axis}), the other inputs make that {wanted}; "
                "they must be equal"
            )
    return sizes


def size_of_text(text: str, sizes: Mapping[str, int]) -> int | None:
    """The number that a sum of dimensions stands for; None for other texts.

    >>> size_of_text("past + words", {"past": 3, "words": 2}), size_of_text("words + 1", {"words": 2})
    (5, 3)
    >>> size_of_text("(rows - 1) // 2", {"rows": 2})
    """
    terms = [term.strip() for term in text.split("+")]
    if not all(term.isdigit() or term in sizes for term in terms):
        return None
    return sum(int(term) if term.isdigit() else sizes[term] for term in terms)


def describe_refusal(limit: Mapping[str, Any] | None, size: int) -> str:
    """Say what sizes the model takes, and why, for one that it does not take; "" for a size within the limit.

    limit   {"least", "most", "why"}, and "multiple" where only multiples of a number are taken

    >>> describe_refusal({"least": 1, "most": 512, "why": "a table"}, 600)
    'the model takes 1 to 512: a table'
    >>> describe_refusal({"least": 2, "most": 2**31 - 1, "why": ""}, 1)
    'the model takes at least 2'
    >>> describe_refusal({"least": 1, "most": 512, "why": "", "multiple": 32}, 100)
    'the model takes multiples of 32; pad or resize what is given'
    """
    if limit is None:
        return ""
    if not limit["least"] <= size <= limit["most"]:
        return f"the model takes {_range_text(limit)}" + (f": {limit['why']}" if limit["why"] else "")
    multiple = limit.get("multiple", 1)
    return f"the model takes multiples of {multiple}; pad or resize what is given" if size % multiple else ""


def _range_text(limit: Mapping[str, Any]) -> str:
    least, most = limit["least"], limit["most"]
    if most >= ENDLESS:
        return f"at least {least}"
    return f"{least} to {most}" if least else f"at most {most}"
