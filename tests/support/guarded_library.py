"""C programs that test libraries: compiled by gcc, plainly or with sanitizers, and run on arrays."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from tests.support.project import ROOT

SOURCES, HEADERS = ROOT / "tests" / "library", ROOT / "tvmq" / "library"
STRICT = ("-Wall", "-Wextra", "-Werror")
SANITIZED = ("-fsanitize=address,undefined", "-fno-sanitize-recover=all")
VALGRIND = ("valgrind", "--quiet", "--error-exitcode=99", "--leak-check=full", "--errors-for-leak-kinds=definite")
COUNTS = re.compile(r"(\d+) values, (\d+) differing, (\d+) bytes written beside buffers")


@dataclass(frozen=True)
class Comparison:
    """Counts of guarded.c: values, those that differ, bytes beside buffers that were written to."""

    values: int
    differing: int
    changed_bytes: int


def compile_program(source: str, output: Path, flags: Sequence[str] = ()) -> Path:
    """The program `source`.c of tests/library, at `output`."""
    head = ["gcc", "-std=gnu99", "-g", "-O1", *STRICT, *flags, "-I", HEADERS, "-I", SOURCES]
    subprocess.run([*head, SOURCES / f"{source}.c", "-o", output, "-ldl", "-pthread"], check=True)
    return output


@cache
def has_sanitizers() -> bool:
    """True if gcc makes programs with AddressSanitizer that run here."""
    if shutil.which("gcc") is None:
        return False
    with TemporaryDirectory(prefix="tvmq-") as folder:
        source, program = Path(folder, "empty.c"), Path(folder, "empty")
        source.write_text("int main(void) { return 0; }\n")
        made = subprocess.run(["gcc", *SANITIZED, source, "-o", program], capture_output=True, check=False)
        return not made.returncode and not subprocess.run([program], capture_output=True, check=False).returncode


def run_guarded(
    program: Path,
    library: Path,
    samples: Sequence[Sequence[np.ndarray]],
    expected: Sequence[Sequence[np.ndarray]],
    *,
    code: str = "best",
    threads: int = 1,
    sizes: Sequence[int] = (),
    wrapper: Sequence[str] = (),
    environment: Mapping[str, str] | None = None,
) -> Comparison:
    """Run guarded.c: the code of this name, on samples whose results are known.

    samples   for each sample its inputs in order
    expected  for each sample its outputs in order
    sizes     of dynamic dimensions, those of all samples
    wrapper   a command in front, as VALGRIND
    raises    RuntimeError with what the program wrote where it did not compare, or something else is wrong
    """
    name = library.stem.removeprefix("lib")
    with TemporaryDirectory(prefix="tvmq-") as folder:
        files = []
        for kind, arrays in (("in", samples), ("out", expected)):
            for number, column in enumerate(zip(*arrays, strict=True)):
                files.append(Path(folder, f"{kind}{number}"))
                files[-1].write_bytes(b"".join(np.ascontiguousarray(array).tobytes() for array in column))
        text = ",".join(map(str, sizes)) or "-"
        command = [*wrapper, program, library, name, code, str(threads), text, *files]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    counts = COUNTS.search(done.stdout)
    if counts is None or (done.returncode and not int(counts[2]) and not int(counts[3])):
        raise RuntimeError(f"{program} ended with {done.returncode}: {done.stdout}{done.stderr}")
    return Comparison(*map(int, counts.groups()))
