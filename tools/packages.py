"""Build the wheel and the sdist, look into them, and try the wheel on every supported Python that is found here.

    python tools/packages.py                     what `make packages` runs
    python tools/packages.py --python 3.12       only this version; repeatable
    python tools/packages.py --versions oldest   only beside the lowest versions that setup.cfg allows (`make oldest`)
    python tools/packages.py --versions newest   only beside the newest, on one Python (`make newest`)
    python tools/packages.py --keep              leave the environments where they are, and say where

The packages are built from a copy of what git tracks, so that nothing from elsewhere in the folder gets in. The wheel
made from the sdist must hold the same bytes as the one made from the tree. For each Python a new environment outside
of the tree gets the wheel with its newest dependencies, nothing else, and there: the import, every public name, the
version, `tvmq doctor`, `tvmq demo`, and quantize, run and verify on the embedded data; with the first one mypy checks
a typed script against the installed package. The row "oldest" is one more environment of the first Python, with the
lowest versions that setup.cfg allows.
Ends with a table of versions, seconds and results, and with exit code 1 if anything failed.
"""

from __future__ import annotations

import argparse
import configparser
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSIONS = ("3.10", "3.11", "3.12", "3.13")
# Those that the lowest versions of NumPy and ONNX have wheels for
WITH_OLDEST = ("3.10", "3.11", "3.12")
# Folders of the project that are none of the package
FOREIGN = ("tests", "tutorials", "benchmarks", "tools", "docs", "build", ".github", ".ci")

PUBLIC_NAMES = """
import sys
import tvmq
heavy = [name for name in ("tvm", "onnx", "numpy", "typer") if name in sys.modules]
assert not heavy, f"import tvmq loads {heavy}"
for name in tvmq.__all__:
    assert getattr(tvmq, name) is not None, name
from tvmq import relay
assert relay.quantize.qconfig and relay.var
print(len(tvmq.__all__), "names of", tvmq.__file__)
"""

# Versions of the packages named, and of click, which typer depends on
INSTALLED = """
import sys
from importlib.metadata import PackageNotFoundError, version
try:
    click = f", click {version('click')}"
except PackageNotFoundError:  # newer typer holds its own
    click = ""
print(", ".join(f"{name} {version(name)}" for name in sys.argv[1:]) + click)
"""

# The embedded network and its pictures, as a user's own files
EMBEDDED = """
from pathlib import Path
import numpy as np
from tvmq.demo import load_demo
demo = load_demo()
Path("digits.onnx").write_bytes(demo.model)
np.save("digits.npy", demo.calibration[:64])
"""
RESULTS = """
import numpy as np
(result,) = np.load("results.npz").values()
assert result.shape == (64, 10) and np.isfinite(result).all() and result.std() > 0, result
"""

# What a user's program looks like to mypy: the names have types, and wrong uses of them are found.
TYPED = """
import numpy as np
import tvmq

config: tvmq.QConfig = tvmq.qconfig(calibrate_mode="minmax", rules=[tvmq.Rule("*/head/*", None)])
with config:
    exe: tvmq.Executable = tvmq.load("model.tvmq")
shape: tuple[int, ...] = exe.run({"x": np.zeros((1, 3), np.float32)})[0].shape
tvmq.load(3)
tvmq.qconfig().no_such_option
"""
EXPECTED_ERRORS = {9: "arg-type", 10: "attr-defined"}


class Failed(Exception):
    """A check that did not hold, in a sentence."""


@dataclass
class Row:
    """A line of the table at the end."""

    what: str
    seconds: float
    result: str

    @property
    def is_good(self) -> bool:
        """True if nothing failed."""
        return not self.result.startswith("FAILED")


def run(command: Sequence[str | Path], folder: Path, **environment: str) -> str:
    """Output of a command; Failed with its last lines if it fails."""
    kept = {
        name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV")
    }
    kept.update({"NO_COLOR": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1", **environment})
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=folder, env=kept, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = [*done.stdout.splitlines(), *done.stderr.splitlines()][-12:]
        raise Failed(f"`{' '.join(words[:6])}` ended with {done.returncode}:\n    " + "\n    ".join(lines))
    return done.stdout


def bin_of(environment: Path, name: str) -> Path:
    """A program of a virtual environment."""
    return environment / ("Scripts" if os.name == "nt" else "bin") / name


def tracked_files() -> list[Path]:
    """Files that the packages are built from, relative to the project: what git tracks, else all but build products."""
    if (ROOT / ".git").exists() and shutil.which("git"):
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        return [Path(name) for name in listed.split("\0") if name and (ROOT / name).is_file()]
    found = (path.relative_to(ROOT) for path in ROOT.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return [path for path in found if not path.parts[0].startswith(".") and path.parts[0] not in ("build", "dist")]


def copied(files: Sequence[Path], target: Path) -> Path:
    """A copy of these files of the project."""
    for path in files:
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, target / path)
    return target


def packaged(files: Sequence[Path]) -> set[str]:
    """Names in the wheel of the package's files: `passes/` is the folder `tvmq/passes/` there.

    >>> sorted(packaged([Path("tvmq/py.typed"), Path("passes/realize/"), Path("tests/test_x.py")]))
    ['tvmq/passes/realize.py', 'tvmq/py.typed']
    """
    names = (path.as_posix() for path in files)
    inside = {f"tvmq/{name}" for name in (path.as_posix() for path in files) if name.startswith("passes/")}
    return inside | {name for name in names if name.startswith("tvmq/")}


def check_wheel(names: Sequence[str], expected: set[str]) -> None:
    """The wheel holds the package's files, all of them, and its own metadata; nothing else."""
    found = {name for name in names if not re.match(r"tvmq-[^/]+\.dist-info/", name)}
    if found != expected:
        missing, added = sorted(expected - found)[:5], sorted(found - expected)[:5]
        raise Failed(f"the wheel lacks {missing} and has {added}; see `packages` and `package_data` of setup.cfg")
    if not any(name.endswith(".dist-info/licenses/LICENSE") or name.endswith(".dist-info/LICENSE") for name in names):
        raise Failed("the wheel has no licence")


def check_sdist(names: Sequence[str], files: Sequence[Path]) -> None:
    """The sdist holds what the wheel is built from and the tutorials, and no other folders of the project."""
    inside = {name.partition("/")[2] for name in names}
    wanted = {path.as_posix() for path in files if path.parts[0] in ("tvmq", "passes")}
    wanted |= {path.as_posix() for path in files if path.parts[0] == "tutorials"}
    wanted |= {"setup.cfg", "pyproject.toml", "README.md", "LICENSE"}
    foreign = sorted(name for name in inside if name.partition("/")[0] in set(FOREIGN) - {"tutorials"})
    if wanted - inside or foreign:
        raise Failed(f"the sdist lacks {sorted(wanted - inside)[:5]} and has {foreign[:5]}; see MANIFEST.in")


def contents(wheel: Path) -> dict[str, bytes]:
    """{name: bytes} of a wheel, without the list of hashes of the same."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/RECORD")}


def build(work: Path) -> Path:
    """The wheel, made from the sdist, after all that is to be known about both; both are left in dist/."""
    files = tracked_files()
    tools = work / "tools"
    run([sys.executable, "-m", "venv", tools], work)
    python = bin_of(tools, "python")
    run([python, "-m", "pip", "install", "--quiet", "build"], work)
    tree, again = (copied(files, work / name) for name in ("tree", "again"))
    for notebook in (ROOT / "build" / "tutorials").glob("*.ipynb"):  # of `make tutorials`, which is not needed
        shutil.copy2(notebook, tree / "tutorials" / notebook.name)
    run([python, "-m", "build", "--outdir", work / "dist", tree], work)  # the sdist, and the wheel from it
    run([python, "-m", "build", "--wheel", "--outdir", work / "direct", again], work)
    (wheel,), (direct,) = (list((work / name).glob("*.whl")) for name in ("dist", "direct"))
    (sdist,) = (work / "dist").glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        check_sdist([member.name for member in archive.getmembers() if member.isfile()], files)
    made, straight = contents(wheel), contents(direct)
    check_wheel([*made, "tvmq-0.dist-info/RECORD"], packaged(files))
    if made != straight:
        different = sorted(name for name in {*made, *straight} if made.get(name) != straight.get(name))
        raise Failed(f"the wheel from the sdist differs from the one from the tree in {different[:5]}")
    (ROOT / "dist").mkdir(exist_ok=True)
    for path in (sdist, wheel):
        shutil.copy2(path, ROOT / "dist" / path.name)
    return ROOT / "dist" / wheel.name


def interpreters() -> Iterator[tuple[str, Path]]:
    """(version, interpreter) of every supported Python that starts: on the PATH, or of pyenv."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    for version in VERSIONS:
        named = shutil.which(f"python{version}")
        own = sorted(pyenv.glob(f"{version}.*/bin/python"))
        for path in ([Path(named)] if named else []) + own + [Path(sys.executable)]:
            if version_of(path) == version:
                yield version, path
                break


def version_of(python: Path) -> str:
    """ "3.12" of an interpreter; empty if it does not start, as shims of pyenv do."""
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def lowest_versions() -> list[str]:
    """Constraints of pip that hold each dependency at the lower bound of setup.cfg."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    return lowest_of(config["options"]["install_requires"])


def bounded_packages() -> list[str]:
    """Names of the dependencies of setup.cfg."""
    return [requirement.partition("==")[0] for requirement in lowest_versions()]


def lowest_of(requirements: str) -> list[str]:
    """Requirements, a line each, at their lower bounds.

    >>> lowest_of("numpy>=1.26\\n# a comment\\napache-tvm>=0.27.0.post1,<0.28")
    ['numpy==1.26', 'apache-tvm==0.27.0.post1']
    """
    return [f"{name}=={version}" for name, version in re.findall(r"^\s*([\w-]+)>=([\w.]+)", requirements, re.MULTILINE)]


def try_wheel(wheel: Path, python: Path, folder: Path, *, types: bool, constraints: Sequence[str] = ()) -> str:
    """Install the wheel in a new environment and use it as its users do; returns its output."""
    folder.mkdir(parents=True)
    environment = folder / "environment"
    run([python, "-m", "venv", environment], folder)
    here = bin_of(environment, "python")
    (folder / "constraints.txt").write_text("\n".join(constraints), encoding="utf-8")
    run([here, "-m", "pip", "install", "--quiet", "-c", folder / "constraints.txt", wheel], folder)
    own = {"TVMQ_CACHE": str(folder / "cache"), "HOME": str(folder)}
    names = run([here, "-c", PUBLIC_NAMES], folder, **own)
    if str(ROOT) in names:
        raise Failed(f"what was imported is not the wheel: {names}")
    command = bin_of(environment, "tvmq")
    version = run([command, "--version"], folder, **own).strip()
    if version.partition(" ")[2] not in wheel.name:
        raise Failed(f"`tvmq --version` says {version!r}, the wheel is {wheel.name}")
    doctor = json.loads(run([command, "doctor", "--json"], folder, **own))
    demo = json.loads(run([command, "demo", "--output", "digits.tvmq", "--json", "--quiet"], folder, **own))
    if not demo["exact"] or demo["int8_accuracy"] < demo["float_accuracy"] - 0.02:
        raise Failed(f"demo: exact {demo['exact']}, accuracy {demo['float_accuracy']} -> {demo['int8_accuracy']}")
    check_commands(here, command, folder, own)
    checked = f", {check_types(here, folder)}" if types else ""
    told = f"{version}, {len(doctor['findings'])} findings, int8 {demo['int8_accuracy']:.1%} and exact{checked}"
    return f"{told}; {run([here, '-c', INSTALLED, *bounded_packages()], folder).strip()}"


def check_commands(python: Path, command: Path, folder: Path, own: dict[str, str]) -> None:
    """Quantize the embedded network on the embedded data with an option of each type, run it and verify it."""
    help_text = run([command, "quantize", "--help-all"], folder, **own, COLUMNS="200")
    missing = [option for option in ("--momentum", "--group-size", "--rule", "--data") if option not in help_text]
    if missing:
        raise Failed(f"`tvmq quantize --help-all` does not show {missing}")
    environment = {**os.environ, **own}
    alone = subprocess.run([command, "quantize"], cwd=folder, env=environment, capture_output=True, check=False)
    if alone.returncode != 2:
        raise Failed(f"`tvmq quantize` without a model ends with {alone.returncode}, not with 2")
    run([python, "-c", EMBEDDED], folder, **own)
    options = ["--calibrate-mode", "moving_average", "--momentum", "0.9", "--guard", "sqnr >= 10"]
    quantize = [command, "quantize", "digits.onnx", "--data", "digits.npy", "--output", "m.tvmq", "--quiet"]
    run([*quantize, *options, "--rule", "*=w8a8"], folder, **own)
    run([command, "run", "m.tvmq", "--data", "digits.npy", "--output", "results.npz", "--quiet"], folder, **own)
    run([python, "-c", RESULTS], folder, **own)
    verified = run([command, "verify", "m.tvmq", "--data", "digits.npy", "--quiet"], folder, **own)
    if "exact: yes" not in verified:
        raise Failed(f"`tvmq verify` says {verified!r}")


def try_oldest(wheel: Path, python: Path, folder: Path) -> str:
    """The wheel beside the lowest versions that setup.cfg allows."""
    return try_wheel(wheel, python, folder, types=False, constraints=lowest_versions())


def check_types(python: Path, folder: Path) -> str:
    """mypy sees the types of the installed package: exactly the two mistakes of TYPED are found."""
    environment = folder / "mypy"
    run([python, "-m", "venv", environment], folder)
    run([bin_of(environment, "python"), "-m", "pip", "install", "--quiet", "mypy"], folder)
    script = folder / "user.py"
    script.write_text(TYPED, encoding="utf-8")
    command = [bin_of(environment, "python"), "-m", "mypy", "--strict", "--python-executable", python, script]
    done = subprocess.run([str(word) for word in command], cwd=folder, capture_output=True, text=True, check=False)
    compare_errors(done.stdout)
    return f"py.typed: {len(EXPECTED_ERRORS)} mistakes found"


def compare_errors(printed: str) -> None:
    """Failed unless mypy printed exactly the errors that TYPED holds.

    >>> compare_errors('user.py:9: error: Argument 1 [arg-type]\\nuser.py:10: error: no attribute  [attr-defined]')
    """
    found = {int(line): kind for line, kind in re.findall(r"user\.py:(\d+): error: .*\[([\w-]+)\]", printed)}
    if found != EXPECTED_ERRORS:
        raise Failed(f"mypy found {found} in a user's script, expected {EXPECTED_ERRORS}:\n{printed[-1500:]}")


def timed(what: str, work: object) -> tuple[Row, object]:
    """A row of the table for a function that may fail."""
    start = time.perf_counter()
    try:
        result = work()  # type: ignore[operator]
    except Failed as error:
        print(f"{what}: {error}", file=sys.stderr, flush=True)
        result = f"FAILED: {str(error).splitlines()[0]}"
    row = Row(what, time.perf_counter() - start, str(result))
    print(f"{row.what:<10} {row.seconds:7.1f} s  {row.result}", flush=True)
    return row, result


def main() -> int:
    """The whole of it; 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", action="append", choices=VERSIONS, help="only this version; repeatable")
    parser.add_argument("--versions", choices=("oldest", "newest"), help="only beside these versions, on one Python")
    parser.add_argument("--keep", action="store_true", help="leave the environments where they are")
    arguments = parser.parse_args()
    work = Path(tempfile.mkdtemp(prefix="tvmq-packages-"))
    try:
        rows = [*_rows(work, arguments.python or VERSIONS, arguments.versions, arguments.keep)]
    finally:
        if arguments.keep:
            print(f"left in {work}")
        else:
            shutil.rmtree(work, ignore_errors=True)
    print("\npackage     seconds  result")
    for row in rows:
        print(f"{row.what:<10} {row.seconds:8.1f}  {row.result}")
    tried = {row.what for row in rows}
    absent = [version for version in arguments.python or VERSIONS if f"py{version}" not in tried]
    if absent and not arguments.versions:
        print(f"not found here, so not tried: Python {', '.join(absent)}")
    good = all(row.is_good for row in rows) and len(rows) > 1
    return 0 if good else 1


def _rows(work: Path, versions: Sequence[str], bound: str | None, keep: bool) -> Iterator[Row]:
    row, wheel = timed("build", lambda: build(work))
    yield row
    if not row.is_good:
        return
    found = [(version, python) for version, python in interpreters() if version in versions]
    for index, (version, python) in enumerate({None: found, "newest": found[:1], "oldest": []}[bound]):
        folder = work / f"py{version}"
        row, _ = timed(
            f"py{version}", lambda p=python, f=folder, i=index: try_wheel(Path(str(wheel)), p, f, types=i == 0)
        )
        yield row
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)  # 500 MB each
    old = [python for version, python in found if version in WITH_OLDEST]
    if old and bound != "newest":
        yield timed("oldest", lambda: try_oldest(Path(str(wheel)), old[0], work / "oldest"))[0]


if __name__ == "__main__":
    sys.exit(main())
