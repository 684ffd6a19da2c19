"""Checks of the installation: Python, the operating system, packages and their versions."""

from __future__ import annotations

import importlib
import platform
import struct
import sys
from collections.abc import Iterator
from importlib import metadata

from tvmq.tools.doctor.findings import Finding, note, ok, problem
from tvmq.tools.doctor.versions import Requirement, parse_requirement
from tvmq.version import __version__

OLDEST, NEWEST = (3, 10), (3, 13)
# Package -> module to import, where the names differ.
MODULES = {"apache-tvm": "tvm", "apache-tvm-ffi": "tvm_ffi"}
# Extra -> what it is for; `test`, `bench` and `docs` are for the development of tvmq itself.
EXTRAS = {"torch": "tvmq.from_torch", "relay": "texts of Relay"}
REINSTALL = "pip install --upgrade --force-reinstall tvmq"


def check_python() -> Iterator[Finding]:
    """Check version and width of the Python interpreter."""
    text = f"{platform.python_implementation()} {platform.python_version()}, {struct.calcsize('P') * 8} bits"
    here = sys.version_info[:2]
    figures = {"version": platform.python_version(), "executable": sys.executable}
    if struct.calcsize("P") != 8:
        yield problem("python", text, "TVM has wheels for 64 bits only: install a 64-bit Python", **figures)
    elif not OLDEST <= here <= NEWEST:
        yield problem("python", text, "tvmq supports Python 3.10 to 3.13: use one of them", **figures)
    else:
        yield ok("python", text, **figures)


def check_system() -> Iterator[Finding]:
    """Check the operating system and its C library."""
    libc = " ".join(platform.libc_ver()).strip()
    text = ", ".join(part for part in (f"{platform.system()} {platform.release()}", platform.machine(), libc) if part)
    figures = {"system": platform.system(), "machine": platform.machine(), "libc": libc}
    if platform.system() == "Linux" and platform.libc_ver()[0] != "glibc":
        yield note("system", text, "TVM's wheels need the GNU C library: use a distribution that has it")
    else:
        yield ok("system", text, **figures)


def requirements() -> list[Requirement]:
    """Requirements of the installed tvmq; empty if it runs from its source folder without being installed."""
    try:
        return [parse_requirement(line) for line in metadata.requires("tvmq") or ()]
    except metadata.PackageNotFoundError:
        return []


def check_packages() -> Iterator[Finding]:
    """Check that tvmq and every package that it requires are installed, in range, and importable."""
    wanted = requirements()
    if not wanted:
        yield note(
            "tvmq", f"{__version__}, run from its source folder: the versions below cannot be checked",
            "pip install -e . (in that folder)",
        )  # fmt: skip
    else:
        yield _check_own_version()
    for requirement in wanted:
        if not requirement.extra:
            yield check_package(requirement)


def _check_own_version() -> Finding:
    installed = metadata.version("tvmq")
    if installed != __version__:
        what = f"{__version__} runs, but {installed} is what pip installed"
        return problem("tvmq", what, "two copies shadow each other: pip uninstall tvmq, then install it once")
    return ok("tvmq", __version__, version=__version__)


def check_package(requirement: Requirement) -> Finding:
    """Check a package that tvmq requires."""
    name = requirement.name
    remedy = f'pip install "{name}{requirement.bounds}"'
    try:
        version = metadata.version(name)
    except metadata.PackageNotFoundError:
        return problem(name, f"not installed; tvmq requires {requirement.bounds or 'any version'}", remedy)
    figures = {"version": version, "wanted": requirement.bounds}
    if not requirement.admits(version):
        return problem(name, f"{version}, tvmq requires {requirement.bounds}", remedy, **figures)
    failed = import_error(MODULES.get(name, name))
    if failed:
        return problem(name, f"{version} is installed but cannot be imported: {failed}", REINSTALL, **figures)
    return ok(name, f"{version} ({requirement.bounds})", **figures)


def import_error(module: str) -> str:
    """Why a module cannot be imported, in a line; empty if it can."""
    try:
        importlib.import_module(module)
    except Exception as error:  # a library that does not load raises OSError, RuntimeError, and others
        return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"
    return ""


def check_tvm_wheels() -> Iterator[Finding]:
    """Check that the wheels of TVM and of its FFI work together, by a call across both."""
    try:
        import tvm
        import tvm_ffi

        length = int(tvm.runtime.tensor([1.0, 2.0]).shape[0])
    except Exception as error:
        what = f"apache-tvm and apache-tvm-ffi do not work together: {type(error).__name__}: {error}"
        yield problem("tvm", what.splitlines()[0], REINSTALL)
        return
    versions = f"tvm {tvm.__version__} with tvm_ffi {tvm_ffi.__version__}"
    if length != 2:
        yield problem("tvm", f"{versions}: a tensor of two numbers has {length}", REINSTALL)
    else:
        yield ok("tvm", f"{versions}: they work together")


def check_extras() -> Iterator[Finding]:
    """Check the packages of tvmq's extras, none of which is needed for ONNX models."""
    for extra, use in EXTRAS.items():
        wanted = [requirement for requirement in requirements() if requirement.extra == extra]
        for requirement in wanted:
            yield _check_extra(requirement, use)
    yield _check_onnxruntime()


def _check_extra(requirement: Requirement, use: str) -> Finding:
    remedy = f'pip install "tvmq[{requirement.extra}]"'
    try:
        version = metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        what = f"{requirement.name} is not installed; it is only needed for {use}"
        return note(f"extra {requirement.extra}", what, remedy)
    if not requirement.admits(version):
        what = f"{requirement.name} {version}, tvmq requires {requirement.bounds}"
        return problem(f"extra {requirement.extra}", what, remedy)
    return ok(f"extra {requirement.extra}", f"{requirement.name} {version}", version=version)


def _check_onnxruntime() -> Finding:
    try:
        return ok("onnxruntime", f"{metadata.version('onnxruntime')}: doctor compares float models with it")
    except metadata.PackageNotFoundError:
        what = "not installed; with it, `tvmq doctor model.onnx` also checks the import of the float model"
        return note("onnxruntime", what, "pip install onnxruntime")
