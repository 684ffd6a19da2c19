"""Functions of a compiled model on a virtual machine, and the same ones on further machines.

Tests: tests/runtime/test_sample_threads.py
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from tvmq.base.forks import RUNNING, ForkLock
from tvmq.codegen.target.cuda import CudaTarget
from tvmq.runtime.artifact.loaded_code import LoadedCode
from tvmq.runtime.artifact.model_description import Description
from tvmq.runtime.artifact.native_library import ONE_LOAD
from tvmq.runtime.call_code import NO_CACHES, SAMPLES, CacheNumbers, CallCode, SampleCode, entry
from tvmq.runtime.compiled_function import CompiledFunction
from tvmq.runtime.dynamic_shapes import MachineCodes, SizedCode

if TYPE_CHECKING:
    from tvmq.runtime.executable import Parts


def make_functions(parts: Parts) -> dict[str, CompiledFunction]:
    """{name: function}; they run on one virtual machine and take turns."""
    lock, code = ForkLock("running the model", RUNNING), _code(parts)
    threads = 0 if isinstance(parts.target, CudaTarget) else parts.num_threads
    functions = {}
    for name, description in parts.description.interfaces().items():
        function, fresh = code(name)
        sized = _sized_codes(parts.description, code) if name == "main" else ()
        looped = _looped_code(parts.description, code) if name == "main" else None
        copied = partial(_copied_codes, parts, name) if threads != 1 and threads != 0 else None
        functions[name] = CompiledFunction(
            name, function, description, lock, threads, fresh=fresh, sized=sized, looped=looped, copied=copied,
            caches=_cache_numbers(parts.description) if name == "main" else NO_CACHES,
        )  # fmt: skip
    return functions


def _copied_codes(parts: Parts, name: str) -> MachineCodes:
    """A function on a virtual machine of its own, with those for common sizes and for many samples."""
    code, description = _code(parts), parts.description.interfaces()[name]
    function, fresh = code(name)
    call = CallCode(function, description.unaligned, fresh=fresh)
    if name != "main":
        return MachineCodes(call)
    return MachineCodes(call, _sized_codes(parts.description, code), _looped_code(parts.description, code))


def _looped_code(description: Description, code: Callable[[str], Any]) -> CallCode | None:
    """Main for any number of samples; None where there is none, as in files of older versions."""
    try:
        return SampleCode(code("main" + SAMPLES)[0], description.calls.unaligned) if description.batch else None
    except AttributeError:
        return None


def _sized_codes(description: Description, code: Callable[[str], Any]) -> list[SizedCode]:
    """The functions for common sizes."""
    codes = []
    for sized in description.common:
        function, fresh = code(sized.function)
        unaligned, caches = description.calls.common[sized.function].unaligned, _cache_numbers(description)
        call = CallCode(function, unaligned, fresh=fresh, caches=caches)
        codes.append(SizedCode(sized.function, sized.sizes, call))
    return codes


def _cache_numbers(description: Description) -> CacheNumbers:
    """Numbers of the appended states among inputs and outputs of main."""
    if not description.state:
        return NO_CACHES
    from tvmq.state.pair import APPENDED  # of models with states alone: others load less

    pairs = [entry for entry in description.state.get("tensors", ()) if entry["kind"] == APPENDED]
    sides = (description.inputs, "input"), (description.outputs, "output")
    numbers = [
        frozenset(number for number, facts in enumerate(tensors) if facts["name"] in {pair[side] for pair in pairs})
        for tensors, side in sides
    ]
    return CacheNumbers(*numbers)


def _code(parts: Parts) -> Callable[[str], tuple[Callable[..., Any], bool]]:
    """The compiled functions by name, on tensors in the memory of the CPU; True for those whose results are fresh."""
    with ONE_LOAD:
        return _code_of(parts)


def _code_of(parts: Parts) -> Callable[[str], tuple[Callable[..., Any], bool]]:
    if isinstance(parts.target, CudaTarget):
        import tvm
        from tvm import relax

        from tvmq.runtime.cuda_device import DeviceFunction

        device = relax.VirtualMachine(parts.executable, tvm.cuda(0))
        return lambda name: (DeviceFunction(device[name]), False)
    if isinstance(parts.code, LoadedCode):
        host: Any = parts.code.machine()
    else:
        import tvm
        from tvm import relax

        host = relax.VirtualMachine(parts.code, tvm.cpu())
    return lambda name: entry(host, name)
