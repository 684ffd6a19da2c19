"""Base of the templates of CPU kernels: a subclass says its parameters and writes its loops, once for each key.

Tests: tests/codegen/kernels/parts/test_memoize.py
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tvmq.codegen.kernels.parts.builder import Buffer, FunctionBuilder, flatten_buffer
from tvmq.codegen.kernels.parts.epilogue import EpiloguePlan
from tvmq.codegen.kernels.parts.kernel_types import Kernel
from tvmq.codegen.kernels.parts.memoize import memoize
from tvmq.codegen.kernels.parts.scaler import Parameters
from tvmq.codegen.kernels.parts.work import KernelWork


class Template:
    """Kernel in the making.

    name     template, instruction set and tile
    key      all that parameters and loops depend on: kernels of equal key share a function
    buffers  the parameters of the function, flat, by name; there while `body` runs
    """

    name: str
    key: tuple[Any, ...]
    buffers: dict[str, Buffer]

    def parameters(self) -> Parameters:
        """Shape and type of data inputs, constants and outputs, in this order, by name."""
        raise NotImplementedError

    def body(self, function: FunctionBuilder) -> None:
        """Write the loops."""
        raise NotImplementedError

    def bind_buffers(self, buffers: dict[str, Buffer]) -> None:
        """Keep the parameters for `body`."""
        self.buffers = {name: flatten_buffer(buffer) for name, buffer in buffers.items()}

    def prim_func(self) -> Any:
        """The PrimFunc, written anew."""
        parameters = self.parameters()
        with FunctionBuilder(self.name, parameters) as function:
            self.bind_buffers(dict(zip(parameters, function.buffers, strict=True)))
            self.body(function)
        return function.prim_func

    def kernel(self, constants: Iterable[np.ndarray], work: KernelWork | None, **others: Any) -> Kernel:
        """Kernel with these constants; others: further fields of Kernel."""
        func = memoize((type(self), self.name, self.key), self.prim_func)
        return Kernel(self.name, func, tuple(constants), self.key, work=work, template=self, **others)


class SumTemplate(Template):
    """Template of x, weight and bias whose int32 sums pass an epilogue; y is flat in the type that is stored first.

    channel_constants  flat buffers of the constants of the step right behind the sums
    """

    plan: EpiloguePlan
    x: Buffer
    weight: Buffer
    bias: Buffer
    y: Buffer

    def bind_buffers(self, buffers: dict[str, Buffer]) -> None:
        self.buffers = buffers
        self.x, self.weight, self.bias = (flatten_buffer(buffers[name]) for name in ("x", "weight", "bias"))
        self.y = flatten_buffer(buffers["y"], self.plan.dtypes[0])
        names = () if self.plan.scaler is None else self.plan.scaler.parameters(1)
        self.channel_constants = [flatten_buffer(buffers[name]) for name in names]
