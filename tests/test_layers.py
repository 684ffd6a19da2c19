"""Imports between layers: only lower layers, never siblings, and only the third parties of the layer.

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
from tools.rooms import BESIDE, FLOORS, find_place, refuse_import, replace_table

TVM = {"numpy", "tvm", "tvm_ffi"}
# By place, or by its room where the place is not named; what is not named has TVM
THIRD_PARTIES = {
    "errors": set(), "version": set(), "base": {"numpy"}, "base/tvm_internals": {"tvm", "tvm_ffi"}, "base/tvm_runtime": TVM,
    "numerics": {"numpy"}, "calibration": {"numpy"}, "calibration/data": {"numpy", "PIL", "tokenizers"}, "backends": set(), "options": set(),
    "codegen/cost": set(),
    # a format of files
    "tensors": {"numpy", "safetensors"},
    # google: onnx reads its files by protobuf, whose errors say that a file is none
    "formats": TVM | {"onnx", "torch", "torchao", "google", "flatbuffers", "tflite", "tosa_serializer"},
    # cuda: NVIDIA's bindings, which have NVRTC
    "codegen/compile": TVM | {"cuda"}, "codegen/target": TVM | {"cuda"},
    # lark reads Relay's text format; torch, onnx: what a script hands over
    "relay": TVM | {"lark", "onnx", "torch"},
    # onnxruntime, onnx: what a float model must compute; cuda: is there a compiler for GPUs
    "tools/doctor": TVM | {"onnx", "onnxruntime", "cuda"},
    # scipy: its solver; dask: workers of a cluster
    "quantization/search": TVM | {"scipy"},
    # the network that learns is torch's
    "training": TVM | {"torch"},
    # a backend of torch.compile
    "integrations": {"numpy", "torch", "pytest"},
    # its application
    "integrations/serving": {"numpy", "starlette", "uvicorn"},
    # an ML-BOM
    "library/bill_of_materials": TVM | {"cyclonedx", "packageurl"},
    # onnx: the file by which onnxruntime computes a library
    "library/operator_file": {"numpy", "onnx"},
    # jinja2 writes the page
    "tools/report": TVM | {"jinja2"},
    "__init__": set(), "demo": {"numpy"}, "tools/cli": {"numpy", "typer", "rich", "onnx", "dask", "onnxruntime"},
}  # fmt: skip
# Loaded inside functions only: they are slow, and one may not be installed.
LATE = {"onnx", "onnxruntime", "torch", "google", "cuda", "lark", "PIL", "jinja2", "scipy", "dask", "flatbuffers", "tflite", "tosa_serializer", "cyclonedx", "packageurl", "safetensors", "starlette", "tokenizers", "uvicorn"}
AT_ONCE = {"training": {"torch"}}
# Folders whose files are loaded inside functions, once a model of torch is there or is to be made
LATE_FOLDERS = {
    ROOT / "tvmq/formats/torch/importer/quantized": {"torch"},
    ROOT / "tvmq/formats/torch/exporter": {"torch", "onnx"},
}
TABLE_ENTRY = re.compile(r"(tvmq(?:\.\w+)+):\w+")


def parts_of(path: Path) -> tuple[str, ...]:
    """Parts of a module's name behind `tvmq`: tvmq/graph/names.py is ("graph", "names"), passes/add.py ("passes", "add")."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    parts = parts if parts[0] == "passes" else parts[1:]
    return parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts


def third_parties(parts: tuple[str, ...]) -> set[str]:
    """Third parties of a module: those of the longest beginning of its name that the table has."""
    heads = ("/".join(parts[:number]) for number in range(len(parts), 0, -1))
    return next((THIRD_PARTIES[head] for head in heads if head in THIRD_PARTIES), TVM)


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


def refusal(parts: tuple[str, ...], name: str) -> str | None:
    """Why a module may not import `name`; None if it may."""
    top = name.partition(".")[0]
    if top in sys.stdlib_module_names:
        return None
    if top != "tvmq":
        allowed = third_parties(parts)
        return None if top in allowed else f"its third parties are {', '.join(sorted(allowed)) or 'none'}"
    return refuse_import(find_place(parts), name)


@pytest.mark.parametrize("path", source_files(), ids=module_name)
def test_imports(path):
    parts = parts_of(path)
    where = str(path.relative_to(ROOT))
    for line, name in imports(path.read_text(), where):
        reason = refusal(parts, name)
        assert reason is None, f"{where}:{line}: may not import {name}: {reason}"


@pytest.mark.parametrize("path", source_files(), ids=module_name)
def test_slow_third_parties_are_imported_inside_functions(path):
    for node in ast.parse(path.read_text()).body:
        there = AT_ONCE.get(parts_of(path)[0], set()) | LATE_FOLDERS.get(path.parent, set())
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


@pytest.mark.parametrize("path", [p for p in source_files() if parts_of(p)[0] == "relay"], ids=module_name)
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


def test_every_folder_is_a_room():
    folders = {parts_of(path)[0] for path in source_files()}
    rooms = {room for floor in FLOORS for room in floor}
    assert folders - set(BESIDE) == rooms, "a new folder has its floor in tools/rooms.py"


def test_the_table_in_contributing_is_drawn_from_the_rooms():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert page == replace_table(page), "python tools/rooms.py --update"


@pytest.mark.parametrize("module, name", [
    ("numerics", "tvmq.graph"), ("numerics", "tvm"), ("calibration/observers", "tvmq.backends"), ("graph", "tvmq.options.config"),
    ("codegen/kernels", "tvmq.graph.view"), ("codegen/kernels", "tvmq.codegen.target.cpu"), ("codegen/compile", "tvmq.formats.c"), ("passes", "tvmq.formats.onnx.importer.from_onnx"),
    ("quantization/pipeline", "tvmq.quantize"), ("tools/cli", "tvmq.relay"), ("demo", "tvmq.relay.expr"), ("runtime/executable", "tvmq.codegen.compile.build"),
    ("runtime/artifact/container", "tvmq.runtime.executable"), ("errors", "numpy"), ("tools/analysis", "scipy"), ("passes", "passes"), ("base/text", "tvmq.graph.view"),
    ("formats/onnx/importer/fold", "tvmq.formats.onnx.exporter.writer"), ("chips", "tvmq.training"), ("quantization/pipeline", "tvmq.quantization.search.loop"), ("chips/emulation/emulator", "tvmq.chips.comparison.on_chip"),
    ("codegen/custom_lowering/match", "tvmq.passes.prepare"), ("calibration/observers/base", "tvmq.calibration.dataset"), ("base/text", "tvmq.base.cache"),  ("tools/analysis", "tvmq.tools.cli.main"),
])  # fmt: skip
def test_the_rules_refuse(module, name):
    assert refusal(tuple(module.split("/")), name) is not None


@pytest.mark.parametrize("module, name", [
    ("numerics", "tvmq.numerics.spec"), ("options/config", "tvmq.options.rules"), ("codegen/lower", "tvmq.codegen.kernels.parts.kernel_types"),
    ("tools/cli", "tvmq.quantize"), ("quantization/pipeline", "tvmq.passes"), ("formats/onnx/importer", "onnx"),
    ("passes", "tvmq.options.config"), ("tools/analysis", "json"), ("codegen/target", "tvmq.codegen.kernels.isa"), ("runtime/executable", "tvmq.runtime.profile"),
])  # fmt: skip
def test_the_rules_allow(module, name):
    assert refusal(tuple(module.split("/")), name) is None


def test_table_entries_and_inner_imports_are_seen():
    text = 'T = {"x": "tvmq.passes.realize:realize"}\ndef f():\n    import tvmq.graph.names\n'
    assert sorted(imports(text, "here")) == [(1, "tvmq.passes.realize"), (3, "tvmq.graph.names")]
