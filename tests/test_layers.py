"""A layer imports lower layers only, its siblings never, and only its own third parties.

What is read: every `import` of every file, those inside functions too, and every text of the form
"module:object", because tables such as PASSES are imports as well.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.project import ROOT, module_name, source_files

# From a module to running code; a room imports those before it
COMPILER = ("target", "artifact", "runtime", "schedule", "lower", "compile", "performance", "reference")
# Place -> layer. Places of one row of a layer belong together and may import each other.
ROWS = [
    (0, "errors", "forks"),
    (0, "version"),
    (0, "deprecation"),
    (0, "text"),
    (0, "cpu_mask"),
    (1, "numerics", "spec", "schema"),
    (1, "cache", "whole_file"),
    (1, "by_name"),
    (1, "tvm_internals", "tvm_runtime"),
    (1, "regular_file", "memory", "array_file", "reasons", "index_checks"),
    (2, "observers"),
    (2, "backends", "cost"),
    (2, "dataset", "data"),
    (3, "config", "options", "option_checks", "rules"),
    (3, "graph"),
    (4, "frontends"),
    (4, "passes"),
    (4, "kernels"),
    (4, "lowering"),
    (4, "exporters"),
    (5, "target"),
    (5, "artifact"),
    (5, "runtime"),
    (5, "schedule"),
    (5, "lower"),
    (5, "compile", "performance", "reference"),
    (6, "pipeline", "stages", "static_quantization", "faster", "guard", "observation"),
    (6, "emulation"),
    (7, "analysis"),
    (8, "precision_search"),
    (8, "doctor"),
    (9, "drawing", "report"),
    (9, "training"),  # an extra: who imports it has torch
    (10, "__init__", "extension", "demo"),
    (11, "cli", "__main__"),
    (11, "relay"),  # a guest: nobody imports it, and it sees public names alone, see below
]
LAYER = {place: row[0] for row in ROWS for place in row[1:]}
ROW = {place: row for row in ROWS for place in row[1:]}

# Highest layer that a place may import, where that is less than all lower ones; and exceptions to it.
HIGHEST = {"kernels": 2, **dict.fromkeys(COMPILER, 3)}
# build prepares a module that comes straight from a front end
ALSO = {place: {"kernels", "lowering", "passes", *COMPILER[:number]} for number, place in enumerate(COMPILER)}
ALSO["compile"] |= {"performance", "reference"}  # build measures tiles
ALSO["performance"] |= {"reference"}
# Rooms by name, of what a user may ask of a model that runs: loaded when it is asked for
LATE_ROOMS = {"runtime": {"tvmq.runtime.profile", "tvmq.runtime.profile_table"}}

TVM = {"numpy", "tvm", "tvm_ffi"}
THIRD_PARTIES = {
    "errors": set(), "version": set(), "deprecation": set(), "numerics": {"numpy"}, "spec": {"numpy"}, "schema": set(), "cache": set(), "whole_file": set(), "forks": set(), "observers": {"numpy"},
    "dataset": {"numpy"}, "data": {"numpy", "PIL"}, "by_name": set(), "tvm_internals": {"tvm", "tvm_ffi"}, "text": set(), "cpu_mask": set(),
    "regular_file": set(), "memory": {"numpy"}, "index_checks": {"numpy"}, "reasons": set(), "array_file": {"numpy"}, "backends": set(), "cost": set(),
    "config": set(), "options": set(), "option_checks": set(), "rules": set(),
    # google: onnx reads its files by protobuf, whose errors say that a file is none
    "frontends": TVM | {"onnx", "torch", "torchao", "google"}, "exporters": TVM | {"onnx", "torch", "flatbuffers", "tflite", "tosa_serializer"},
    # cuda: NVIDIA's bindings, which have NVRTC
    "compile": TVM | {"cuda"}, "target": TVM | {"cuda"},
    # lark reads Relay's text format; torch, onnx: what a script hands over
    "relay": TVM | {"lark", "onnx", "torch"},
    # onnxruntime, onnx: what a float model must compute; cuda: is there a compiler for GPUs
    "doctor": TVM | {"onnx", "onnxruntime", "cuda"},
    # scipy: its solver; dask: workers of a cluster
    "precision_search": TVM | {"scipy"},
    # the network that learns is torch's
    "training": TVM | {"torch"},
    # jinja2 writes the page
    "report": TVM | {"jinja2"},
    "__init__": set(), "demo": {"numpy"}, "cli": {"numpy", "typer", "rich", "onnx", "dask"},
}  # fmt: skip
# Loaded inside functions only: they are slow, and one may not be installed.
LATE = {"onnx", "onnxruntime", "torch", "google", "cuda", "lark", "PIL", "jinja2", "scipy", "dask", "flatbuffers", "tflite", "tosa_serializer"}
AT_ONCE = {"training": {"torch"}}
# Folders whose files are loaded inside functions, once a model of torch is there or is to be made
LATE_FOLDERS = {
    ROOT / "tvmq" / "frontends" / "torch" / "quantized": {"torch"},
    ROOT / "tvmq" / "exporters" / "torch": {"torch", "onnx"},
}
TABLE_ENTRY = re.compile(r"(tvmq(?:\.\w+)+):\w+")


def place_of(path: Path) -> str:
    """Place of a file: tvmq/graph/names.py is "graph", tvmq/numerics/spec.py "spec", passes/families/add.py "passes"."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return "passes" if parts[0] == "passes" else parts[1]


def names_of(node: ast.AST, where: str) -> list[str]:
    """Dotted names that a syntax node imports."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        assert node.level == 0, f"{where}:{node.lineno}: relative import; write it in full"
        return [f"tvmq.{a.name}" for a in node.names] if node.module == "tvmq" else [node.module or ""]
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        entry = TABLE_ENTRY.fullmatch(node.value)
        return [entry.group(1)] if entry else []
    return []


def imports(text: str, where: str) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of every import and table entry of a source text."""
    for node in ast.walk(ast.parse(text)):
        yield from ((node.lineno, name) for name in names_of(node, where))


def refusal(place: str, name: str) -> str | None:
    """Why `place` may not import `name`; None if it may."""
    top, _, rest = name.partition(".")
    if top in sys.stdlib_module_names:
        return None
    if top != "tvmq":
        allowed = THIRD_PARTIES.get(place, TVM)
        return None if top in allowed else f"its third parties are {', '.join(sorted(allowed)) or 'none'}"
    used = rest.partition(".")[0]
    used = used if used in LAYER else "__init__"  # a public name, such as tvmq.quantize
    if used == place or used in ALSO.get(place, ()) or name in LATE_ROOMS.get(place, ()):
        return None
    if ROW[used] == ROW[place]:
        return None
    highest = HIGHEST.get(place, LAYER[place] - 1)
    return None if LAYER[used] <= highest else f"{used} is in layer {LAYER[used]}, it may use 0-{highest}"


@pytest.mark.parametrize("path", source_files(), ids=module_name)
def test_imports(path):
    place = place_of(path)
    where = str(path.relative_to(ROOT))
    for line, name in imports(path.read_text(), where):
        reason = refusal(place, name)
        assert reason is None, f"{where}:{line}: {place} may not import {name}: {reason}"


@pytest.mark.parametrize("path", source_files(), ids=module_name)
def test_slow_third_parties_are_imported_inside_functions(path):
    for node in ast.parse(path.read_text()).body:
        there = AT_ONCE.get(place_of(path), set()) | LATE_FOLDERS.get(path.parent, set())
        late = {name.partition(".")[0] for name in names_of(node, str(path))} & LATE - there
        where = f"{path.relative_to(ROOT)}:{node.lineno}"
        assert not late, f"{where}: import {late.pop()} inside the function that needs it"


def is_public(module: str, name: str) -> bool:
    """May a guest write `from module import name`? What docs/stability.md promises to keep, nothing else."""
    import tvmq
    from tvmq import extension
    from tvmq.passes import PASSES

    if module == "tvmq":
        return name in (*tvmq.__all__, "relay")
    if module == "tvmq.extension":
        return name in extension.__all__
    inside = module.split(".")[1:2]
    return inside in (["relay"], ["errors"], ["numerics"]) or f"{module}:{name}" in PASSES.values()


@pytest.mark.parametrize("path", [p for p in source_files() if place_of(p) == "relay"], ids=module_name)
def test_the_guest_sees_public_names_alone(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            pairs = [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            pairs = [(node.module or "", alias.name) for alias in node.names]
        else:
            continue
        for module, name in pairs:
            ours = module.partition(".")[0] == "tvmq" and (module, name) != ("tvmq", "")
            where = f"{path.relative_to(ROOT)}:{node.lineno}"
            assert not ours or is_public(module, name), f"{where}: {module}.{name} is not public; see tvmq/extension.py"


@pytest.mark.parametrize("module, name, answer", [
    ("tvmq", "build", True), ("tvmq", "pipeline", False), ("tvmq.extension", "View", True),
    ("tvmq.extension", "OwnFamily", False), ("tvmq.graph.view", "View", False), ("tvmq.errors", "ModelError", True),
    ("tvmq.passes.annotate", "annotate", True), ("tvmq.passes.round_biases", "bias_spec", False),
    ("tvmq.numerics", "add", True), ("tvmq.relay.expr", "var", True),
])  # fmt: skip
def test_what_is_public(module, name, answer):
    assert is_public(module, name) is answer


def test_every_place_has_a_layer():
    unknown = sorted({place_of(path) for path in source_files()} - set(LAYER))
    assert not unknown, f"no layer for {unknown}; add them to ROWS here and to the table of CONTRIBUTING.md"


@pytest.mark.parametrize("place, name", [
    ("numerics", "tvmq.graph"), ("numerics", "tvm"), ("observers", "tvmq.backends"), ("graph", "tvmq.options.config"),
    ("kernels", "tvmq.graph.view"), ("compile", "tvmq.formats.exporting"), ("passes", "tvmq.formats.onnx.importer.from_onnx"),
    ("pipeline", "tvmq.quantize"), ("cli", "tvmq.relay"), ("demo", "tvmq.relay.expr"), ("runtime", "tvmq.codegen.compile.build"), ("artifact", "tvmq.runtime.executable"), ("errors", "numpy"), ("analysis", "scipy"), ("passes", "passes"),
])  # fmt: skip
def test_the_rules_refuse(place, name):
    assert refusal(place, name) is not None


@pytest.mark.parametrize("place, name", [
    ("numerics", "tvmq.numerics.spec"), ("config", "tvmq.options.rules"), ("lower", "tvmq.codegen.kernels.parts.types"),
    ("cli", "tvmq.quantize"), ("pipeline", "tvmq.passes"), ("frontends", "onnx"),
    ("passes", "tvmq.options.config"), ("analysis", "json"),
])  # fmt: skip
def test_the_rules_allow(place, name):
    assert refusal(place, name) is None


def test_table_entries_and_inner_imports_are_seen():
    text = 'T = {"x": "tvmq.passes.realize:realize"}\ndef f():\n    import tvmq.graph.names\n'
    assert sorted(imports(text, "here")) == [(1, "tvmq.passes.realize"), (3, "tvmq.graph.names")]
