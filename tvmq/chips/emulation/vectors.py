"""`tvmq.conformance`: test vectors of a described chip in files, which read_vectors.py reads.

    vectors/manifest.json                  the name of the chip, how it computes each operator, and a list of all cases
    vectors/conv2d/strides_2_int8.npz      the arrays of one case, and "y", what the chip must answer
    answers/conv2d/strides_2_int8.npy      what a device answered; or one answers.npz with "conv2d/strides_2_int8"

A case of the manifest has "name", "operator", "branch", "file", "attributes" and "arrays" ({name: [type, shape]}).

Tests: tests/chips/emulation/test_conformance.py
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tvmq.backends import backend_named
from tvmq.backends.description import Backend
from tvmq.base.whole_file import output_errors, write_file
from tvmq.chips.emulation.cases import Vector, cases_of
from tvmq.chips.emulation.chip_json import arithmetic_dict
from tvmq.chips.emulation.makers import chip_of
from tvmq.chips.emulation.read_vectors import VERSION

OLDEST = (1980, 1, 1, 0, 0, 0)  # the time in archives, so that they are the same bytes


@dataclass(frozen=True)
class Vectors:
    """Summary of the vectors that were written.

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
    folder   is made if it is missing; gets an .npz for each case and manifest.json
    seed     of all that is drawn: the same description and seed give the same bytes
    returns  how many cases each operator has; `print` shows it
    raises   OutputError for a folder that cannot be written, ConfigError for an unknown backend

        print(tvmq.conformance("tflite", "vectors"))
    """
    description, folder = backend_named(backend), Path(folder)
    entries, counts, values = [], dict[str, int](), 0
    cases = cases_of(description, seed)
    chips = {operator: chip_of(description, operator) for operator in dict.fromkeys(case.operator for case in cases)}
    with _all_or_none(folder) as files:
        for case in cases:
            y = case.compute(chips[case.operator]).y
            arrays = {**case.arrays, "y": y}
            file = folder / case.operator / f"{case.name}.npz"
            file.parent.mkdir(parents=True, exist_ok=True)
            files.append(write_file(file, _archive(arrays), "conformance"))
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
    files: list[Path] = []
    with output_errors(f"conformance: cannot write in '{folder}'", "choose another folder or make room"):
        (folder / "manifest.json").unlink(missing_ok=True)
        try:
            yield files
        except BaseException:
            for file in files:
                file.unlink(missing_ok=True)
            raise


def _entry(case: Vector, arrays: dict[str, np.ndarray]) -> dict[str, Any]:
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
