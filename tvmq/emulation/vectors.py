"""`tvmq.conformance`: test vectors of a described chip in files, and the device's answers read back.

    vectors/manifest.json                  the name of the chip, how it computes each operator, and a list of all cases
    vectors/conv2d/strides_2_int8.npz      the arrays of one case, and "y", what the chip must answer
    answers/conv2d/strides_2_int8.npy      what a device answered; or one answers.npz with "conv2d/strides_2_int8"

A case of the manifest has "name", "operator", "branch", "file", "attributes" and "arrays" ({name: [type, shape]}).
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tvmq.array_file import ArrayFile
from tvmq.backends import backend_named
from tvmq.backends.description import Backend
from tvmq.emulation.arithmetic import Arithmetic
from tvmq.emulation.cases import Case, cases_of
from tvmq.emulation.description import arithmetic_dict, arithmetic_from
from tvmq.emulation.makers import chip_of
from tvmq.errors import DataError
from tvmq.whole_file import output_errors, write_file

VERSION = 1
OLDEST = (1980, 1, 1, 0, 0, 0)  # the time in archives, so that they are the same bytes


@dataclass(frozen=True)
class Vectors:
    """What was written.

    folder   where
    cases    how many, by operator
    values   that a device is asked for
    """

    folder: Path
    cases: dict[str, int]
    values: int

    def __str__(self) -> str:
        listed = ", ".join(f"{operator} {count}" for operator, count in self.cases.items())
        return f"{sum(self.cases.values())} vectors, {self.values} values to answer: {listed}"


def conformance(backend: str | Backend | None, folder: str | Path, *, seed: int = 0) -> Vectors:
    """Write test vectors for every operator and branch of a described chip.

    backend  a tvmq.Backend, its "module:object", a JSON file, or a name of tvmq.backends
    folder   made where it is not there
    seed     of all that is drawn: the same description and seed give the same bytes
    raises   OutputError for a folder that cannot be written
    """
    description, folder = backend_named(backend), Path(folder)
    entries, counts, values = [], dict[str, int](), 0
    cases = cases_of(description, seed)
    chips = {operator: chip_of(description, operator) for operator in dict.fromkeys(case.operator for case in cases)}
    with _all_or_none(folder) as written:
        for case in cases:
            y = case.made(chips[case.operator]).y
            arrays = {**case.arrays, "y": y}
            file = folder / case.operator / f"{case.name}.npz"
            file.parent.mkdir(parents=True, exist_ok=True)
            written.append(write_file(file, _archive(arrays), "conformance"))
            entries.append(_entry(case, arrays))
            counts[case.operator] = counts.get(case.operator, 0) + 1
            values += y.size
        manifest: dict[str, Any] = {"version": VERSION, "backend": description.name, "seed": seed}
        manifest["chips"] = {operator: arithmetic_dict(chip) for operator, chip in chips.items()}
        text = json.dumps({**manifest, "cases": entries}, indent=1) + "\n"
        write_file(folder / "manifest.json", text.encode(), "conformance")
    return Vectors(folder, counts, values)


@contextmanager
def _all_or_none(folder: Path) -> Iterator[list[Path]]:
    """A list for the files that are written; on an error they go, and there is no manifest of others either."""
    written: list[Path] = []
    with output_errors(f"conformance: cannot write in '{folder}'", "choose another folder or make room"):
        (folder / "manifest.json").unlink(missing_ok=True)
        try:
            yield written
        except BaseException:
            for file in written:
                file.unlink(missing_ok=True)
            raise


def _entry(case: Case, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    return {
        "name": f"{case.operator}/{case.name}",
        "operator": case.operator,
        "branch": case.branch,
        "file": f"{case.operator}/{case.name}.npz",
        "attributes": case.attributes,
        "arrays": {name: [array.dtype.name, list(array.shape)] for name, array in arrays.items()},
    }


def _archive(arrays: dict[str, np.ndarray]) -> bytes:
    """An .npz whose bytes depend on the arrays alone."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        for name, array in arrays.items():
            one = io.BytesIO()
            np.save(one, np.ascontiguousarray(array))
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", OLDEST), one.getvalue(), zipfile.ZIP_DEFLATED)
    return whole.getvalue()


@dataclass(frozen=True, eq=False)
class Answered:
    """A case with what the chip must answer and what the device did."""

    case: Case
    wanted: np.ndarray
    answer: np.ndarray


def read_vectors(folder: Path) -> tuple[dict[str, Arithmetic], list[tuple[Case, np.ndarray]]]:
    """How the chip computes each operator, and the cases of a folder with what must be answered.

    raises   DataError for a folder that holds none
    """
    try:
        manifest = json.loads((folder / "manifest.json").read_text())
        if manifest["version"] != VERSION:
            raise DataError(
                f"conformance: '{folder}' has vectors of version {manifest['version']}, this tvmq reads {VERSION}; "
                "write them again"
            )
        cases = [_read(folder, entry) for entry in manifest["cases"]]
        return {name: arithmetic_from(fields) for name, fields in manifest["chips"].items()}, cases
    except (OSError, ValueError, KeyError, TypeError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"conformance: '{folder}' holds no vectors that can be read ({error!r}); write them") from error


def _read(folder: Path, entry: dict[str, Any]) -> tuple[Case, np.ndarray]:
    file = ArrayFile(folder / entry["file"])
    arrays = {name: file[name] for name in file.names or ()}
    wanted = arrays.pop("y")
    name = entry["name"].partition("/")[2]
    return Case(name, entry["operator"], entry["branch"], entry["attributes"], arrays), wanted


def read_answers(path: Path, cases: Sequence[tuple[Case, np.ndarray]]) -> tuple[list[Answered], list[str]]:
    """What a device answered, and the names of the cases without an answer.

    path     an .npz, or a folder of .npy files, by the names of cases
    raises   DataError where there is not one answer, or one of another shape or type
    """
    look = _lookup(path)
    found, missing = [], []
    for case, wanted in cases:
        name = f"{case.operator}/{case.name}"
        answer = look(name)
        if answer is None:
            missing.append(name)
            continue
        if answer.size != wanted.size:
            raise DataError(f"conformance: the answer to {name} has shape {answer.shape}, wanted {wanted.shape}")
        if answer.dtype.kind != wanted.dtype.kind and "f" in (answer.dtype.kind, wanted.dtype.kind):
            raise DataError(
                f"conformance: the answer to {name} is {answer.dtype.name}, wanted {wanted.dtype.name}; answer codes"
            )
        found.append(Answered(case, wanted, answer.reshape(wanted.shape).astype(wanted.dtype)))
    if not found:
        raise DataError(
            f"conformance: '{path}' has no answer to any of {len(cases)} cases; name files as cases, for example "
            f"'{cases[0][0].operator}/{cases[0][0].name}.npy'"
        )
    return found, missing


def _lookup(path: Path) -> Callable[[str], np.ndarray | None]:
    if path.is_file():
        file = ArrayFile(path)
        return lambda name: file[name] if name in (file.names or ()) else None

    def look(name: str) -> np.ndarray | None:
        one = path / f"{name}.npy"
        if one.is_file():
            return ArrayFile(one).array()
        whole = path / f"{name}.npz"
        if not whole.is_file():
            return None
        archive = ArrayFile(whole)
        names = list(archive.names or ["y"])
        return archive["y" if "y" in names else names[0]]

    return look
