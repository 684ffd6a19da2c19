"""Which GPU to compile for, and the CPU that launches its kernels."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from tvmq.base.tvm_runtime import is_tvm_target
from tvmq.codegen.target.cpu import CpuTarget, parse, resolve_target
from tvmq.errors import TargetError

if TYPE_CHECKING:
    from tvmq.codegen.kernels.parts.kernel_types import Isa

KIND = "cuda"
# Names that CUDA 13 gives to the GPUs it compiles for; "a" is code that no later GPU runs.
ARCHITECTURES = (
    "sm_75", "sm_80", "sm_86", "sm_87", "sm_88", "sm_89", "sm_90", "sm_90a",
    "sm_100", "sm_100a", "sm_103", "sm_110", "sm_120", "sm_121",
)  # fmt: skip
# The oldest that CUDA 13 compiles for; its code, kept as PTX as well, runs on all later GPUs.
PORTABLE = "sm_75"
# TVM's architecture of a tvm.target.Target that names none on a machine without a GPU; CUDA 13 has it no more.
TVM_DEFAULT = "sm_50"
# Options of TVM's that we set ourselves, or that are without effect on our code.
IDLE = ("keys", "tag", "device", "model", "libs", "max_num_threads", "thread_warp_size", "max_threads_per_block",
        "max_shared_memory_per_block", "registers_per_block", "l2_cache_size_bytes")  # fmt: skip
VECTOR_BYTES = 16  # of the widest load of a thread


@dataclass(frozen=True)
class CudaTarget:
    """A GPU to compile for.

    arch  CUDA's name of it, "sm_90"
    host  the CPU that launches the kernels
    """

    arch: str
    host: CpuTarget

    kind = KIND

    @property
    def name(self) -> str:
        """Display name: "cuda sm_90"."""
        return f"{KIND} {self.arch}"

    @property
    def capability(self) -> tuple[int, int]:
        """Major and minor number of the compute capability.

        >>> CudaTarget("sm_90a", resolve_target()).capability, CudaTarget("sm_103", resolve_target()).capability
        ((9, 0), (10, 3))
        """
        return _capability(self.arch)

    @property
    def isa(self) -> Isa:
        """Tells the choice of kernels that it is for a GPU."""
        from tvmq.codegen.kernels.parts.kernel_types import Isa

        major, minor = self.capability
        return Isa(KIND, VECTOR_BYTES, 10 * major + minor)

    @property
    def needs(self) -> frozenset[str]:
        """Features that the CPU must have."""
        return self.host.needs

    @property
    def tvm(self) -> dict[str, Any]:
        """Options, as tvm.target.Target takes them."""
        return {"kind": KIND, "arch": self.arch, "host": dict(self.host.tvm)}

    def as_tvm(self) -> Any:
        """The target as a tvm.target.Target."""
        import tvm

        return tvm.target.Target(self.tvm)


def is_cuda(target: Any) -> bool:
    """True for targets of kind "cuda", of any form that `cuda_target` takes."""
    if isinstance(target, CudaTarget):
        return True
    if is_tvm_target(target):
        return str(target.kind.name) == KIND
    if isinstance(target, Mapping):
        return target.get("kind") == KIND
    return isinstance(target, str) and target.split(maxsplit=1)[:1] == [KIND]


def cuda_target(target: Any = KIND) -> CudaTarget:
    """The GPU that a target describes.

    target   "cuda": the GPU of this machine, or, with a UserWarning that says so, code that all GPUs since sm_75 run
             where there is none;
             "cuda -arch=sm_90"; {"kind": "cuda", "arch": "sm_90"}, "host" as `resolve_target` takes it;
             a tvm.target.Target, also as tvm.target.Target("cuda") makes it; a CudaTarget
    raises   TargetError for an unknown option or architecture, and for one before sm_75

    >>> cuda_target("cuda -arch=sm_80").name
    'cuda sm_80'
    """
    if isinstance(target, CudaTarget):
        return target
    options = _options(target)
    options.pop("kind")
    host = resolve_target(options.pop("host", None) or plain_host())
    arch = options.pop("arch", None)
    known = ("arch", "host")
    for key in options:
        if key not in IDLE:
            close = get_close_matches(str(key), known, n=1)
            hint = f"; did you mean {close[0]}?" if close else f"; it takes {', '.join(known)}"
            raise TargetError(f"build: target 'cuda' has no option {key!r}{hint}")
    arch = arch or device_arch() or _portable_arch()
    _check_arch(arch)
    return CudaTarget(str(arch), host)


def _portable_arch() -> str:
    from tvmq.base.deprecation import warn_user

    warn_user(
        f"build: target 'cuda' names no architecture and this machine has no NVIDIA GPU that TVM can use: the code is "
        f"for {PORTABLE}, which later GPUs run without their best kernels; name one, as 'cuda -arch=sm_90'"
    )
    return PORTABLE


def plain_host() -> dict[str, Any]:
    """The plainest CPU of this machine's kind: the host only launches kernels, and so runs wherever the GPU is."""
    return {"kind": "llvm", "mcpu": "x86-64" if resolve_target().arch == "x86" else "generic"}


def device_arch() -> str | None:
    """Architecture of this machine's first GPU; None where there is none that TVM can use.

    One that ARCHITECTURES does not name is taken for the last before it, whose PTX it runs.
    """
    import tvm

    device = tvm.cuda(0)
    if not device.exist:
        return None
    major, minor = map(int, str(device.compute_version).split("."))
    plain = [arch for arch in ARCHITECTURES if not arch.endswith("a")]
    return max((arch for arch in plain if _capability(arch) <= (major, minor)), key=_capability, default=PORTABLE)


def _capability(arch: str) -> tuple[int, int]:
    digits = arch[3:].rstrip("a")
    return int(digits[:-1]), int(digits[-1])


def _options(target: Any) -> dict[str, Any]:
    if isinstance(target, str):
        return parse(target)
    if is_tvm_target(target):
        options = {str(key): value for key, value in target.export().items() if key != "host"}
        if options.get("arch") == TVM_DEFAULT:
            del options["arch"]
        return {**options, **({"host": target.host} if target.host is not None else {})}
    return dict(target)


def _check_arch(arch: Any) -> None:
    if re.fullmatch(r"sm_[1-7]\d", str(arch)) and _capability(arch) < _capability(PORTABLE):
        raise TargetError(
            f"build: target 'cuda' has architecture {arch!r}, which the CUDA 13 that TVM needs neither compiles for "
            f"nor runs on; the oldest is {PORTABLE}"
        )
    if arch not in ARCHITECTURES:
        close = get_close_matches(str(arch), ARCHITECTURES, n=1)
        hint = f"did you mean {close[0]}?" if close else f"known are {', '.join(ARCHITECTURES)}"
        raise TargetError(f"build: target 'cuda' has no architecture {arch!r}; {hint}")
