"""Float modules as calibration and the guard run them: compiled for this CPU, quickly rather than well.

Passes know nothing of compilers: they are handed `evaluator`, or a method of `Runner`.

Tests: tests/passes/calibrate/test_observed_model.py, tests/passes/test_calibrate.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import tvm

from tvmq.codegen.compile.build import build_executable
from tvmq.codegen.compile.build_options import BRIEF, KERNELS_OF_BUILD, BuildOptions
from tvmq.graph.symbolic import sizes_in
from tvmq.runtime.executable import Executable

Feed = Mapping[str, np.ndarray]


class Runner:
    """A float module, compiled for this CPU at its first run.

    Dynamic dimensions are compiled as the first batch has them, which is fast, and once more for all other sizes.
    """

    def __init__(self, mod: tvm.IRModule, options: BuildOptions = BRIEF) -> None:
        self._mod, self._options = mod, options
        self._executables: dict[tuple[tuple[str, int], ...], Executable] = {}

    def run(self, feed: Feed) -> Sequence[np.ndarray]:
        """Results of a batch, copied."""
        return self._executable_for(feed).run(feed)

    def run_without_copies(self, feed: Feed) -> Sequence[np.ndarray]:
        """Results of a batch, not copied where possible: they are valid until the next run."""
        return self._executable_for(feed)["main"].look(feed)

    def input_memory(self) -> Mapping[str, np.ndarray]:
        """{input: memory that the code reads and writes}, which `run` takes without a copy; of static sizes alone."""
        return self._compile(())["main"].memory

    def _executable_for(self, feed: Feed) -> Executable:
        sizes = tuple(sizes_in(self._mod, feed).items())
        sizes = () if any(size == 0 for _, size in sizes) else sizes  # rows of a state, before the first call
        return self._compile(sizes if not self._executables or sizes in self._executables else ())

    def _compile(self, sizes: tuple[tuple[str, int], ...]) -> Executable:
        if sizes not in self._executables:
            self._executables[sizes] = build_executable(self._mod, sizes=dict(sizes), options=self._options)
        return self._executables[sizes]


def evaluator(mod: tvm.IRModule) -> Callable[[Feed], Sequence[np.ndarray]]:
    """Compile a float module for this CPU, for calibration to run: {input: array} -> results in order.

    mod      a float module; dynamic dimensions get code for the sizes of each batch
    returns  a function of one batch, float32 arrays by input name, to the list of results
    raises   BuildError if TVM fails

    >>> from tvm import relax
    >>> x, builder = relax.Var("x", relax.TensorType((2,), "float32")), relax.BlockBuilder()
    >>> with builder.function("main", [x]):
    ...     _ = builder.emit_func_output(builder.emit(relax.op.nn.relu(x), "y"))
    >>> [y.tolist() for y in evaluator(builder.get())({"x": np.float32([-1, 2])})]
    [[0.0, 2.0]]
    """
    return Runner(mod).run


def check_evaluator(mod: tvm.IRModule) -> Callable[[Feed], Sequence[np.ndarray]]:
    """As `evaluator`, with the very kernels that a build has, for code that is to be checked."""
    return Runner(mod, KERNELS_OF_BUILD).run
