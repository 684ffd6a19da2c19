"""The part of TVM that runs models: its runtime library, without `import tvm`.

`import tvm` loads the compiler, of 260 MB, and 780 modules of Python: 190 MiB of resident memory and a second or more.
Who loads a saved model and runs it needs libtvm_runtime.so and tvm_ffi alone, which take 20 MiB. A later `import tvm`
finds the library loaded, as TVM loads it itself before its compiler, and both see the same objects.

Tests: tests/backends/test_described_layers.py
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from tvmq.base.cpus import keep_cpu_mask

with keep_cpu_mask():
    import tvm_ffi
    from tvm_ffi import libinfo

# Of TVM's pool of threads, unless the user says otherwise: how often a thread looks for work before it sleeps. TVM's
# 300,000 keep a process that is to end for as many turns of all others on a busy CPU, minutes. SqueezeNet 1.1 with two
# threads is as fast with 50, and takes 6 % longer with 0 (docs/speed.md).
SPIN_VARIABLE, SPIN_COUNT = "TVM_THREAD_POOL_SPIN_COUNT", "50"
# And whether its threads, and the one that starts it, are bound to CPUs, by number and whatever taskset says.
BIND_VARIABLE, NOT_BOUND = "TVM_BIND_THREADS", "0"
NUM_THREADS, ALLOCATE = "runtime.NumThreads", "runtime.TVMTensorAllocWithScope"
ARRAY_ITEM = "ffi.ArrayGetItem"
LIBRARY = "libtvm_runtime.so"  # on Linux; elsewhere TVM finds its own
CPU, POOLED = 1, 2  # a device; how its memory is given out: as tvm.relax.VirtualMachine has it


@lru_cache(maxsize=1)
def library() -> ctypes.CDLL:
    """TVM's runtime library, loaded as TVM loads it."""
    os.environ.setdefault(SPIN_VARIABLE, SPIN_COUNT)
    os.environ.setdefault(BIND_VARIABLE, NOT_BOUND)
    paths = _file_of_tvm("libinfo").package_lib_paths()
    # TVM looks through all installed packages first, for one called tvm: a third of loading a small model
    for path in (folder / LIBRARY for folder in paths):
        if path.is_file():
            return ctypes.CDLL(str(path.resolve()), ctypes.RTLD_GLOBAL)
    return libinfo.load_lib_ctypes("tvm", "tvm_runtime", "RTLD_GLOBAL", extra_lib_paths=paths)


@lru_cache(maxsize=1)
def tvm_version() -> str:
    """Version of apache-tvm, as `tvm.__version__`."""
    return str(_file_of_tvm("_version").version)


def _file_of_tvm(name: str) -> Any:
    """A file of the package tvm that needs nothing of TVM, without its __init__.py."""
    if "tvm" in sys.modules and hasattr(sys.modules["tvm"], name):
        return getattr(sys.modules["tvm"], name)
    package = find_spec("tvm")
    assert package is not None and package.origin is not None
    spec = spec_from_file_location(f"tvmq_{name}", Path(package.origin).with_name(f"{name}.py"))
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def is_compiler_loaded() -> bool:
    """Whether this process has imported TVM already, so that what needs it costs nothing."""
    return "tvm" in sys.modules


def is_tvm_target(value: Any) -> bool:
    """True for a tvm.target.Target; without TVM there is none."""
    return is_compiler_loaded() and isinstance(value, sys.modules["tvm"].target.Target)


def load_compiler() -> None:
    """Import TVM, for what the runtime library lacks."""
    with keep_cpu_mask():
        import tvm  # noqa: F401


def runtime_function(name: str) -> Callable[..., Any]:
    """A global function of the runtime library."""
    library()
    function: Callable[..., Any] = tvm_ffi.get_global_func(name)
    return function


def allocate_tensor(shape: Sequence[int], dtype: str) -> tvm_ffi.Tensor:
    """Allocate a tensor in the memory of the CPU, aligned as kernels need it; its contents are undefined.

    >>> allocate_tensor([2, 3], "int8").shape
    (2, 3)
    """
    where = tvm_ffi.device("cpu", 0)
    return runtime_function(ALLOCATE)(tvm_ffi.Shape(list(shape)), tvm_ffi.dtype(dtype), where, None)


def list_items(array: Any) -> list[Any]:
    """The items of an array of TVM, in a third of the time that `list` takes.

    >>> list_items(tvm_ffi.convert([3, 4]))
    [3, 4]
    """
    item = tvm_ffi.get_global_func(ARRAY_ITEM)
    return [item(array, number) for number in range(len(array))]


def start_machine(code: Any) -> Any:
    """A virtual machine on the CPU with the functions of a module of bytecode, which names them: machine["main"]."""
    machine = code["vm_load_executable"]()
    machine["vm_initialization"](CPU, 0, POOLED)
    return machine


def num_threads() -> int:
    """Threads of the pool of this thread."""
    return int(runtime_function(NUM_THREADS)())
