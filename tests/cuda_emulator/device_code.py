"""Scheduled functions of loops as host code (LLVM) that launches emulated kernels.

What TVM does for a GPU is done here up to the text of the kernels: its passes, its host code with the launch sizes,
its CUDA source. Only the kernels' binary comes from g++ instead of nvcc. Intermediate arrays between the kernels of
one function become parameters, so that they have guards like all others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import tvm
from tvm import s_tir, tirx
from tvm.tirx.build import split_host_device_mods

from tests.cuda_emulator.dl_tensor import DlTensor
from tests.cuda_emulator.guarded import Guarded
from tests.cuda_emulator.library import EmulationError, Library, compiled
from tests.cuda_emulator.sizes import shape_of, sizes_of
from tests.cuda_emulator.source import on_cpu


@dataclass(frozen=True)
class DeviceCode:
    """Host code and CUDA source that TVM makes of functions for a GPU.

    functions   {name: the function with its intermediate arrays as parameters}
    host        LLVM code, without kernels
    source      the kernels in CUDA C++
    launches    {kernel: names of its launch parameters}
    """

    functions: Mapping[str, Any]
    host: Any
    source: str
    launches: Mapping[str, tuple[str, ...]]


def device_code(functions: Mapping[str, Any], target: Any) -> DeviceCode:
    """Host code and CUDA source of functions that are scheduled for a GPU.

    target   a tvm.target.Target of kind "cuda" with arch and host
    """
    lifted = {name: _lifted(func).with_attr("global_symbol", name) for name, func in functions.items()}
    with target, tvm.transform.PassContext(opt_level=3):
        mod = tirx.transform.BindTarget(target)(tvm.IRModule(dict(lifted)))
        pipeline, finish_host, finish_device = tirx.get_default_tir_pipeline(target)
        host, devices = split_host_device_mods(pipeline(mod))
        code = _codegen(finish_host()(host), target.host)
        device = tvm.IRModule({})
        for part in devices.values():
            device.update(finish_device()(part))
        source = str(_codegen(device, target).inspect_source()) if device.functions else ""
    launches = {_symbol(gvar, func): _launch(func) for gvar, func in device.functions_items()}
    return DeviceCode(lifted, code, source, launches)


def _codegen(mod: Any, target: Any) -> Any:
    return tvm.get_global_func(f"target.build.{target.kind.name}")(mod, target)


def _symbol(gvar: Any, func: Any) -> str:
    return str(func.attrs["global_symbol"]) if "global_symbol" in func.attrs else str(gvar.name_hint)


def _launch(func: Any) -> tuple[str, ...]:
    return tuple(str(name) for name in func.attrs["tirx.kernel_launch_params"])


def _lifted(func: Any) -> Any:
    """The function with what it allocates in global memory as further parameters."""
    if not isinstance(func.body, s_tir.SBlockRealize):
        return func
    block = func.body.block
    temporary = [buffer for buffer in block.alloc_buffers if buffer.scope() in ("", "global")]
    if not temporary:
        return func
    kept = [buffer for buffer in block.alloc_buffers if buffer.scope() not in ("", "global")]
    inner = s_tir.SBlock(
        block.iter_vars, block.reads, block.writes, block.name_hint, block.body, block.init, kept,
        block.match_buffers, block.annotations,
    )  # fmt: skip
    body = s_tir.SBlockRealize(func.body.iter_values, func.body.predicate, inner)
    return tirx.PrimFunc([*func.params, *temporary], body, func.ret_type, func.attrs)


@dataclass(frozen=True)
class Launcher:
    """Functions of a module, ready to be called with arrays.

    order     of the threads of a block: 0 forward, 1 reverse, 2 shuffled
    rubbish   the byte that new memory is full of
    """

    code: DeviceCode
    library: Library
    order: int = 0
    rubbish: int = 0xCB

    @classmethod
    def of(cls, code: DeviceCode, *, contract: bool = False) -> Launcher:
        """Compile the kernels; see `library.compiled` for `contract`. To be called once for each `code`."""
        library = compiled(on_cpu(code.source, code.launches), contract)
        code.host.import_module(library.module)
        return cls(code, library)

    def __call__(self, name: str, inputs: list[Any], outputs: list[tuple[tuple[int, ...], str]]) -> list[np.ndarray]:
        """Run a function.

        inputs    arrays, and numbers for its scalar parameters
        outputs   (shape, dtype) of the arrays that it fills
        raises    EmulationError for a fault of a kernel, a write past an array, or a write to an input
        """
        func = self.code.functions[name]
        given = [Guarded.of(x, self.rubbish, f"input {i}") if _is_array(x) else x for i, x in enumerate(inputs)]
        made = [Guarded(*output, self.rubbish, f"output {i}") for i, output in enumerate(outputs)]
        known = sizes_of(func.params, [*inputs, *(output.array for output in made)])
        temporary = [
            Guarded(shape_of(param, known), str(param.dtype), self.rubbish, param.name)
            for param in func.params[len(given) + len(made) :]
        ]
        arguments = [*given, *made, *temporary]
        self.library.reset(self.order, self.rubbish)
        tensors = [DlTensor(a.array) if isinstance(a, Guarded) else a for a in arguments]
        self.code.host[name](*(t.pointer if isinstance(t, DlTensor) else t for t in tensors))
        self.library.check()
        self._check(name, inputs, given, arguments)
        return [output.array for output in made]

    def _check(self, name: str, inputs: list[Any], given: list[Any], arguments: list[Any]) -> None:
        for argument in arguments:
            broken = argument.broken() if isinstance(argument, Guarded) else ""
            if broken:
                raise EmulationError(f"{name}: {broken}")
        for i, (before, now) in enumerate(zip(inputs, given, strict=True)):
            if isinstance(now, Guarded) and before.tobytes() != now.array.tobytes():
                raise EmulationError(f"{name}: input {i} was changed")


def _is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray)
