"""Try tvmq on the newest apache-tvm, beyond the versions that setup.cfg allows, and say what breaks.

    python tools/next_tvm.py            # in build/next-tvm; exit code 1 if something breaks

A weekly workflow runs it. tests/base/test_tvm_internals.py asks the private facts of TVM that tvmq stands on, one test
for each, so its failures name the part of tvmq to change; the other tests are the way of a model from import to a run.
"""

from __future__ import annotations

import re
import subprocess
import sys
import venv
from configparser import ConfigParser
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "build" / "next-tvm"
OF_TVM = ("apache-tvm", "apache-tvm-ffi")
TESTS = (
    "tests/base/test_tvm_internals.py", "tests/demo", "tests/runtime/test_executable.py",
    "tests/formats/onnx/importer/test_load.py", "tests/quantization",
)  # fmt: skip
FAILURE = re.compile(r"^(?:FAILED|ERROR) (\S+)(?: - (.*))?$", re.MULTILINE)


def other_requirements(setup: Path = ROOT / "setup.cfg") -> list[str]:
    """Requirements of tvmq and its tests, TVM apart, whose newest versions are taken."""
    config = ConfigParser()
    config.read(setup)
    texts = config["options"]["install_requires"] + config["options.extras_require"]["test"]
    lines = [line.strip() for line in texts.split("\n") if line.strip() and not line.strip().startswith("#")]
    return [line for line in lines if not line.startswith(OF_TVM)]


def describe(output: str, versions: str) -> str:
    """The findings of pytest, as Markdown.

    >>> print(describe("FAILED tests/a.py::test_x - AssertionError: y moved\\n1 failed", "apache-tvm 0.28"))
    apache-tvm 0.28: 1 test fails
    - `tests/a.py::test_x`: AssertionError: y moved
    """
    failures = FAILURE.findall(output)
    count = "1 test fails" if len(failures) == 1 else f"{len(failures)} tests fail" if failures else "all pass"
    return "\n".join([f"{versions}: {count}", *(f"- `{name}`: {why or 'see the log'}" for name, why in failures)])


def main() -> int:
    """Install, test, describe."""
    venv.create(FOLDER, with_pip=True, clear=True)
    python = str(FOLDER / ("Scripts" if sys.platform == "win32" else "bin") / "python")
    pip = [python, "-m", "pip", "install", "--quiet"]
    subprocess.run([*pip, "--upgrade", "--pre", *OF_TVM], check=True)
    subprocess.run([*pip, *other_requirements()], check=True)
    subprocess.run([*pip, "--no-deps", "--editable", str(ROOT)], check=True)
    frozen = subprocess.run([python, "-m", "pip", "freeze"], capture_output=True, text=True, check=True).stdout
    versions = ", ".join(line.replace("==", " ") for line in frozen.split() if line.startswith(OF_TVM))
    tests = [test for test in TESTS if (ROOT / test).exists()]
    command = [python, "-m", "pytest", "-q", "-rfE", "-m", "not slow", "-n", "auto", *tests]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    print(done.stdout[-20000:], done.stderr[-5000:], describe(done.stdout, versions), sep="\n")
    return int(done.returncode != 0)


if __name__ == "__main__":
    raise SystemExit(main())
