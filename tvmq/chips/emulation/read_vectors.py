"""Test vectors and a device's answers, read back from files that may be damaged, or written by somebody else.

Every field is checked, and what the vectors say that the chip must answer is computed again: vectors whose parts do not
belong together are refused before a device is blamed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tvmq.base.array_file import UNREADABLE, ArrayFile, array_errors
from tvmq.base.schema import (
    checked_choice,
    checked_fields,
    checked_int,
    checked_list,
    checked_number,
    checked_text,
    inside,
    refuse,
)  # fmt: skip
from tvmq.base.text import read_json
from tvmq.chips.emulation.arithmetic import Arithmetic
from tvmq.chips.emulation.cases import Vector
from tvmq.chips.emulation.chip_json import arithmetic_from
from tvmq.chips.emulation.single import OPERATORS
from tvmq.errors import ConfigError, DataError, TvmqError
from tvmq.numerics.code_type import CODES_16

VERSION = 1
MANIFEST = ("version", "backend", "seed", "chips", "cases")
ENTRY = ("name", "operator", "branch", "file", "attributes", "arrays")
NAME = re.compile(r"[A-Za-z0-9_-]+")
TYPES = (*CODES_16, "uint16", "int32")
SIDE, LARGEST = 256, 2**31  # of windows and their borders; of codes and zero points
# Attribute -> how it is checked, and what every operator has
ATTRIBUTES: dict[str, Callable[[Any, str], Any]] = {
    **dict.fromkeys(("x_dtype", "w_dtype", "dtype"), lambda value, path: checked_choice(value, path, TYPES)),
    **dict.fromkeys(("x_scale", "w_scale", "y_scale"), lambda value, path: _scale(value, path)),
    **dict.fromkeys(
        ("x_zero", "w_zero", "y_zero", "qmin", "qmax"), lambda value, path: checked_int(value, path, -LARGEST, LARGEST)
    ),
    **dict.fromkeys(("strides", "dilation", "kernel"), lambda value, path: _sizes(value, path, 2, 1)),
    "padding": lambda value, path: _sizes(value, path, 4, 0),
    "groups": lambda value, path: checked_int(value, path, 1, LARGEST),
}
ALWAYS = ("x_dtype", "w_dtype", "dtype", "x_scale", "y_scale", "x_zero", "y_zero", "qmin", "qmax")
WINDOWS = ("kernel", "strides", "padding")
# Operator -> further attributes that it needs, its arrays
CONVOLUTION = (("strides", "padding", "dilation", "groups"), ("x", "w", "bias", "scale_w"))
NEEDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "conv2d": CONVOLUTION, "depthwise": CONVOLUTION, "dense": ((), CONVOLUTION[1]),
    **dict.fromkeys(("multiply", "add"), (("w_scale", "w_zero"), ("x", "w"))),
    **dict.fromkeys(("average", "maximum", "pad"), (WINDOWS, ("x",))),
    "requantize": ((), ("acc", "scale_w")), "table": ((), ("x", "values")), "quantize": ((), ("x",)),
    "dequantize": ((), ("x",)),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class CaseAnswer:
    """A case with what the chip must answer and what the device did."""

    case: Vector
    wanted: np.ndarray
    answer: np.ndarray


def read_vectors(folder: Path) -> tuple[dict[str, Arithmetic], list[tuple[Vector, np.ndarray]]]:
    """How the chip computes each operator, and the cases of a folder with what must be answered.

    raises   DataError for a folder that holds none, or whose files do not belong together
    """
    where = folder / "manifest.json"
    try:
        manifest = checked_fields(read_json(where.read_bytes()), f"{where}:", MANIFEST, MANIFEST)
        if manifest["version"] != VERSION:
            raise DataError(
                f"conformance: '{folder}' has vectors of version {manifest['version']!r}, this tvmq reads {VERSION}; "
                "write them again"
            )
        chips = _chips(manifest["chips"], inside(f"{where}:", "chips"))
        path = inside(f"{where}:", "cases")
        entries = checked_list(manifest["cases"], path)
        cases = [_read(folder, entry, inside(path, place), chips) for place, entry in enumerate(entries)]
        if not cases:
            refuse(path, "must be a list of at least one case. Got 0 instead")
        return chips, cases
    except ConfigError as error:
        raise DataError(f"conformance: {error}; write the vectors again") from error
    except TvmqError:
        raise
    except (*UNREADABLE, RecursionError) as error:
        raise DataError(f"conformance: '{folder}' holds no vectors that can be read ({error}); write them") from error


def _chips(data: Any, path: str) -> dict[str, Arithmetic]:
    operators = checked_fields(data, path, tuple(OPERATORS))
    return {operator: arithmetic_from(fields, inside(path, operator)) for operator, fields in operators.items()}


def _read(folder: Path, data: Any, path: str, chips: Mapping[str, Arithmetic]) -> tuple[Vector, np.ndarray]:
    entry = checked_fields(data, path, ENTRY, ENTRY)
    operator = checked_choice(entry["operator"], inside(path, "operator"), tuple(chips))
    first, _, name = checked_text(entry["name"], inside(path, "name")).partition("/")
    if first != operator or not NAME.fullmatch(name):
        refuse(inside(path, "name"), f"must be '{operator}/' and letters, digits or '_'. Got {entry['name']!r} instead")
    if entry["file"] != f"{operator}/{name}.npz":
        refuse(inside(path, "file"), f"must be '{operator}/{name}.npz'. Got {entry['file']!r} instead")
    attributes = _attributes(entry["attributes"], inside(path, "attributes"), operator)
    file = ArrayFile(folder / operator / f"{name}.npz")
    arrays = {array: file[array] for array in file.names or ()}
    forms = {array: [values.dtype.name, list(values.shape)] for array, values in arrays.items()}
    if forms != entry["arrays"] or set(forms) != {*NEEDS[operator][1], "y"}:
        refuse(inside(path, "arrays"), f"must be what '{entry['file']}' holds, {forms}")
    wanted = arrays.pop("y")
    case = Vector(name, operator, checked_text(entry["branch"], inside(path, "branch")), attributes, arrays)
    _check_wanted(case, chips[operator], wanted, path)
    return case, wanted


def _check_wanted(case: Vector, chip: Arithmetic, wanted: np.ndarray, path: str) -> None:
    """The answer that is wanted is the one that the chip makes."""
    try:
        with np.errstate(all="ignore"):
            y = case.compute(chip).y
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        refuse(path, f"'{case.operator}/{case.name}' cannot be computed ({error})")
    if y.dtype != wanted.dtype or not np.array_equal(y, wanted, equal_nan=True):
        refuse(path, f"'{case.operator}/{case.name}' wants another answer than its chip makes")


def _attributes(data: Any, path: str, operator: str) -> dict[str, Any]:
    required = (*ALWAYS, *NEEDS[operator][0])
    fields = checked_fields(data, path, tuple(ATTRIBUTES), required)
    return {name: ATTRIBUTES[name](value, inside(path, name)) for name, value in fields.items()}


def _scale(value: Any, path: str) -> float:
    with np.errstate(all="ignore"):
        scale = np.float32(checked_number(value, path))
    if not 0 < scale < np.inf:
        refuse(path, f"must be a positive float32. Got {value!r} instead")
    return float(value)


def _sizes(value: Any, path: str, count: int, least: int) -> list[int]:
    sizes = checked_list(value, path)
    if len(sizes) != count:
        refuse(path, f"must be {count} numbers. Got {len(sizes)} instead")
    return [checked_int(size, inside(path, place), least, SIDE) for place, size in enumerate(sizes)]


def read_answers(path: Path, cases: Sequence[tuple[Vector, np.ndarray]]) -> tuple[list[CaseAnswer], list[str]]:
    """Answers of a device, and the names of the cases without one.

    path     an .npz, or a folder of .npy files, by the names of cases
    raises   DataError where there is not one answer, or one that cannot be read, or is of another shape or type
    """
    load_array = _lookup(path)
    answered, missing = [], []
    for case, wanted in cases:
        name = f"{case.operator}/{case.name}"
        with array_errors(f"conformance: the answer to {name}", "copy it again"):
            answer = load_array(name)
        if answer is None:
            missing.append(name)
        else:
            answered.append(CaseAnswer(case, wanted, _convert_answer(answer, wanted, name)))
    if not answered:
        raise DataError(
            f"conformance: '{path}' has no answer to any of {len(cases)} cases; name files as cases, for example "
            f"'{cases[0][0].operator}/{cases[0][0].name}.npy'"
        )
    return answered, missing


def _convert_answer(answer: np.ndarray, wanted: np.ndarray, name: str) -> np.ndarray:
    """An answer in the shape and type that is wanted."""
    if answer.size != wanted.size:
        raise DataError(f"conformance: the answer to {name} has shape {answer.shape}, wanted {wanted.shape}")
    if answer.dtype.kind not in ("f" if wanted.dtype.kind == "f" else "iu"):
        raise DataError(
            f"conformance: the answer to {name} is {answer.dtype.name}, wanted {wanted.dtype.name}; answer codes"
        )
    if wanted.dtype.kind != "f":
        limits = np.iinfo(wanted.dtype)
        least, most = int(answer.min(initial=limits.max)), int(answer.max(initial=limits.min))
        if least < limits.min or most > limits.max:
            outside = least if least < limits.min else most
            raise DataError(f"conformance: the answer to {name} holds {outside}, which is no {wanted.dtype.name}")
    return answer.reshape(wanted.shape).astype(wanted.dtype)


def _lookup(path: Path) -> Callable[[str], np.ndarray | None]:
    if path.is_file():
        with array_errors(f"conformance: '{path}'", "give an .npz or a folder of .npy files"):
            file = ArrayFile(path)
        return lambda name: file[name] if name in (file.names or ()) else None

    def load_array(name: str) -> np.ndarray | None:
        one = path / f"{name}.npy"
        if one.is_file():
            return ArrayFile(one).array()
        whole = path / f"{name}.npz"
        if not whole.is_file():
            return None
        archive = ArrayFile(whole)
        names = list(archive.names or ["y"])
        return archive["y" if "y" in names else names[0]]

    return load_array
