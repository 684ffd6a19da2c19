"""`tvmq.quantize_model`: all of `tvmq quantize` in one call of Python.

Tests: tests/tools/cli/test_quantize_model.py
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

import tvmq
from tvmq.base.stage_progress import Callback, observed_work
from tvmq.errors import ConfigError
from tvmq.tools.cli.arguments import ReadOptions
from tvmq.tools.cli.bound import check_bound, refuse_on_guard, resolve_guard
from tvmq.tools.cli.doubts import doctor_command, find_doubts
from tvmq.tools.cli.measure import Measurements
from tvmq.tools.cli.opening import QuantizationJob, open_model_and_data
from tvmq.tools.cli.picture_inputs import keep_preprocessing
from tvmq.tools.cli.picture_options import PictureOptions
from tvmq.tools.cli.quantize import DEFAULT_GUARD, backend_for, measured_facts, quantize_with_progress
from tvmq.tools.cli.summary import summary_lines


@dataclass(frozen=True, eq=False, repr=False)
class QuantizedModel:
    """Result of `quantize_model`; printed, it is the summary of `tvmq quantize`.

    executable  compiled; `run`, `preprocessing` and `labels` are its methods
    module      the integer module, for `tvmq.explain`, `tvmq.to_onnx` and the like
    facts       the figures of the summary, as `tvmq quantize --json` prints them
    """

    executable: tvmq.Executable
    module: Any
    facts: Mapping[str, Any] = field(default_factory=dict)
    _job: QuantizationJob | None = field(default=None, repr=False)

    def save(self, path: str | Path) -> str:
        """Write the .tvmq file and return its sha256; errors as those of `Executable.save`."""
        return self.executable.save(path)

    def report(self, path: str | Path) -> None:
        """Write the page of `tvmq report`: network, errors, times and histograms of layers.

        raises  ConfigError without the extra 'report' (jinja2)
        """
        from tvmq.tools.cli.report import write_report  # loads the page's parts

        assert self._job is not None
        write_report(Path(path), self.executable, self._job, title=Path(str(self.facts["model"])).name)

    def __str__(self) -> str:
        return "\n".join(summary_lines(self.facts))

    __repr__ = __str__


def quantize_model(
    model: str | Path,
    data: str | Path | Mapping[str, ArrayLike] | None = None,
    *,
    config: tvmq.QConfig | None = None,
    guard: str | None = DEFAULT_GUARD,
    metric: str | None = None,
    max_drop: float | None = None,
    outputs: Mapping[str, str] | None = None,
    target: str | Sequence[str] | None = None,
    backend: str | None = None,
    shape: Sequence[str] = (),
    batch: int = 1,
    pictures: Mapping[str, Any] | None = None,
    samples: int | None = None,
    held_out: int | None = None,
    bench: bool = True,
    tokenizer: str | Path | None = None,
    quiet: bool = True,
    callback: Callback | None = None,
) -> QuantizedModel:
    """Quantize a trained model file, build it, and compare it with float on held-out samples.

    model     an .onnx file, or a .pt2 program of torch.export
    data      a folder of pictures (subfolders are classes), an .npz or .npy, "file.py:function", or {input: array,
              samples first}, with "labels" if there are any; None: scales are computed at run time
    config    options; None: `tvmq.qconfig()`
    guard     lowest signal-to-error ratio of the outputs, "sqnr >= 20"; None: no bound
    metric, max_drop    a bound on the accuracy instead: "top1" or "file.py:function", and how much less than float's
    outputs   {name: "detections", "heatmap", ...}: what people read from outputs, where it is not recognized
    target, backend     as in `tvmq.build` and `tvmq.quantize`
    shape, batch        sizes of dynamic dimensions: "x=1,3,224,224"; samples of a run
    pictures  {"normalize": "imagenet", "resize": "crop", ...}: options of `tvmq quantize` for pictures, else guessed
    samples, held_out   that calibrate, and that judge
    bench     measure the speed beside float
    tokenizer tokenizer.json of a model of texts, for data "texts.txt"
    quiet     False: progress and notices on stderr
    callback  called when a stage of quantizing ends, as by `tvmq.quantize`
    raises    ConfigError, DataError and the errors of importing; AccuracyWarning for a model below its bound

        result = tvmq.quantize_model("resnet18.onnx", "pictures/")
        print(result)
        result.save("resnet18.tvmq")
        result.report("resnet18.html")
    """
    begin = time.perf_counter()
    options = _picture_options(pictures or {})
    requested = check_bound("none" if guard is None else guard, metric, max_drop)
    built_for = target if isinstance(target, str) else list(target) if target else "llvm"
    quantize_target = backend_for(backend, built_for)
    with _as_text(data) as place:
        job = open_model_and_data(
            Path(model), place, config or tvmq.current_qconfig(), backend=quantize_target,
            reading=ReadOptions(batch, shape=list(shape), tokenizer=None if tokenizer is None else Path(tokenizer)),
            pictures=options, samples=samples, held_out=held_out, quiet=quiet,
        )  # fmt: skip
        doctor = "" if isinstance(data, Mapping) else doctor_command(model, data, tokenizer)
        find_doubts(job, None, doctor, run=True, quiet=quiet)
        kinds = [f"{name}={kind}" for name, kind in (outputs or {}).items()]
        bound = resolve_guard(requested, job, metric, max_drop, None, outputs=kinds, quiet=quiet)
        with refuse_on_guard(force=False), observed_work("quantize", callback):
            module = quantize_with_progress(
                job.mod, job.params, job.calibration, job.config, backend=quantize_target, quiet=quiet, guard=bound
            )
        module = keep_preprocessing(module, job)
        executable = tvmq.build(module, target=built_for)
        measurements = Measurements(metric=metric, bench=bench, outputs=kinds, doctor=doctor)
        measured = measured_facts(module, executable, job, measurements, quiet=quiet)
    facts = {**_sizes(model, executable, job), **measured, "seconds": time.perf_counter() - begin}
    return QuantizedModel(executable, module, facts, job)


def _sizes(model: str | Path, executable: tvmq.Executable, job: QuantizationJob) -> dict[str, Any]:
    sizes = {"model_bytes": job.model_bytes, "output_bytes": len(executable.to_bytes())}
    return {"model": str(model), "output": None, **sizes, "exported": {}}


def _picture_options(options: Mapping[str, Any]) -> PictureOptions:
    try:
        return PictureOptions(**options)
    except TypeError:
        names = [one.name for one in fields(PictureOptions)]
        unknown = next(name for name in options if name not in names)
        raise ConfigError(f"quantize_model: pictures has no option {unknown!r}; it takes {', '.join(names)}") from None


@contextmanager
def _as_text(data: Any) -> Iterator[str | None]:
    """The data as the command line names them; arrays in a file that is gone afterwards."""
    if not isinstance(data, Mapping):
        yield None if data is None else str(data)
        return
    with tempfile.TemporaryDirectory(prefix="tvmq_") as folder:
        path = Path(folder, "samples.npz")
        arrays: dict[str, Any] = {name: np.asarray(array) for name, array in data.items()}
        np.savez(path, **arrays)
        yield str(path)
