"""Checks of this machine: CPU features and the kernels they give, cores, memory, the cache folder, a GPU.

Tests: tests/tools/doctor/test_installation.py
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from tvmq.base.cache import VARIABLE, cache_folder, why_untrusted
from tvmq.base.memory import memory_limit
from tvmq.errors import BlasError
from tvmq.tools.doctor.findings import Finding, note, ok, problem

GIB = 2**30
LITTLE_MEMORY = 2 * GIB  # quantizing a network of 20 MB of weights takes about 1
LARGE_CACHE = 5 * GIB
# Level of the kernels -> consequence.
SLOWER = {
    "generic": "no vector kernels for this CPU: int8 will hardly be faster than float",
    "avx2": "no VNNI: `--for this-machine` takes 7-bit weights, which are multiplied a little faster",
    "avx512bw": "no VNNI: `--for this-machine` takes 7-bit weights, which are multiplied a little faster",
    "neon": "no dotprod: int8 is multiplied in 16-bit lanes",
}
# Features that decide between kernels, by LLVM's names.
TELLING = (
    "avx2", "fma", "avx512bw", "avx512vl", "avx512vnni", "avx512vbmi", "avxvnni", "avxvnniint8", "amx-int8",
    "neon", "dotprod", "i8mm", "sve",
)  # fmt: skip


def check_cpu() -> Iterator[Finding]:
    """Report the CPU, and the level of kernels chosen for it."""
    from tvmq.codegen.target.cpu import resolve_target
    from tvmq.codegen.target.host import VARIABLE as CPU_VARIABLE
    from tvmq.codegen.target.host import host_options

    target = resolve_target()
    has = [name for name in TELLING if name in target.features]
    text = f"{target.mcpu}: {', '.join(has) or 'none of the features that kernels use'}"
    figures = {"mcpu": target.mcpu, "features": has, "level": target.isa.name}
    yield ok("cpu", text, **figures)
    named = os.environ.get(CPU_VARIABLE)
    hidden = [change for change in host_options().get("mattr", ()) if change.startswith("-")]  # type: ignore[attr-defined]
    if named:
        yield note("cpu features", f"{CPU_VARIABLE}={named} restricts the features in use", f"unset {CPU_VARIABLE}")
    elif hidden:
        listed = ", ".join(change[1:] for change in hidden[:6])
        yield note("cpu features", f"the operating system hides {listed}{', ...' if len(hidden) > 6 else ''}: not used")
    if target.isa.name in SLOWER:
        yield note("kernels", f"level '{target.isa.name}'", SLOWER[target.isa.name])
    else:
        yield ok("kernels", f"level '{target.isa.name}', {8 * target.isa.vector_bytes} bits wide")


def check_threads() -> Iterator[Finding]:
    """Check the number of threads against the CPUs that this process may use."""
    from tvmq.base.cpus import ALLOWED_CPUS, VARIABLES, default_threads

    allowed, threads, quota = len(ALLOWED_CPUS), default_threads(), cpu_quota()
    named = next((name for name in VARIABLES if os.environ.get(name)), "")
    text = f"{threads} a run" + (f" ({named})" if named else "")
    text += f"; this process may use {allowed} of {os.cpu_count()} CPUs"
    figures = {"threads": threads, "allowed": allowed, "cpus": os.cpu_count(), "quota": quota}
    if quota is not None and quota < threads:
        what = f"{text}, but its control group gets the time of {quota:g}: threads would wait for each other"
        yield problem("threads", what, f"export TVMQ_NUM_THREADS={max(1, int(quota))}", **figures)
    elif threads > allowed:
        what = f"{text}: more threads than CPUs"
        yield problem("threads", what, f"export TVMQ_NUM_THREADS={allowed}", **figures)
    else:
        yield ok("threads", text, **figures)


def cpu_quota(root: Path = Path("/sys/fs/cgroup")) -> float | None:
    """CPU time in CPUs that the Linux control group (container) allows; None without a limit."""
    try:
        quota, period = (root / "cpu.max").read_text().split()[:2]
        return None if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError):
        pass
    try:
        budget, every = (int((root / "cpu" / f"cpu.cfs_{name}_us").read_text()) for name in ("quota", "period"))
        return budget / every if budget > 0 else None
    except (OSError, ValueError, ZeroDivisionError):
        return None


def check_memory() -> Iterator[Finding]:
    """Check the free memory, within the limit of the control group."""
    free, limit = free_memory(), memory_limit()
    if free is None:
        yield ok("memory", "the amount of free memory is unknown on this system")
        return
    room = min(free, limit) if limit else free
    text = f"{room / GIB:.1f} GiB free" + (f", this group may use {limit / GIB:.1f} GiB" if limit else "")
    figures = {"free": free, "limit": limit}
    if room < LITTLE_MEMORY:
        yield note(
            "memory", text, "enough for small models; for larger ones close other programs, or use --batch 1", **figures
        )
    else:
        yield ok("memory", text, **figures)


def check_known_products() -> Iterator[Finding]:
    """Check NumPy's BLAS on products with known results."""
    from tvmq.numerics.gemm import check_blas
    from tvmq.numerics.known_products import REMEDY, blas_name

    try:
        check_blas()
    except BlasError as error:
        what, _, _ = str(error).removeprefix("numerics: ").partition("; ")
        yield problem("blas", what, REMEDY)
    else:
        yield ok("blas", f"{blas_name()}: known sums of products are right")


def free_memory(meminfo: Path = Path("/proc/meminfo")) -> int | None:
    """Available memory in bytes; None if the system does not report it."""
    try:
        lines = dict(line.split(":", 1) for line in meminfo.read_text().splitlines() if ":" in line)
        return int(lines["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError, ValueError):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # Windows has no sysconf, macOS not this name
        return None


def check_cache() -> Iterator[Finding]:
    """Check that the cache of compiled kernels and measured tiles is writable, and report its size."""
    folder = cache_folder()
    if folder is None:
        yield note("cache", f"off ({VARIABLE} is empty, or there is no home)", f"unset {VARIABLE}: builds get faster")
        return
    reason = why_untrusted(folder)
    if reason:
        what, _, remedy = reason.rpartition("; ")
        yield problem("cache", f"'{folder}' is not used, because {what}", remedy)
        return
    refused = write_error(folder)
    if refused:
        yield problem("cache", f"'{folder}' cannot be written: {refused}", f"set {VARIABLE} to a folder of yours")
        return
    files = [path.stat().st_size for path in folder.rglob("*") if path.is_file()] if folder.exists() else []
    text = f"'{folder}', {len(files)} files, {sum(files) / 1e6:.1f} MB"
    figures = {"folder": str(folder), "files": len(files), "bytes": sum(files)}
    if sum(files) > LARGE_CACHE:
        yield note("cache", text, "it may be deleted at any time; tvmq builds again what it needs", **figures)
    else:
        yield ok("cache", text, **figures)


def write_error(folder: Path) -> str:
    """Reason why a folder, created if needed, cannot be written; empty if it can."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"tvmq")
    except OSError as error:
        return error.strerror or str(error)
    return ""


def check_targets() -> Iterator[Finding]:
    """Check which code generators TVM was compiled with."""
    import tvm_ffi
    from tvm.target import codegen

    if tvm_ffi.get_global_func("target.build.llvm", allow_missing=True) is None:
        remedy = "install the wheel of apache-tvm, which has LLVM: pip install --force-reinstall apache-tvm"
        yield problem("target llvm", "TVM was compiled without LLVM: nothing can be built for CPUs", remedy)
    else:
        yield ok("target llvm", f"LLVM {codegen.llvm_version_major()}", llvm=int(codegen.llvm_version_major()))
    if tvm_ffi.get_global_func("target.build.cuda", allow_missing=True) is None:
        yield note("target cuda", "TVM was compiled without CUDA: no GPUs", "not needed for CPUs")
    else:
        yield ok("target cuda", "compiled in")


def check_gpu() -> Iterator[Finding]:
    """Check whether code for NVIDIA GPUs can be compiled and run here, and name what is missing."""
    import tvm

    compiler = _gpu_compiler()
    driver = has_nvidia_driver()
    if bool(tvm.cuda(0).exist):
        yield _report_gpu(tvm.cuda(0), compiler)
    elif driver:
        from tvmq.runtime.cuda_device import INSTALL

        what = f"an NVIDIA driver is installed, but TVM cannot use a GPU; {compiler or 'no compiler for it'}"
        yield problem("gpu", what, f"TVM needs {INSTALL}; is libcudart.so.13 on LD_LIBRARY_PATH?")
    else:
        yield ok("gpu", "no NVIDIA GPU; not needed for CPUs", driver=False, compiler=compiler)


def _report_gpu(device: object, compiler: str) -> Finding:
    name, version = getattr(device, "device_name", "GPU"), getattr(device, "compute_version", "?")
    text = f"{name}, sm_{str(version).replace('.', '')}"
    if not compiler:
        remedy = "install CUDA's nvcc, or: pip install cuda-bindings nvidia-cuda-nvrtc"
        return problem("gpu", f"{text}, but no compiler for it", remedy)
    return ok("gpu", f"{text}; {compiler}", name=str(name), compiler=compiler)


def _gpu_compiler() -> str:
    """Name and place of the CUDA C++ compiler; empty if there is none."""
    from tvmq.codegen.target.nvcc import find_nvcc

    nvcc = find_nvcc()
    if nvcc:
        return f"nvcc at {nvcc}"
    try:
        from cuda.bindings import nvrtc

        return f"NVRTC {'.'.join(str(part) for part in nvrtc.nvrtcVersion()[1:])}"
    except (ImportError, RuntimeError):
        return ""


def has_nvidia_driver(root: Path = Path("/proc/driver/nvidia/version")) -> bool:
    """True where NVIDIA's driver is loaded (Linux) or installed (Windows)."""
    if sys.platform == "win32":
        return Path(os.environ.get("SystemRoot", "C:/Windows"), "System32", "nvcuda.dll").exists()
    return root.exists()
