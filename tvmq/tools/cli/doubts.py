"""Doubts about samples and labels: what makes every figure of a model worthless, and would otherwise go unsaid.

They are looked for before a model is quantized, in about SECONDS: samples that hardly differ, labels of one class, and
samples with which the float model does far worse than with the same ones prepared in another usual way. The doctor's
checks do the work; it also takes its time, so each doubt names its command.

Tests: tests/tools/cli/test_doubts.py
"""

from __future__ import annotations

import time
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np

from tvmq.errors import TargetError
from tvmq.tools.cli.console import notice, step
from tvmq.tools.cli.metrics import find_labels, usual_metric
from tvmq.tools.cli.opening import QuantizationJob

SECONDS = 10.0  # that float runs may take
LEAST, MOST = 8, 48  # samples that are run
LOOKED_AT = 256  # samples compared with each other
TRIALS = 7  # preparations at most, the samples as they are included


def doctor_command(model: str | Path, data: str | Path | None, tokenizer: str | Path | None = None) -> str:
    """The command that finds the cause; "" without a file of data.

    >>> doctor_command("my net.onnx", "samples.npz"), doctor_command("net.onnx", None)
    ("tvmq doctor 'my net.onnx' --data samples.npz", '')
    """
    words = f" --tokenizer {quote(str(tokenizer))}" if tokenizer else ""
    return f"tvmq doctor {quote(str(model))} --data {quote(str(data))}{words}" if data else ""


def find_doubts(job: QuantizationJob, labels: Path | None, doctor: str, *, run: bool, quiet: bool) -> None:
    """Look for doubts, say each on stderr, and keep them in `job.doubts`.

    labels  file of labels, or None
    doctor  command that finds the cause, or ""
    run     False: the float model is not run, only samples and labels are looked at
    """
    if job.samples is None or job.samples.random:
        return
    named = find_labels(labels, job.samples)
    texts = [*_doubts_about_samples(job), *_doubts_about_labels(named)]
    if run and not texts:
        with step("check samples", quiet=quiet):
            text, is_sure = _compare_preparations(job, named)
        if text and is_sure:
            texts.append(text)
        elif text and not quiet:
            notice(f"note: {text}; if labels are there, they would tell (--labels)")
    for text in texts:
        add_doubt(job, text, doctor)


def add_doubt(job: QuantizationJob, text: str, doctor: str) -> None:
    """Keep a doubt, and say it on stderr whether quiet or not."""
    joint = " To" if text.endswith("?") else "; to"
    whole = f"{text}{joint} find out: {doctor}" if doctor else text
    job.doubts.append(whole)
    notice(f"WARNING: {whole}")


def _doubts_about_samples(job: QuantizationJob) -> list[str]:
    from tvmq.tools.doctor.samples import find_alike  # loads TVM

    assert job.samples is not None
    first = job.samples.take(np.arange(min(LOOKED_AT, len(job.samples))))
    arrays = {name: array for name, array in first.items() if name not in job.samples.shared}
    return [f"samples: {text}" for text in find_alike(arrays)]


def _doubts_about_labels(labels: np.ndarray | None) -> list[str]:
    if labels is None or labels.ndim != 1 or labels.dtype.kind not in "iu" or len(labels) < LEAST:
        return []
    if (labels == labels[0]).all():
        return [f"labels: all {len(labels)} samples have the class {labels[0]}, so accuracy says nothing"]
    return []


def _compare_preparations(job: QuantizationJob, labels: np.ndarray | None) -> tuple[str, bool]:
    """The preparation that is clearly better, if there is one, and whether that is sure: by labels it is, by outputs
    alone a network that was never trained may say anything. Normalizations that were guessed were compared then.
    """
    from tvmq.tools.doctor.preprocessing import compare_preprocessings  # loads TVM

    samples = job.samples
    assert samples is not None
    if samples.shared or (job.guess is not None and job.guess.scores is not None):
        return "", False
    try:
        count = _count_runs(job)
    except TargetError:  # built for another machine: nothing can be run
        return "", False
    fits = labels is not None and not usual_metric(labels, (), job.float_exe().output_info[0].shape)
    index = np.arange(min(count, len(samples)))
    context = _context(job, samples.take(index), labels[index] if labels is not None and fits else None)
    finding, by_labels = compare_preprocessings(context)
    return (f"{finding.what}; {finding.remedy}", by_labels) if finding is not None else ("", False)


def _context(job: QuantizationJob, arrays: dict[str, np.ndarray], labels: np.ndarray | None) -> Any:
    from tvmq.tools.doctor.check_context import CheckContext  # loads TVM

    context = CheckContext(None, job.mod, job.params, arrays, job.config, labels)
    context.float_run = job.float_exe().run
    context.deadline = time.monotonic() + SECONDS
    return context


def _count_runs(job: QuantizationJob) -> int:
    """So many samples that all preparations take about SECONDS."""
    assert job.samples is not None
    exe = job.float_exe()
    feed = job.samples.take(np.arange(job.size) % len(job.samples))
    exe.run(feed)
    start = time.perf_counter()
    exe.run(feed)
    seconds = max(time.perf_counter() - start, 1e-6) / job.size
    return max(LEAST, min(MOST, int(SECONDS / (TRIALS * seconds))))
