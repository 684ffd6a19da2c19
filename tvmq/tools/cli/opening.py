"""Open a model and its data: read and import the model, read and split the samples, normalize pictures.

Tests: tests/tools/cli/test_quantize_alone.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import tvmq
from tvmq.calibration.data.guess import Guess
from tvmq.calibration.data.kept_preprocessing import KeptPreprocessing
from tvmq.calibration.data.picture_preprocessing import PicturePreprocessing
from tvmq.errors import ConfigError
from tvmq.tools.cli.arguments import ReadOptions
from tvmq.tools.cli.console import notice, step
from tvmq.tools.cli.data import (
    classify_data,
    data_forms,
    missing_data,
    open_arrays,
    open_function,
    open_pictures,
    open_sounds,
    open_texts,
    random_samples,
    read_function,
    sample_limit,
    sample_shapes,
)
from tvmq.tools.cli.model import ModelSource, Shape, import_source, parse_shapes, read_source, stored_bytes
from tvmq.tools.cli.normalize import choose_normalization, normalization_lines
from tvmq.tools.cli.picture_options import ALL_GUESSED, PictureOptions
from tvmq.tools.cli.samples import Feeds, Samples, Split, split

NO_INDICES = np.arange(0)


@dataclass
class QuantizationJob:
    """Model, data and options of one quantization.

    mod, params  the imported float model
    samples      the data; None if none are needed
    split        indices of samples that calibrate and that judge
    size         batch size
    config       the options; without data scales are computed at run time
    guess        of pictures: the normalization, and why
    preprocessing  of pictures, sounds and texts: all that is done with them
    doubts       about samples and labels, in words: see doubts.py
    path         of the model's file
    """

    mod: Any
    params: Any
    size: int
    config: tvmq.QConfig
    model_bytes: int = 0
    samples: Samples | None = None
    split: Split = field(default_factory=lambda: Split(NO_INDICES, NO_INDICES, apart=False))
    guess: Guess | None = None
    preprocessing: KeptPreprocessing | None = None
    is_prequantized: bool = False
    doubts: list[str] = field(default_factory=list)
    path: Path | None = None
    _float: Any = None

    @property
    def inputs(self) -> list[Any]:
        """Inputs of the module, without its weights."""
        return _inputs(self.mod, self.params)

    def float_exe(self, *, quiet: bool = True) -> Any:
        """The float model, built for this CPU on first use."""
        if self._float is None:
            with step("build float, to compare", quiet=quiet):
                self._float = tvmq.build(self.mod, params=self.params)
        return self._float

    @property
    def calibration(self) -> Feeds | None:
        """The samples that calibrate, in batches; None without samples."""
        return None if self.samples is None else Feeds(self.samples, self.split.calibration, self.size)

    def facts(self) -> dict[str, Any]:
        """Facts about the data, for --json."""
        if self.samples is None:
            return {"samples": None}
        facts: dict[str, Any] = {
            "samples": {
                "origin": self.samples.origin,
                "read": len(self.samples),
                "calibration": len(self.split.calibration),
                "held_out": len(self.split.comparison) if self.split.apart else 0,
                "skipped": self.samples.skipped,
                "classes": list(self.samples.classes),
            },
            "random_data": self.samples.random,
        }
        if self.guess is not None:
            one = self.guess.normalization
            numbers = {"scale": one.scale, "mean": one.mean, "std": one.std, "color": one.color}
            why = {"confidence": self.guess.confidence, "why": self.guess.why, "scores": self.guess.scores}
            facts["normalization"] = {"name": one.name, **numbers, **why}
        return facts


def open_model_and_data(
    model: Path, data: str | None, config: tvmq.QConfig, *, reading: ReadOptions,
    pictures: PictureOptions = ALL_GUESSED, random: bool = False, samples: int | None, held_out: int | None,
    quiet: bool, backend: str | None = None, tune: float | None = None, dynamic_batch: bool = False,
) -> QuantizationJob:  # fmt: skip
    """Read the model and the data, import the model, split and prepare the samples.

    backend     target for `tvmq.quantize`
    dynamic_batch  True keeps a dynamic batch of the model dynamic
    raises      CalibrationError if the model needs data and there are none; errors of reading and importing
    """
    if random and data is not None:
        raise ConfigError("--random-data: --data is given too; give only one of them")
    with step("read model", quiet=quiet):
        source = read_source(model, reading.max_bytes)
    if data is None and not random and not source.is_prequantized:
        config = _without_data(model, source, config, backend, tune, quiet=quiet)
    if source.is_prequantized and not quiet:
        notice("the model is quantized already: its own scales are used")
    kind = None if data is None else classify_data(data)
    if pictures.has_values() and kind != "folder":
        raise ConfigError(
            "--normalize, --mean and other picture options apply to a folder of pictures; preprocess other data before"
        )
    shape, count = reading.shape or (), sample_limit(samples, held_out)
    first = _read_data(source, data, kind, pictures, reading, count=count, quiet=quiet)
    with step("import", quiet=quiet):
        batch = reading.batch
        mod, params, size = import_source(source, first.shapes, shape, batch, dynamic_batch=dynamic_batch, quiet=quiet)
    job = QuantizationJob(
        mod, params, size, config, stored_bytes(model), is_prequantized=source.is_prequantized, path=model
    )
    read = first.samples
    if first.function is not None and data is not None:
        read = read_function(first.function, data, _inputs(mod, params), count=count, quiet=quiet)
    if random:
        read = random_samples(_inputs(mod, params))
    if read is None:
        return job
    job.samples, job.split = read, split(len(read), samples, held_out)
    job.preprocessing = first.preprocessing
    if isinstance(first.preprocessing, PicturePreprocessing):
        job.guess = choose_normalization(source, first.preprocessing.frame, pictures, job, quiet=quiet)
        prepared = replace(first.preprocessing, normalization=job.guess.normalization)
        job.preprocessing, read.prepare = prepared, prepared.normalize
    if not quiet:
        _announce_data(job)
    return job


def _without_data(
    model: Path, source: ModelSource, config: tvmq.QConfig, backend: str | None, tune: float | None, *, quiet: bool
) -> tvmq.QConfig:
    """Options without data: scales are computed at run time, if the options and the backend allow it."""
    from tvmq.codegen.target.backend import backend_of
    from tvmq.quantization.pipeline import WITHOUT_DATA, explain_required_data, is_calibrated

    if not is_calibrated(config):
        return config
    why = explain_required_data(config, backend_of(backend))
    if why := why if tune is None else "--tune measures layers with calibrated scales":
        raise missing_data(model, source, config.calibrate_mode, why)
    if not quiet:
        notice(f"no calibration data: {WITHOUT_DATA.replace('dataset=', '--data')}:{data_forms(model, source)}")
    return config.at_run_time()


@dataclass
class _EarlyData:
    """Data read before the model is imported: samples, or the function that yields them, and their shapes."""

    shapes: dict[str, Shape]
    samples: Samples | None = None
    preprocessing: KeptPreprocessing | None = None
    function: Callable[..., Any] | None = None


def _read_data(
    source: ModelSource, data: str | None, kind: str | None, pictures: PictureOptions, reading: ReadOptions, *,
    count: int, quiet: bool,
) -> _EarlyData:  # fmt: skip
    if data is None:
        return _EarlyData({})
    if kind == "function":
        function, shapes = open_function(data, source, quiet=quiet)
        return _EarlyData(shapes, function=function)
    if kind == "file":
        samples = open_arrays(Path(data), source, quiet=quiet)
        return _EarlyData(sample_shapes(samples, None), samples)
    sized = _with_shapes(source, reading.shape or ())
    if kind in ("sounds", "texts"):
        opened: tuple[Samples, KeptPreprocessing] = (
            open_sounds(Path(data), sized, count=count, quiet=quiet)
            if kind == "sounds"
            else open_texts(Path(data), sized, reading.tokenizer, count=count, quiet=quiet)
        )
        return _EarlyData(sample_shapes(opened[0], None), *opened)
    samples, prepared = open_pictures(Path(data), sized, pictures, count=count, quiet=quiet)
    return _EarlyData(sample_shapes(samples, prepared.frame), samples, prepared)


def _with_shapes(source: ModelSource, shape: Sequence[str]) -> ModelSource:
    """The source with --shape in place of its dynamic sizes, for the size of pictures."""
    overrides = parse_shapes(shape)

    def merge_sizes(own: Shape | None, override: Shape | None) -> Shape | None:
        if override is None or own is None:
            return override or own
        return tuple(a or b for a, b in zip(override, own, strict=False)) if len(override) == len(own) else own

    return replace(source, shapes={name: merge_sizes(own, overrides.get(name)) for name, own in source.shapes.items()})


def _inputs(mod: Any, params: Any) -> list[Any]:
    from tvmq.graph.symbolic import inputs_of

    return [info for info in inputs_of(mod) if info.name not in params]


def _announce_data(job: QuantizationJob) -> None:
    """Announce the split in one line, and the normalization in one or two."""
    assert job.samples is not None
    for line in normalization_lines(job.guess) if job.guess else []:
        notice(line)
    calibration, comparison = len(job.split.calibration), len(job.split.comparison)
    if job.samples.random:
        notice("random data: ranges are chosen from noise; the model shows the speed, but its results are worthless")
    elif job.split.apart:
        notice(f"samples: {calibration} calibrate, {comparison} others are held out to judge the result")
    else:
        notice(f"samples: {calibration} calibrate; too few to hold some out, so they judge the result as well")
