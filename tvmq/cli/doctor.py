"""`tvmq doctor`: what is wrong with the installation, or with a model and its data."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

import tvmq
from tvmq.cli.arguments import Json, MaxBytes, Quiet, Shapes
from tvmq.cli.data import check_data
from tvmq.cli.guard import FAILED
from tvmq.cli.metrics import check_labels
from tvmq.cli.options import with_qconfig_options
from tvmq.cli.patient import admit
from tvmq.cli.screen import print_json, step
from tvmq.doctor.findings import PROBLEM, Finding, broken, checked, problems
from tvmq.errors import ConfigError, TvmqError


@with_qconfig_options
def doctor(
    config: tvmq.QConfig,
    model: Annotated[
        Path | None,
        typer.Argument(help="A trained float model, .onnx or .pt2. Without it the installation is examined."),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            "--data",
            help="Samples, of all forms that `tvmq quantize` takes: an .npz with one array for each input, an .npy, a "
            "folder of pictures, or a function (file.py:name).",
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(
            "--labels",
            help="Classes of the samples: an .npy, a .txt with one on a line, a .csv of file,class for pictures. "
            "Default: subfolders, an array 'labels' of the .npz, or what the function yields.",
        ),
    ] = None,
    samples: Annotated[int, typer.Option("--samples", min=2, help="Look at the first so many samples.")] = 64,
    budget: Annotated[
        float, typer.Option("--budget", min=0, help="Seconds after which no further experiment begins.")
    ] = 120.0,
    shape: Shapes = None,
    max_bytes: MaxBytes = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Examine the installation, or a model with its data: what is wrong, and what to do about it.

    One line a finding: ok; note: worth knowing; problem: mend it, the arrow says how. Exits with 1 if there is any
    problem. A model is examined from the outside in: weights, samples, the float model beside onnxruntime, dead and
    outlying channels, preprocessing (others are tried), then int8: weights or activations, the worst layers, and a
    rule that mends it, which was tried. Give it the options that the model was quantized with.

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
    check_data(data)
    if labels is not None:
        check_labels(labels)
    try:
        with step("read the model", quiet=quiet):
            patient, found = admit(model, data, labels, samples, shape or (), config, max_bytes)
    except TvmqError:  # says itself what to do
        raise
    except Exception as error:
        show([broken("model", error)], as_json=as_json, quiet=quiet)
        return
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
