"""Calibration of large tensors: a model that takes their statistics itself, so that they never leave it.

Observe tensors where they are made, instead of returning them.

Before                          After
    main(x)                         main(x, token, control, tables, extremes, totals)
        y = relu(x)                     x_seen = observe(x, token, control, tables, extremes, totals)
        ...                             y = relu(x)
                                        y_seen = observe(y, x_seen, control, tables, extremes, totals)
                                        return y_seen, y

Leaves    the model's own results behind the token, where they are asked for.
Needs     static float32 tensors, and the places of their statistics (observers/statistics_buffers.py).

A module that also returns intermediate tensors: how calibration and comparison look inside.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Mapping, Sequence
from typing import Protocol

import numpy as np
import tvm
from tvm import relax

from tvmq.calibration.observers.base import TensorStatistics
from tvmq.calibration.observers.statistics_buffers import CONTROL, EXTREMES, SCRATCH, TOKEN, TOTALS, StatisticsBuffers
from tvmq.graph import ops
from tvmq.graph.operators.conversions import is_calibrated
from tvmq.graph.rewrite import Rewriter, build_function
from tvmq.graph.symbolic import sizes_in, with_sizes
from tvmq.graph.view import View, dtype_of, op_name, sizes_of
from tvmq.passes.fold_constants import fold_constants

Feed = Mapping[str, np.ndarray]
# A compiled float module: {input: array} -> results in order.
Run = Callable[[Feed], Sequence[np.ndarray]]
# Compiles a float module.
Evaluator = Callable[[tvm.IRModule], Run]


def return_intermediates(mod: tvm.IRModule, names: Sequence[str], channels_last: Container[str] = ()) -> tvm.IRModule:
    """The module whose only results are the named variables, in that order, as one tuple.

    names          of variables of main; parameters too, and any of them more than once
    channels_last  pictures that are returned as (samples, rows, columns, channels), which is how compiled code has them
    raises         KeyError for a name that main does not bind

    >>> x, builder = relax.Var("x", relax.TensorType((2,), "float32")), relax.BlockBuilder()
    >>> with builder.function("main", [x]):
    ...     y = builder.emit(relax.op.nn.relu(x), "y")
    ...     _ = builder.emit_func_output(builder.emit(relax.op.negative(y), "z"))
    >>> [var.name for var in return_intermediates(builder.get(), ["y", "x"])["main"].body.body.fields]
    ['y', 'x']
    """
    view = View(mod)
    bindings, results = list(view.bindings), []
    for name in names:
        var = view.var[name]
        if name in channels_last:
            batch, channels, *sides = var.ty.shape
            moved = relax.DataflowVar(
                f"{name}_channels_last", relax.TensorType([batch, *sides, channels], dtype_of(var))
            )
            bindings.append((moved, relax.op.permute_dims(var, [0, 2, 3, 1])))
            var = moved
        results.append(var)
    module = mod.clone()
    module["main"] = build_function(list(view.func.params), bindings, relax.Tuple(results), view.func)
    return module


def drop_uncalibrated(mod: tvm.IRModule) -> tvm.IRModule:
    """The module without the simulated_quantize operators that have no scale yet and change nothing.

    One on a weight would hide the constant that kernels need: ResNet-50 with them took 17 times as long.
    """
    rewriter = Rewriter(mod)
    for var, value in rewriter.view.bindings:
        rewriter.at(var.name)
        idle = op_name(value) == "tvmq.simulated_quantize" and not is_calibrated(value)
        new = rewriter.substitute(value)
        rewriter.bind(var, new.args[0] if idle else rewriter.emit(new, var.name))
    return rewriter.finish()


def can_be_observed(view: View, names: list[str]) -> bool:
    """True if all are float32 tensors of static sizes that hold values, and our own inputs have names of their own."""
    if {TOKEN, CONTROL, SCRATCH, EXTREMES, TOTALS} & view.var.keys():
        return False
    variables = [view.var[name] for name in names]
    return all(dtype_of(v) == "float32" and all(isinstance(s, int) and s > 0 for s in sizes_of(v)) for v in variables)


def observe(mod: tvm.IRModule, streamed: StatisticsBuffers, outputs: Sequence[str] = ()) -> tvm.IRModule:
    """Build the module that takes the statistics itself; outputs: variables that are returned as well."""
    view = View(mod)
    memory = [relax.Var(name, relax.TensorType(shape, dtype)) for name, (shape, dtype) in streamed.shapes().items()]
    first = token = relax.Var(TOKEN, relax.TensorType((1,), "int32"))
    bindings: list[tuple[relax.Var, relax.Expr]] = []

    def observe_tensor(var: relax.Var, token: relax.Var) -> relax.Var:
        part, statistics = streamed.parts[var.name], streamed.statistics[var.name]
        axis = statistics.ranges.channel_axis
        call = ops.observe(
            var,
            token,
            *memory,
            tensor=part.index,
            begin=part.begin,
            slots=streamed.slots,
            batched=part.batched,
            counted=statistics.has_histogram,
            axis=-1 if axis is None else axis - (not part.batched),  # statistics see a batch of one
        )
        following = relax.DataflowVar(f"{var.name}_seen", token.ty)
        bindings.append((following, call))
        return following

    variables = [(param, None) for param in view.params.values()] + list(view.bindings)
    for var, value in variables:
        if value is not None:
            bindings.append((var, value))
        if var.name in streamed.parts:
            token = observe_tensor(var, token)
    module = mod.clone()
    result = relax.Tuple([token, *(view.var[name] for name in outputs)]) if outputs else token
    module["main"] = build_function([*view.func.params, first, *memory], bindings, result, view.func)
    return module


class InPlaceRunner(Protocol):
    """A compiled module that writes into its inputs."""

    def run(self, feed: Feed) -> Sequence[np.ndarray]:
        """Results in order."""

    def input_memory(self) -> Mapping[str, np.ndarray]:
        """{input: the memory that the code reads and writes}."""


CompileInPlace = Callable[[tvm.IRModule], InPlaceRunner]
# Fewer values of a batch are looked at by NumPy before our code would have been compiled, which takes 0.3 seconds once
# on a machine; of mbconv_se_cifar10 (200 samples of less than a million values) NumPy takes 2.5 seconds more.
MANY_VALUES = 50_000


class InModelStatistics:
    """Statistics taken inside of the model, for batches of the sizes of the first one.

    statistics  {tensor: where they end up}
    batched     {tensor: whether its first axis is the batch}
    results     called with the model's own results of a batch; None: they are not computed for their own sake
    """

    def __init__(
        self,
        mod: tvm.IRModule,
        statistics: Mapping[str, TensorStatistics],
        batched: Mapping[str, bool],
        compile_in_place: CompileInPlace,
        results: Callable[[Sequence[np.ndarray]], None] | None = None,
    ) -> None:
        self._mod, self._statistics, self._batched, self._compile = mod, statistics, batched, compile_in_place
        self._results = results
        self._sizes: dict[str, int] | None = None
        self._streamed: StatisticsBuffers | None = None
        self._run: Run | None = None

    def run(self, feed: Feed, count: int) -> list[str] | None:
        """Add a batch, of which the first `count` samples are real.

        returns  the tensors with NaN or infinity, of which nothing was added; None if nothing of the batch was: for
                 small tensors, other sizes than those of the first batch, what the kernel does not take
        """
        sizes = sizes_in(self._mod, feed)
        if self._sizes is None:
            self._sizes = sizes
            self._prepare(feed)
        if self._streamed is None or self._run is None or sizes != self._sizes:
            return None
        _, *outputs = self._run({**feed, **self._streamed.prepare_run(count)})
        if self._results:
            self._results(outputs)
        return self._streamed.finish_run(count)

    def _prepare(self, feed: Feed) -> None:
        assert self._sizes is not None
        fixed = fold_constants(with_sizes(self._mod, self._sizes)) if self._sizes else self._mod
        view, names = View(fixed), list(self._statistics)
        if not (all(name in view.var for name in names) and can_be_observed(view, names)):
            return
        shapes = {name: tuple(int(size) for size in sizes_of(view.var[name])) for name in names}
        if sum(map(math.prod, shapes.values())) < MANY_VALUES:
            return
        batch = max([shapes[name][0] for name in names if self._batched[name]], default=1)
        streamed = StatisticsBuffers(self._statistics, shapes, self._batched, batch)
        if streamed.size > np.iinfo(np.int32).max:
            return
        outputs = view.outputs if self._results else ()
        runner = self._compile(drop_uncalibrated(observe(fixed, streamed, outputs)))
        self._run = runner.run
        streamed.start(runner.input_memory())
        self._streamed = streamed

    def flush(self) -> None:
        """Hand over what is known of single samples, as happens every SLOTS samples."""
        if self._streamed is not None:
            self._streamed.flush()

    def finish(self) -> None:
        """Hand over what has been gathered."""
        if self._streamed is not None:
            self._streamed.finish()
