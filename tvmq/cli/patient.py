"""What `tvmq doctor` examines: a model with its first samples and their labels, from whatever `tvmq quantize` takes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import tvmq
from tvmq.cli.data import LABELS, kind_of, member_names, read_member
from tvmq.cli.files import Arrays, read_arrays
from tvmq.cli.metrics import class_labels, read_labels
from tvmq.cli.model import import_source, read_source
from tvmq.cli.opening import opened
from tvmq.cli.picture_options import PictureOptions
from tvmq.cli.samples import Samples
from tvmq.errors import DataError

if TYPE_CHECKING:
    from tvmq.doctor.findings import Finding
    from tvmq.doctor.patient import Patient


def admit(
    path: Path,
    data: str,
    labels: Path | None,
    samples: int,
    shape: Sequence[str],
    config: tvmq.QConfig,
    max_bytes: int | None = None,
) -> tuple[Patient, list[Finding]]:
    """The model and its first samples; channels of arrays moved where the model has them, and what is wrong with that.

    raises   what reading and importing raise; DataError for labels that are no whole number for each sample
    """
    from tvmq.doctor.patient import Patient
    from tvmq.doctor.samples import laid_out

    found: list[Finding] = []
    if kind_of(data) == "file":
        source = read_source(path, max_bytes)
        read = Samples(_first(read_arrays(Path(data), list(source.own)), samples), f"'{data}'", complete=False)
        read.arrays, found = laid_out(dict(read.arrays), source.own)
        read.labels = _beside(Path(data), read)
        mod, params, _ = import_source(source, {n: a.shape for n, a in read.arrays.items()}, shape, 1, quiet=True)
        arrays = dict(read.arrays)
    else:
        told = opened(
            path, data, config, pictures=PictureOptions(), random=False, samples=samples, held_out=0,
            shape=shape, batch=1, max_bytes=max_bytes, quiet=True,
        )  # fmt: skip
        assert told.samples is not None
        mod, params, read = told.mod, told.params, told.samples
        arrays = read.feed(np.arange(min(samples, len(read))))
    classes = read_labels(labels, read) if labels is not None else class_labels(read)
    return Patient(_proto(path), mod, params, arrays, config, _whole(classes, samples, labels)), found


def _first(arrays: Arrays, samples: int) -> Arrays:
    return {name: array[:samples] if array.ndim else array for name, array in arrays.items()}


def _beside(path: Path, read: Samples) -> np.ndarray | None:
    """Labels that stand in the same .npz; arrays of other forms are none."""
    name = next((name for name in LABELS if name in member_names(path) and name not in read.arrays), None)
    found = None if name is None else read_member(path, name)
    return None if found is None or found.ndim != 1 or found.dtype.kind not in "iu" else found[: len(read)]


def _whole(labels: np.ndarray | None, samples: int, given: Path | None) -> np.ndarray | None:
    if labels is None:
        return None
    if labels.ndim != 1 or labels.dtype.kind not in "iu":
        if given is None:
            return None
        raise DataError(
            f"doctor: --labels must be one whole number for each sample. Got {labels.shape} {labels.dtype} in '{given}'"
        )
    return labels[:samples].astype(np.int64)


def _proto(path: Path) -> object:
    """The ONNX model; None for a program of torch."""
    from tvmq.frontends.onnx.load import read_model

    return None if path.suffix == ".pt2" else read_model(path)
