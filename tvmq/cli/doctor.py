"""`tvmq doctor`: what is wrong with the installation, or with a model and its data."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import tvmq
from tvmq.cli.arguments import Json, Quiet, Shapes
from tvmq.cli.files import UNREADABLE, Arrays, read_arrays
from tvmq.cli.guard import FAILED
from tvmq.cli.model import choose_shapes, import_model, parse_shapes
from tvmq.cli.screen import print_json, step
from tvmq.doctor.findings import PROBLEM, Finding, checked, problems
from tvmq.errors import ConfigError, DataError


def doctor(
    model: Annotated[
        Path | None,
        typer.Argument(help="A trained float model, .onnx or .pt2. Without it the installation is examined."),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option("--data", help="Samples as for inference: an .npz with one array for each input, or an .npy."),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            "--labels", help='Classes of the samples, an .npy; without it an array "labels" or "y" of --data.'
        ),
    ] = None,
    samples: Annotated[int, typer.Option("--samples", min=2, help="Look at the first so many samples.")] = 64,
    budget: Annotated[
        float, typer.Option("--budget", min=0, help="Seconds after which no further experiment begins.")
    ] = 120.0,
    shape: Shapes = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Examine the installation, or a model with its data: what is wrong, and what to do about it.

    One line a finding: ok; note: worth knowing; problem: mend it, the arrow says how. Exits with 1 if there is any
    problem. A model is examined from the outside in: weights, samples, the float model beside onnxruntime, dead and
    outlying channels, preprocessing (others are tried), then int8: weights or activations, the worst layers, and a
    rule that mends it, which was tried.

    Example: tvmq doctor --json > report.json

    Example: tvmq doctor resnet18.onnx --data pictures.npz
    """
    if model is None:
        if data is not None or labels is not None:
            raise ConfigError("doctor: --data and --labels are of a model; name it: tvmq doctor model.onnx --data ...")
        from tvmq.doctor.checkup import checkup

        show(checkup(), as_json=as_json, quiet=quiet)
        return
    if data is None:
        raise ConfigError(f"doctor: '{model}' is examined on samples; add --data samples.npz, or leave the model out")
    with step("read the model", quiet=quiet):
        patient, found = admit(model, data, labels, samples, shape or ())
    patient.until = time.monotonic() + budget
    show(examined(patient, found, quiet), as_json=as_json, quiet=quiet)


def examined(patient: Any, found: Iterable[Finding], quiet: bool) -> Iterator[Finding]:
    """All findings about a model, each as soon as its stage is done."""
    from tvmq.doctor.examination import late, stages

    yield from found
    for label, stage in stages(patient):
        with step(label, quiet=quiet):
            results = checked(label, partial(stage, patient))
        yield from results
    yield from late(patient)


def admit(path: Path, data: Path, labels: Path | None, samples: int, shape: Iterable[str]) -> tuple[Any, list[Finding]]:
    """The model with its first samples, channels moved where the model has them; and what was wrong with that."""
    from tvmq.doctor.patient import Patient
    from tvmq.doctor.samples import laid_out

    if path.suffix == ".pt2":
        mod, params, arrays, _ = import_model(path, data, list(shape), 1, quiet=True)
        return Patient(None, mod, params, _first(arrays or {}, samples), labels=read_labels(data, labels, samples)), []
    from tvmq.frontends.onnx_load import read_model
    from tvmq.frontends.onnx_shapes import dimensions, graph_inputs

    proto = read_model(path)
    own = {}
    for value in graph_inputs(proto.graph):
        dims = dimensions(value)
        own[value.name] = None if dims is None else tuple(d if isinstance(d, int) else None for d in dims)
    arrays, found = laid_out(_first(read_arrays(data, list(own)), samples), own)
    shapes = choose_shapes(own, parse_shapes(list(shape)), {name: array.shape for name, array in arrays.items()}, 1)
    mod, params = tvmq.from_onnx(proto, shape=shapes)
    return Patient(proto, mod, params, arrays, labels=read_labels(data, labels, samples)), found


def _first(arrays: Arrays, samples: int) -> Arrays:
    return {name: array[:samples] if array.ndim else array for name, array in arrays.items()}


def read_labels(data: Path, labels: Path | None, samples: int) -> np.ndarray | None:
    """Classes of the first samples, from a file of their own or beside the samples; None where there are none.

    raises  DataError for a file that cannot be read or holds no whole numbers
    """
    path = labels or data
    try:
        with np.load(path, allow_pickle=False) as loaded:
            names = [name for name in ("labels", "label", "y") if name in getattr(loaded, "files", ())]
            found = loaded if isinstance(loaded, np.ndarray) else loaded[names[0]] if names else None
    except (*UNREADABLE, AttributeError, TypeError):
        found = _plain_array(labels)
    if found is None or (labels is None and (found.ndim != 1 or path.suffix == ".npy")):
        return None
    if found.ndim != 1 or found.dtype.kind not in "iu":
        raise DataError(
            f"doctor: --labels must be one whole number for each sample. Got {found.shape} {found.dtype} in '{path}'"
        )
    return found[:samples].astype(np.int64)


def _plain_array(labels: Path | None) -> np.ndarray | None:
    if labels is None:
        return None
    try:
        loaded = np.load(labels, allow_pickle=False)
    except UNREADABLE as error:
        raise DataError(f"doctor: '{labels}' is no .npy of plain numbers ({error})") from error
    return loaded if isinstance(loaded, np.ndarray) else None


def show(found: Iterable[Finding], *, as_json: bool, quiet: bool) -> None:
    """Print findings as they come, or all as JSON; exit with 1 if one of them is a problem."""
    findings = []
    for finding in found:
        findings.append(finding)
        # --quiet: what needs no attention is left out
        if not as_json and not (quiet and finding.status == "ok"):
            print(finding, flush=True)
    count = problems(findings)
    if as_json:
        listed = [finding.to_dict() for finding in findings]
        print_json({"version": tvmq.__version__, "problems": count, "findings": listed})
    elif not quiet:
        subjects = dict.fromkeys(finding.subject for finding in findings if finding.status == PROBLEM)
        print(f"\n{count} problem{'s' if count > 1 else ''}: {', '.join(subjects)}" if count else "\nno problems")
    if count:
        raise typer.Exit(FAILED)
