"""`tvmq doctor`: checks of the installation, or of a model and its data.

The model, its first samples and their labels are read from whatever `tvmq quantize` takes.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

import tvmq
from tvmq.errors import ConfigError, DataError, TvmqError
from tvmq.tools.cli.arguments import Json, MaxBytes, Quiet, ReadOptions, Texts
from tvmq.tools.cli.console import print_json, step
from tvmq.tools.cli.data import LABELS, check_data, classify_data, member_names, read_member
from tvmq.tools.cli.exit_codes import FAILED
from tvmq.tools.cli.files import first_samples, read_arrays
from tvmq.tools.cli.metrics import check_labels, find_labels
from tvmq.tools.cli.model import check_model, import_source, read_source
from tvmq.tools.cli.opening import open_model_and_data
from tvmq.tools.cli.options import with_qconfig_options
from tvmq.tools.cli.samples import Samples
from tvmq.tools.doctor.findings import PROBLEM, Finding, count_problems, report_check_failure, run_check

if TYPE_CHECKING:
    from tvmq.tools.doctor.check_context import CheckContext
    from tvmq.tools.doctor.findings import Finding


def read_model_and_data(
    path: Path, data: str, labels: Path | None, samples: int, shape: list[str] | None, config: tvmq.QConfig,
    max_bytes: int | None = None, tokenizer: Path | None = None,
) -> tuple[CheckContext, list[Finding]]:  # fmt: skip
    """Read the model and its first samples; arrays in another layout than the model's are transposed, with a finding.

    raises   what reading and importing raise; DataError for labels that are not one integer per sample
    """
    from tvmq.tools.doctor.check_context import CheckContext
    from tvmq.tools.doctor.samples import match_layouts

    findings: list[Finding] = []
    if classify_data(data) == "file":
        source = read_source(path, max_bytes)
        first = first_samples(read_arrays(Path(data), list(source.shapes)), samples)
        read = Samples(first, f"'{data}'", complete=False)
        read.arrays, findings = match_layouts(dict(read.arrays), source.shapes)
        read.labels = _labels_in_file(Path(data), read)
        mod, params, _ = import_source(source, {n: a.shape for n, a in read.arrays.items()}, shape or (), 1, quiet=True)
        arrays = dict(read.arrays)
    else:
        job = open_model_and_data(
            path, data, config, reading=ReadOptions(1, max_bytes, shape, tokenizer), samples=samples, held_out=0,
            quiet=True,
        )  # fmt: skip
        assert job.samples is not None
        mod, params, read = job.mod, job.params, job.samples
        arrays = read.take(np.arange(min(samples, len(read))))
    classes = find_labels(labels, read)
    return CheckContext(
        _onnx_model(path), mod, params, arrays, config, _integer_labels(classes, samples, labels)
    ), findings


def _labels_in_file(path: Path, read: Samples) -> np.ndarray | None:
    """Labels from the same .npz; arrays of another form are ignored."""
    name = next((name for name in LABELS if name in member_names(path) and name not in read.arrays), None)
    labels = None if name is None else read_member(path, name)
    return None if labels is None or labels.ndim != 1 or labels.dtype.kind not in "iu" else labels[: len(read)]


def _integer_labels(labels: np.ndarray | None, samples: int, path: Path | None) -> np.ndarray | None:
    if labels is None:
        return None
    if labels.ndim != 1 or labels.dtype.kind not in "iu":
        if path is None:
            return None
        raise DataError(
            f"doctor: --labels must be one integer per sample. Got {labels.shape} {labels.dtype} in '{path}'"
        )
    return labels[:samples].astype(np.int64)


def _onnx_model(path: Path) -> object:
    """The ONNX model; None for a program of torch."""
    from tvmq.formats.onnx.importer.load import read_model

    return None if path.suffix == ".pt2" else read_model(path)


@with_qconfig_options
def doctor(
    model: Path | None = None, *, config: tvmq.QConfig, data: str | None = None, labels: Path | None = None,
    samples: Annotated[int, typer.Option(min=2)] = 64, budget: Annotated[float, typer.Option(min=0)] = 120.0,
    tokenizer: Path | None = None, shape: Texts = None, max_bytes: MaxBytes = None, as_json: Json = False,
    quiet: Quiet = False,
) -> None:  # fmt: skip
    """Check the installation, or a model and its data, and suggest remedies.

    Each line is a finding: ok, note (worth knowing) or problem, with the remedy after the arrow. Exits with 1 if there
    is any problem. Checks of a model cover its weights, the samples, the float model against onnxruntime, dead and
    outlier channels, and preprocessing (alternatives are tried). Then int8: whether weights or activations lose
    accuracy, in which layers, and which rules restore it (each is tried). Give the options of `tvmq quantize`.

    Example: tvmq doctor --json > report.json

    Example: tvmq doctor resnet18.onnx --data pictures.npz

    model    Trained float model, .onnx or .pt2. Without it the installation is checked.
    data     Samples in any form that `tvmq quantize` takes: an .npz with one array per input, an .npy, a folder of
             pictures or sounds, texts with --tokenizer, or a function (file.py:name).
    labels   Classes of the samples: an .npy, a .txt with one per line, a .csv of file,class for pictures. Default:
             subfolders, an array 'labels' of the .npz, or what the function yields.
    samples  Number of samples to use, the first ones.
    budget   Start no further trial after this many seconds.
    """
    if model is None:
        if data is not None or labels is not None:
            raise ConfigError("doctor: --data and --labels need a model: tvmq doctor model.onnx --data ...")
        from tvmq.tools.doctor.installation_checks import check_installation

        print_findings(check_installation(), as_json=as_json, quiet=quiet)
        return
    if data is None:
        raise ConfigError(f"doctor: '{model}' needs samples; add --data samples.npz, or leave the model out")
    check_data(data)
    if labels is not None:
        check_labels(labels)
    check_model(model)
    try:
        with step("read the model", quiet=quiet):
            context, findings = read_model_and_data(
                model, data, labels, samples, shape, config, max_bytes, tokenizer
            )
    except TvmqError:  # its message says what to do
        raise
    except Exception as error:
        print_findings([report_check_failure("model", error)], as_json=as_json, quiet=quiet)
        return
    context.deadline = time.monotonic() + budget
    print_findings(run_stages(context, findings, quiet), as_json=as_json, quiet=quiet)


def run_stages(context: Any, findings: Iterable[Finding], quiet: bool) -> Iterator[Finding]:
    """All findings about a model, each as soon as its stage is done."""
    from tvmq.tools.doctor.model_checks import note_if_late, stages_to_run

    yield from findings
    for label, stage in stages_to_run(context):
        with step(label, quiet=quiet):
            results = run_check(label, partial(stage, context))
        yield from results
    yield from note_if_late(context)


def print_findings(stream: Iterable[Finding], *, as_json: bool, quiet: bool) -> None:
    """Print findings as they come, or all as JSON; exit with 1 if one of them is a problem."""
    findings = []
    for finding in stream:
        findings.append(finding)
        # --quiet: what needs no attention is left out
        if not as_json and not (quiet and finding.status == "ok"):
            print(finding, flush=True)
    count = count_problems(findings)
    if as_json:
        listed = [finding.to_dict() for finding in findings]
        print_json({"version": tvmq.__version__, "problems": count, "findings": listed})
    elif not quiet:
        subjects = dict.fromkeys(finding.subject for finding in findings if finding.status == PROBLEM)
        print(f"\n{count} problem{'s' if count > 1 else ''}: {', '.join(subjects)}" if count else "\nno problems")
    if count:
        raise typer.Exit(FAILED)
