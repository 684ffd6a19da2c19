"""Write tvmq/library/runtime.*.ll, LLVM's text of the runtime of libraries, anew.

    python tools/library_runtime.py            # writes it
    python tools/library_runtime.py --check    # compares; for CI

It needs clang 16 or newer (`apt-get install clang-16`): older ones write pointers that LLVM of today does not read.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tvmq.library.runtime_object import TEXTS, hash_sources

FOLDER = Path(__file__).resolve().parent.parent / "tvmq" / "library"
COMPILERS = ("clang-16",)
# architecture -> what clang compiles for; its atomic operations on Arm else call functions of libgcc
TARGETS = {"x86": ("--target=x86_64-linux-gnu",), "aarch64": ("--target=aarch64-linux-gnu", "-mno-outline-atomics")}
FLAGS = (
    "-std=gnu11 -O2 -fPIC -ffreestanding -fno-stack-protector -fno-asynchronous-unwind-tables -fno-ident "
    "-fno-strict-aliasing -Wall -Wextra -Werror -S -emit-llvm -o -"
).split()


def find_compiler() -> str | None:
    """The clang whose text is kept; None where it is not installed."""
    return next((path for name in COMPILERS if (path := shutil.which(name))), None)


def make_text(arch: str, compiler: str) -> str:
    """LLVM's text of the runtime for an architecture."""
    command = [compiler, *TARGETS[arch], *FLAGS, "runtime.c"]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=True)
    return f"; {hash_sources()} is the sha256 of the sources; tools/library_runtime.py writes this file\n{done.stdout}"


def main(arguments: list[str]) -> int:
    """Write or compare all texts."""
    compiler = find_compiler()
    if compiler is None:
        print(f"{COMPILERS[0]} is not installed: apt-get install {COMPILERS[0]}")
        return 2
    texts = {FOLDER / name: make_text(arch, compiler) for arch, name in TEXTS.items()}
    if "--check" in arguments:
        old = [str(path) for path, text in texts.items() if path.read_text(encoding="utf-8") != text]
        print(f"written by other sources: {', '.join(old)}" if old else "all texts are those of the sources")
        return 1 if old else 0
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
