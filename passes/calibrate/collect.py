"""Run the calibration data through the annotated float module and keep statistics of every watched tensor.

The module is run once a batch with all watched tensors as results; statistics are streamed, so that memory does not
grow with the number of samples.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import tvm

from tvmq.calibration.observers.base import TensorStatistics
from tvmq.errors import CalibrationError
from tvmq.graph.operators.conversions import spec_of
from tvmq.graph.view import View, op_name, sizes_of
from tvmq.numerics.spec import QuantSpec
from tvmq.passes.calibrate.observed_model import (
    CompileInPlace,
    Evaluator,
    Feed,
    InModelStatistics,
    Run,
    drop_uncalibrated,
    return_intermediates,
)


@dataclass(frozen=True)
class Watch:
    """Activation to watch: variable of its simulated_quantize, the tensor it reads, the name of its scale, its spec.

    is_int16  True for the int16 codes of a residual stream
    """

    name: str
    source: str
    tensor: str
    spec: QuantSpec
    is_int16: bool = False

    @property
    def key(self) -> str:
        """Key of its thresholds: a tensor that is read in 8 bits and in 16 has two."""
        return f"{self.source}:stream" if self.is_int16 else self.source


def watched_tensors(view: View) -> list[Watch]:
    """All simulated_quantize operators of activations, in order: the tensors that need a range.

    view  of a module at the stage "annotated"

    >>> from tvm import relax
    >>> from tvmq.passes.annotate import annotate
    >>> from tvmq.passes.partition import partition
    >>> from tvmq.passes.prepare import prepare
    >>> x, builder = relax.Var("x", relax.TensorType((1, 2), "float32")), relax.BlockBuilder()
    >>> with builder.function("main", [x]):
    ...     y = builder.emit(relax.op.matmul(x, relax.const(np.eye(2, dtype=np.float32))), "y")
    ...     _ = builder.emit_func_output(y)
    >>> view = View(annotate(partition(prepare(builder.get()))))
    >>> [watch.source for watch in watched_tensors(view)]
    ['x']
    """
    return [
        Watch(var.name, value.args[0].name, value.attrs.tensor, spec_of(value.attrs), value.attrs.kind == "stream")
        for var, value in view.bindings
        if op_name(value) == "tvmq.simulated_quantize" and value.attrs.kind != "weight"
    ]


def collect(
    mod: tvm.IRModule,
    batches: Iterable[tuple[Feed, int]],
    evaluator: Evaluator,
    *,
    with_histogram: bool = True,
    compile_in_place: CompileInPlace | None = None,
    advance: Callable[[int], None] | None = None,
    known: Container[str] = (),
    results: Callable[[Sequence[np.ndarray]], None] | None = None,
    momentum: float | None = None,
    besides: Iterable[str] = (),
) -> dict[str, TensorStatistics]:
    """Statistics of every watched tensor, keyed by the variable it is bound to.

    batches    (feed, count): the first `count` samples of a batch are real
    compile_in_place  compiles a module that takes the statistics itself, for large tensors; None: they are always
               returned
    momentum   of running averages of the extremes of batches, for which tensors are always returned; None: none
    advance    called with the number of samples after each batch, for a progress bar
    known      names of watched tensors that are left out
    results    called with the module's own results of each batch
    besides    variables that are watched too
    raises     CalibrationError if there are no samples
    """
    statistics, batched = all_statistics(
        mod, with_histogram=with_histogram, momentum=momentum, known=known, besides=besides
    )
    if not statistics:
        return {}
    returned = OutputStatistics(mod, statistics, batched, evaluator, results)
    observed = None
    if compile_in_place is not None and momentum is None:
        observed = InModelStatistics(mod, statistics, batched, compile_in_place, results)
    samples = 0
    for feed, count in batches:
        missing = observed.run(feed, count) if observed else None
        if missing is None or missing:
            returned.run(feed, count, missing)
        samples += count
        if advance:
            advance(count)
    if observed is not None:
        observed.finish()
    if samples == 0:
        raise CalibrationError(
            f"calibrate: {len(statistics)} tensors need thresholds, first '{next(iter(statistics))}'; the calibration "
            "data gave 0 batches. "
            "Give a data set, or use qconfig(calibrate_mode='global_scale')"
        )
    return statistics


def all_statistics(
    mod: tvm.IRModule,
    *,
    with_histogram: bool = True,
    known: Container[str] = (),
    momentum: float | None = None,
    besides: Iterable[str] = (),
) -> tuple[dict[str, TensorStatistics], dict[str, bool]]:
    """{watched tensor, or variable besides: statistics without samples}, and whether its first axis is the batch."""
    view = View(mod)
    watched = dict.fromkeys([*(w.source for w in watched_tensors(view)), *besides])
    names = [name for name in watched if name not in known]
    batched = {name: has_batch(view, name) for name in names}
    statistics = {
        name: TensorStatistics(
            name,
            channel_axis=_channel_axis(view, name, one),
            with_histogram=with_histogram,
            momentum=momentum,
        )
        for name, one in batched.items()
    }
    return statistics, batched


class OutputStatistics:
    """Statistics of tensors that the model returns."""

    def __init__(
        self,
        mod: tvm.IRModule,
        statistics: Mapping[str, TensorStatistics],
        batched: Mapping[str, bool],
        evaluator: Evaluator,
        results: Callable[[Sequence[np.ndarray]], None] | None = None,
    ) -> None:
        self.mod, self.statistics, self.batched, self._evaluator = mod, statistics, batched, evaluator
        self._results = results
        self._run: Run | None = None

    def run(self, feed: Feed, count: int, names: Sequence[str] | None = None) -> None:
        """Add a batch, of which the first `count` samples are real; names: of these tensors alone."""
        if self._run is None:
            own = View(self.mod).outputs if self._results else []
            self._run = self._evaluator(drop_uncalibrated(return_intermediates(self.mod, [*self.statistics, *own])))
        values = self._run(feed)
        if self._results:
            self._results(values[len(self.statistics) :])
        for name, value in zip(self.statistics, values[: len(self.statistics)], strict=True):
            if names is not None and name not in names:
                continue
            samples = np.asarray(value)[:count] if self.batched[name] else np.asarray(value)[None]
            self.statistics[name].update(samples)


def samples_of(value: np.ndarray, size: int, count: int) -> np.ndarray:
    """The real samples of a result: all of it where its first axis is not the batch."""
    if value.ndim == 0 or value.shape[0] != size:
        return value[None]
    return value[:count]


def has_batch(view: View, name: str) -> bool:
    """True if the first axis is the batch: of the size, or the name, that inputs begin with."""
    first = next((sizes_of(param)[0] for param in view.params.values() if sizes_of(param)), None)
    return sizes_of(view.var[name])[:1] == (first,)


def _channel_axis(view: View, name: str, batched: bool) -> int | None:
    """Axis of the channels: the last one of what products read, else 1; None for an axis of dynamic size.

    A tensor without a batch gets one, of one sample, before statistics are taken.
    """
    sizes = sizes_of(view.var[name]) if batched else (1, *sizes_of(view.var[name]))
    if len(sizes) < 2:
        return None
    axis = len(sizes) - 1 if len(sizes) == 2 or _is_read_by_product(view, name) else 1
    return None if isinstance(sizes[axis], str) else axis


def _is_read_by_product(view: View, name: str) -> bool:
    """True if a matrix product has the tensor on its left, as it is or behind its simulated_quantize."""
    for reader in view.readers[name]:
        value = view.value[reader]
        if op_name(value) == "matmul" and value.args[0].name == name:
            return True
        if op_name(value) == "tvmq.simulated_quantize" and _is_read_by_product(view, reader):
            return True
    return False
