"""tvm.target: targets from the texts that scripts wrote ("llvm -mcpu=skylake-avx512"), which TVM refuses today.

Tests: tests/relay/test_tvm_names.py
"""

from __future__ import annotations

import shlex
from typing import Any

import tvm

from tvmq.extension import resolve_target
from tvmq.relay.tvm.forward import forward


class Target:
    """Makes targets of TVM: of a text of the old form, a dictionary, a kind; a scope as ever.

    host  accepted; code for a CPU has no other host
    raises  TargetError for CPUs and options that LLVM does not know

    >>> with Target("llvm -mcpu=skylake-avx512"):
    ...     str(Target.current().attrs["mcpu"])
    'skylake-avx512'
    """

    def __new__(cls, target: Any, host: Any = None) -> Any:
        if isinstance(target, tvm.target.Target):
            return target
        if isinstance(target, str) and target.split()[:1] == ["llvm"] and target != "llvm":
            return tvm.target.Target(resolve_target(target).tvm)
        return tvm.target.Target(_read_options(target) if isinstance(target, str) else target)

    @staticmethod
    def current(allow_none: bool = True) -> Any:
        """The target of the innermost scope, None outside of all."""
        return tvm.target.Target.current(allow_none)


def _read_options(text: str) -> dict[str, str]:
    """Options of "kind -key=value -key value", as TVM takes them today.

    >>> _read_options("cuda -arch=sm_80")
    {'kind': 'cuda', 'arch': 'sm_80'}
    """
    kind, *words = shlex.split(text.replace("=", " "))
    return {"kind": kind, **{key.lstrip("-"): value for key, value in zip(words[::2], words[1::2], strict=True)}}


def create(target: Any) -> Any:
    """As Target."""
    return Target(target)


def cuda(model: str = "unknown", arch: str | None = None, options: Any = None) -> Any:
    """A GPU of NVIDIA; arch: "sm_80"."""
    return tvm.target.Target({"kind": "cuda", **({"arch": arch} if arch else {})})


def __getattr__(name: str) -> Any:
    """TVM's other names (PEP 562)."""
    return forward("tvm.target", name)
