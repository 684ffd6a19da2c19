"""Run a module that is scheduled for a GPU on the CPU, kernel by kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import tvm
from tvm import tirx

from tests.cuda_emulator.device_code import Launcher, device_code
from tests.cuda_emulator.sizes import shape_of, sizes_of
from tests.cuda_emulator.walk import Walk
from tvmq.graph.names import input_names

FORWARD, REVERSE, SHUFFLED = 0, 1, 2
RUBBISH = {FORWARD: 0xCB, REVERSE: 0x5A, SHUFFLED: 0x93}  # so that what nobody wrote differs as well


class Emulated:
    """A module whose functions of loops are bound to threads, compiled for the emulator.

    mod        Relax main with calls of functions of loops (`call_tir`), which are scheduled for `target`
    target     a tvm.target.Target of kind "cuda"
    contract   products and sums become one rounding where the source allows it, as nvcc does by default
    raises     EmulationError where g++ refuses the source
    """

    def __init__(self, mod: tvm.IRModule, target: Any, *, contract: bool = False) -> None:
        functions = {g.name_hint: f for g, f in mod.functions_items() if isinstance(f, tirx.PrimFunc)}
        self._main = mod["main"]
        self._launcher = Launcher.of(device_code(functions, target), contract=contract)

    @property
    def source(self) -> str:
        """The kernels in CUDA C++, as TVM generates them."""
        return self._launcher.code.source

    def run(
        self,
        inputs: Mapping[str, np.ndarray] | Sequence[np.ndarray],
        *,
        order: int = FORWARD,
        watch: Callable[[str, Any], None] | None = None,
    ) -> list[np.ndarray]:
        """Run the function; returns an array for each output.

        inputs   {input name: array} or arrays in order
        order    of the threads of a block between barriers: FORWARD, REVERSE or SHUFFLED
        watch    called with (variable name, value) after each binding
        raises   EmulationError for what a kernel must not do
        """
        if isinstance(inputs, Mapping):
            inputs = [inputs[name] for name in input_names(self._main).values()]
        launcher = replace(self._launcher, order=order, rubbish=RUBBISH[order])
        return Walk(self._main, launcher, watch).run(inputs)


def run_function(
    func: Any, inputs: Sequence[np.ndarray], target: Any, *, order: int = FORWARD, contract: bool = False
) -> np.ndarray:
    """The last parameter of a function of loops that is bound to threads, from arrays for all others.

    raises  EmulationError for what a kernel must not do
    """
    return run_in_orders(func, inputs, target, (order,), contract=contract)[0]


def run_in_orders(
    func: Any,
    inputs: Sequence[np.ndarray],
    target: Any,
    orders: Sequence[int],
    *,
    contract: bool = False,
    shape: tuple[int, ...] | None = None,
) -> list[np.ndarray]:
    """Results of `run_function` in each order; the function is compiled once.

    shape  of the result, where the inputs do not tell it
    """
    launcher = Launcher.of(device_code({"function": func}, target), contract=contract)
    result = func.params[-1]
    output = shape or shape_of(result, sizes_of(func.params, inputs)), str(result.dtype)
    runs = (replace(launcher, order=order, rubbish=RUBBISH[order]) for order in orders)
    return [run("function", list(inputs), [output])[0] for run in runs]
