"""The CPU of a saved model, as its file describes it: known without LLVM where Linux says what this CPU has."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tvmq.codegen.target.cpu import TRIPLES, CpuTarget, host_arch, resolve_target
from tvmq.codegen.target.host import missing_by_linux, remaining_features

if TYPE_CHECKING:
    from tvmq.codegen.kernels.parts.kernel_types import Isa


class SavedTarget(CpuTarget):
    """A CPU whose features are asked of LLVM when somebody wants more than what the code needs.

    It is equal to the CpuTarget of the same options.
    """

    def __init__(self, options: Mapping[str, Any], needs: frozenset[str]) -> None:
        for name, value in (("kind", options["kind"]), ("mcpu", options["mcpu"]), ("tvm", dict(options))):
            object.__setattr__(self, name, value)  # the class is frozen
        object.__setattr__(self, "_needs", needs)

    @cached_property
    def features(self) -> frozenset[str]:
        """LLVM's names of what it has, hints for scheduling included."""
        return resolve_target(self.tvm).features

    @property
    def needs(self) -> frozenset[str]:
        """Features that a CPU must have to run the code."""
        needs: frozenset[str] = self.__dict__["_needs"]
        return needs

    @cached_property
    def isa(self) -> Isa:
        """Instruction set level of our kernels; what decides it is among the needed features."""
        from tvmq.codegen.kernels.isa import isa_named, level_for

        return isa_named(level_for(self.arch, self.needs))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CpuTarget):
            return NotImplemented
        return (self.kind, self.mcpu, self.features, self.tvm) == (other.kind, other.mcpu, other.features, other.tvm)

    def __hash__(self) -> int:
        return hash((self.kind, self.mcpu, self.features))

    def __repr__(self) -> str:
        return f"SavedTarget({self.name})"


def saved_target(options: Mapping[str, Any], needs: Iterable[str], arch: str) -> CpuTarget:
    """The target of a manifest. One of another architecture is taken as its file describes it.

    options  those of the target; without a triple they are of Linux on `arch`, the machine where the file was made
    needs, arch  what code for it needs, and of which architecture it is
    raises   TargetError, or another error of TVM's, for options that no target has
    """
    needed, is_foreign = remaining_features(needs, arch), arch != host_arch()
    if is_foreign and arch in TRIPLES and not options.get("mtriple"):
        options = {**options, "mtriple": TRIPLES[arch]}
    texts = [options.get("kind"), options.get("mcpu"), options.get("mtriple", ""), *options.get("mattr", ())]
    is_plain = options.keys() <= {"kind", "mcpu", "mtriple", "mattr"} and all(isinstance(text, str) for text in texts)
    if not is_plain or options["kind"] != "llvm" or (not is_foreign and missing_by_linux(needed) is None):
        return resolve_target(dict(options))
    target = SavedTarget(options, needed)
    return target if target.arch == arch else resolve_target(dict(options))
