"""The package requires no particular operating system, no shell and no compiler.

Features of some systems only must be used after a test (`hasattr`) or in a `try`; a run without all of it, as on
another system, goes from a model to results.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys

import pytest

from tests.support.project import ROOT, module_name, modules, source_files

# Modules and names of `os` that some supported system lacks
MODULES = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog", "posix", "winreg", "msvcrt", "_winapi"}
NAMES = {
    "sched_getaffinity", "memfd_create", "sysconf", "getuid", "geteuid", "getgid", "uname", "fork", "forkpty", "killpg",
    "setsid", "mkfifo", "getloadavg", "nice", "posix_fadvise", "pread", "pwrite", "sched_setaffinity", "getpgid",
}  # fmt: skip
NEVER = {"fork", "forkpty", "system", "popen", "spawnl", "spawnv", "execv", "execl", "startfile"}
SIGNALS = {"SIGINT", "SIGTERM", "getsignal", "signal", "default_int_handler", "SIG_IGN", "SIG_DFL"}  # everywhere
# Who may start programs, and why
PROGRAMS = {
    "tvmq.codegen.compile.external_code": "the C compiler, where it is found and a code generator gives C",
    "tvmq.codegen.target.nvcc": "nvcc compiles CUDA C++, where it is found",
}
# Who names files of Linux or Unix; each asks first, or takes their absence for an answer
SYSTEM_FILES = {
    "tvmq.base.memory": "what a control group allows",
    "tvmq.base.cache": "an example",
    "tvmq.integrations.serving.server_metrics": "memory of this process",
    "tvmq.tools.cli.speed": "the name of the CPU",
    "tvmq.codegen.target.nvcc": "where CUDA is usually installed",
    "tvmq.codegen.target.host": "features of the CPU",
    "tvmq.runtime.artifact.memory_file": "files in memory",
    "tvmq.runtime.c_library": "an open file by its number",
    "tvmq.base.whole_file": "files without a name, by their number",
    "tvmq.runtime.artifact.native_library": "a library in memory, where the temporary folder forbids execution",
    "tvmq.base.cpus": "threads of one core",
    "tvmq.codegen.cost": "sizes of caches",
    "tvmq.tools.doctor.machine": "limits of containers, free memory, NVIDIA's driver",
}


# A text without any of these has no fault; most have none, and need not be parsed
SUSPECT = re.compile(
    r"\bos\.|subprocess|signal|shell|/(?:proc|sys|dev|usr|etc|tmp)/|C:[/\\]|" + "|".join(sorted(MODULES))
)


def faults(text: str, name: str) -> list[str]:
    """Lines of a source text that need what other systems lack."""
    if not SUSPECT.search(text):
        return []
    tree = ast.parse(text)
    asked = {node.args[1].value for node in ast.walk(tree) if _is_question(node)}  # type: ignore[attr-defined]
    tried = {inner for node in ast.walk(tree) if isinstance(node, ast.Try) for inner in ast.walk(node)}
    return [f"{name}:{node.lineno}: {fault}" for node in ast.walk(tree) for fault in _of(node, name, asked, tried)]


def _is_question(node: ast.AST) -> bool:
    """True for hasattr(os, "name")."""
    is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "hasattr"
    return is_call and len(node.args) == 2 and isinstance(node.args[1], ast.Constant)


def _of(node: ast.AST, name: str, asked: set[object], tried: set[ast.AST]) -> list[str]:
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        found = [f"import {one} outside of a try" for one in names if one in MODULES and node not in tried]
        return found + [f"import {one}" for one in names if one == "subprocess" and name not in PROGRAMS]
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        if node.value.id == "os" and node.attr in NEVER:
            return [f"os.{node.attr}"]
        if node.value.id == "os" and node.attr in NAMES and node.attr not in asked and node not in tried:
            return [f"os.{node.attr} without hasattr or try"]
        if node.value.id == "signal" and node.attr not in SIGNALS:
            return [f"signal.{node.attr}"]
    if isinstance(node, ast.keyword) and node.arg == "shell" and getattr(node.value, "value", None) is True:
        return ["shell=True"]
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and name not in SYSTEM_FILES:
        if node.value.startswith(("/proc/", "/sys/", "/dev/", "/usr/", "/etc/", "/tmp/", "C:/", "C:\\")):
            return [f"'{node.value}'"]
    return []


@pytest.mark.slow
def test_nothing_asks_for_one_system():
    found = [fault for path in source_files() for fault in faults(path.read_text(), module_name(path))]
    assert found == [], "\n".join(found)


@pytest.mark.parametrize("text", [
    "import fcntl", "import os\nos.fork()", "import os\nos.sched_getaffinity(0)", "from resource import getrusage",
    "run('ls', shell=True)", "import subprocess", "open('/proc/cpuinfo')", "import signal\nsignal.alarm(3)",
    "import os\nos.system('ls')",
])  # fmt: skip
def test_the_scan_sees(text):
    assert faults(text, "tvmq.x")


@pytest.mark.parametrize("text", [
    "try:\n    import fcntl\nexcept ImportError:\n    fcntl = None",
    "import os\nn = os.sched_getaffinity(0) if hasattr(os, 'sched_getaffinity') else 1",
    "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)",
    "import os\ntry:\n    os.sysconf('x')\nexcept (AttributeError, OSError):\n    pass",
])  # fmt: skip
def test_the_scan_allows(text):
    assert faults(text, "tvmq.x") == []


def test_lists_are_current():
    names = set(modules())
    assert set(PROGRAMS) <= names and set(SYSTEM_FILES) <= names


IMPORTS = """
import importlib, sys
started = []
def hook(event, arguments):
    if event in ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork", "os.startfile"):
        started.append((event, str(arguments)[:200]))
sys.addaudithook(hook)
for name in {names}:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name in ("torch", "onnxruntime", "lark"):
            continue
        raise
print(started)
"""

# Runs as on a system without what Linux has: names of `os`, fcntl, and all files of /proc and /sys.
ELSEWHERE = """
import builtins, os, pathlib, sys, tempfile
import numpy as np
import tvm  # TVM may ask for what it likes
for name in {names}:
    if hasattr(os, name):
        delattr(os, name)
for name in {modules}:
    sys.modules[name] = None
plain = pathlib.Path.read_text
def read_text(self, *arguments, **options):
    if str(self).startswith(("/proc", "/sys")):
        raise FileNotFoundError(str(self))
    return plain(self, *arguments, **options)
pathlib.Path.read_text = read_text
exists = pathlib.Path.exists
pathlib.Path.exists = lambda self, **options: not str(self).startswith(("/proc", "/sys")) and exists(self, **options)
isdir = os.path.isdir
os.path.isdir = lambda path: not str(path).startswith(("/proc", "/sys")) and isdir(path)

import tvmq
from tvmq.tools.doctor.installation_checks import WITH_TVM, check_installation
from tvmq.tools.doctor.self_test import SHAPE, tiny_model
WITH_TVM.pop("self-test")  # the same as below
problems = [finding for finding in check_installation() if finding.status == "problem"]
assert not problems, problems
mod, params = tvmq.from_onnx(tiny_model())
data = [{{"x": np.full(SHAPE, value, np.float32)}} for value in (-1, 0.5, 1)]
exe = tvmq.build(tvmq.quantize(mod, params, data))
with tempfile.TemporaryDirectory() as folder:
    exe.save(os.path.join(folder, "model.tvmq"))
    again = tvmq.load(os.path.join(folder, "model.tvmq"))
    assert np.array_equal(again.run(data[0])[0], exe.run(data[0])[0])
print("done")
"""


def python(code: str, **environment: str) -> str:
    """Output of a fresh interpreter in the project's folder."""
    kept = {**os.environ, **environment}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, env=kept)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip().splitlines()[-1]


@pytest.mark.slow
def test_no_import_starts_a_program():
    """Imports compile nothing, and need no program of the PATH."""
    assert python(IMPORTS.format(names=modules()), PATH="") == "[]"


@pytest.mark.slow
def test_a_model_runs_without_what_only_linux_has():
    names = sorted(NAMES - {"uname", "pread", "pwrite"})  # the standard library itself asks for these on this system
    assert python(ELSEWHERE.format(names=names, modules=["fcntl", "resource"])) == "done"
