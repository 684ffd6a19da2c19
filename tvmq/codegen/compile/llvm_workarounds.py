"""Stores of one element of a vector, spelled out: LLVM 22 writes too many bytes otherwise.

Before (LLVM's own vectors of a short loop)              After
    masked.store(<8 x i32> %v, ptr %p,                       %e = extractelement <8 x i32> %v, i64 0
                 <i1 true, i1 false, ...>)                   store i32 %e, ptr %p

Where %v was narrowed (<8 x i64> to <8 x i32>), LLVM for AVX-512 stores the element before it was narrowed: 8 bytes
instead of 4, over what lies behind the buffer (llvm-project, issue 179489; LLVM 23 has it right). It vectorizes so
where a loop is too short to have a rest of its own, nine elements say.

Needs      code for x86 with AVX-512; other CPUs have no such store
Numerics   none
"""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import tvm

from tvmq.codegen.target.cpu import CpuTarget

FEATURE = "avx512f"
MASKED_STORE = re.compile(
    r"^(?P<indent> *)call void @llvm\.masked\.store\.\S+\(<(?P<lanes>\d+) x (?P<type>\w+)> (?P<value>\S+), "
    r"ptr (?:align \d+ )?(?P<pointer>\S+), <(?P=lanes) x i1> <(?P<mask>[^>]*)>\)(?P<rest>.*)$",
    re.MULTILINE,
)


def with_whole_stores(library: Any, target: CpuTarget) -> Any:
    """TVM's LLVM module with its lone stores spelled out; itself where it has none.

    library  as TVM compiled it; what it imports stays imported
    target   that it was compiled for
    """
    if FEATURE not in target.features or library.kind != "llvm":
        return library
    text = library.inspect_source("ll")
    repaired = expand_stores(text)
    if repaired == text:
        return library
    with TemporaryDirectory(prefix="tvmq-") as folder:
        path = Path(folder, "kernels.ll")
        path.write_text(repaired, encoding="utf-8")
        other = tvm.runtime.load_module(str(path))
    for module in library.imports:
        other.import_module(module)
    return other


def repair_stores(executable: Any, target: CpuTarget) -> None:
    """Replace the modules that an executable imports by those with whole stores, in place."""
    before = list(executable.mod.imports)
    after = [with_whole_stores(library, target) for library in before]
    if all(new is old for new, old in zip(after, before, strict=True)):
        return
    executable.mod.clear_imports()
    for library in after:
        executable.mod.import_module(library)


def expand_stores(text: str) -> str:
    """LLVM's text with an ordinary store for each masked one of a single element that is known.

    >>> store = "  call void @llvm.masked.store.v2i8.p0(<2 x i8> %v, ptr align 1 %p, <2 x i1> <i1 false, i1 true>)"
    >>> print(expand_stores(store))
      %lone.0 = extractelement <2 x i8> %v, i64 1
      %lone.0.p = getelementptr inbounds i8, ptr %p, i64 1
      store i8 %lone.0, ptr %lone.0.p, align 1
    """
    return MASKED_STORE.sub(_ordinary, text)


def _ordinary(match: re.Match[str]) -> str:
    kept = [index for index, bit in enumerate(match["mask"].split(",")) if bit.split()[-1] == "true"]
    if len(kept) != 1:
        return match[0]
    indent, kind, name = match["indent"], match["type"], f"%lone.{match.start()}"
    return "\n".join(
        (
            f"{indent}{name} = extractelement <{match['lanes']} x {kind}> {match['value']}, i64 {kept[0]}",
            f"{indent}{name}.p = getelementptr inbounds {kind}, ptr {match['pointer']}, i64 {kept[0]}",
            f"{indent}store {kind} {name}, ptr {name}.p, align 1{match['rest']}",
        )
    )
