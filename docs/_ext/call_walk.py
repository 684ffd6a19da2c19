"""The embedded example's way through the rooms of the source: `python docs/_ext/call_walk.py` prints it.

Each call of a function of ours is seen (`sys.setprofile`) together with the function of ours that called it. A room may
import lower rooms alone, so a call goes down, with one exception: a lower room calls what a higher one gave it, a
visitor or a reader of batches, say. These calls are the returns upward; each pair of places that has one is explained
in RETURNS, and tests/docs/test_call_walk.py fails for one that is not.

Tests: tests/docs/test_call_walk.py
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
FOLDERS_OF = ("passes", "formats", "codegen", "runtime", "quantization")  # whose parts are boxes of their own

# (caller, called): why a room calls one above it
RETURNS = {
    ("base", "formats/onnx/importer"): "An importer runs inside of the handler that rewords TVM's errors.",
    ("base", "formats/relax"): "An importer runs inside of the handler that rewords TVM's errors.",
    ("base", "runtime/artifact"): "A file appears whole or not at all: `write_whole` calls what writes its bytes.",
    ("numerics", "passes"): "`make_table` computes the float function that it is given, for each code.",
    ("numerics", "codegen/kernels"): "A definition runs on symbols in place of arrays: kernels compute what it says.",
    ("graph", "passes"): "The traversal calls the visitor of the pass at each binding.",
    ("graph", "reference"): "The traversal calls the definition of the operator at each binding.",
    ("graph", "codegen/lower"): "The traversal calls the rule for the range of a value, given those of its operands.",
    ("calibration/observers", "passes"): "`auto` compares ranges by the error of a layer, which the pass computes.",
    ("passes", "codegen/compile"): "Calibration runs the compiled float model, its evaluator, an argument of the pass.",
    ("passes", "quantization"): "Calibration reads its batches through the guard's cache, which keeps some of them.",
    ("codegen/kernels", "codegen/compile"): "An operation on a symbol is a step of the legalization that made it.",
    ("codegen/lower", "codegen/compile"): "`lower_functions` asks `build` for the lowerer of each function.",
    ("runtime/artifact", "runtime"): "Saving reads the integer module, which an executable from a file unpacks on use.",
}


class Walk(NamedTuple):
    """A step of the user.

    call     what the user writes
    folders  in the order in which they are first entered
    files    how many are entered
    calls    how often a function of ours is called
    returns  of these the calls of a higher place, by the pair of places (caller, called)
    """

    call: str
    folders: list[str]
    files: int
    calls: int
    returns: Mapping[tuple[str, str], int]


def record_walks() -> list[Walk]:
    """Walks of a first session: import, quantize, build, save, load, run."""
    import tvmq
    from tvmq.demo import load_demo

    demo, values = load_demo(), {}
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.tvmq")
        steps: list[tuple[str, Callable[[], Any]]] = [
            ("from_onnx", lambda: tvmq.from_onnx(demo.model, shape={"image": (1, 1, 16, 16)})),
            ("quantize", lambda: tvmq.quantize(*values["from_onnx"], demo.calibration[:16])),
            ("build", lambda: tvmq.build(values["quantize"])),
            ("save", lambda: values["build"].save(path)),
            ("load", lambda: tvmq.load(path)),
            ("run", lambda: values["load"].run({"image": demo.calibration[:1]})),
        ]
        for name, step in steps:  # what is loaded on use would count as a walk through all of its folders
            values[name] = step()
        return [_record_walk(name, step) for name, step in steps]


def _record_walk(name: str, step: Callable[[], Any]) -> Walk:
    rooms = load_rooms()
    places: dict[CodeType, str | None] = {}
    folders: dict[str, None] = {}
    files: set[str] = set()
    returns: Counter[tuple[str, str]] = Counter()
    calls = 0

    def find_place(code: CodeType) -> str | None:
        if code not in places:
            parts = split_path(code.co_filename)
            places[code] = None if parts is None else rooms.find_place(parts)
        return places[code]

    def see(frame: FrameType, event: str, _: Any) -> None:
        nonlocal calls
        if event != "call" or (place := find_place(frame.f_code)) is None:
            return
        calls += 1
        files.add(frame.f_code.co_filename)
        folders.setdefault(find_folder(frame.f_code.co_filename))
        caller, above = None, frame.f_back
        while above is not None and (caller := find_place(above.f_code)) is None:
            above = above.f_back
        if caller is not None and rooms.is_above(place, caller):
            returns[caller, place] += 1

    sys.setprofile(see)
    try:
        step()
    finally:
        sys.setprofile(None)
    return Walk(name, list(folders), len(files), calls, returns)


def split_path(path: str) -> tuple[str, ...] | None:
    """Parts of a module's name behind `tvmq`; None for files that are not ours.

    >>> split_path(str(ROOT / "tvmq/codegen/lower/rules/pool.py")), split_path(str(ROOT / "passes/annotate.py"))
    (('codegen', 'lower', 'rules', 'pool'), ('passes', 'annotate'))
    """
    try:
        parts = Path(path).relative_to(ROOT).with_suffix("").parts
    except ValueError:
        return None
    return parts[1:] if parts[0] == "tvmq" else parts if parts[0] == "passes" else None


def find_folder(path: str) -> str:
    """Folder that a file of ours is drawn in.

    >>> find_folder(str(ROOT / "tvmq/codegen/lower/rules/pool.py")), find_folder(str(ROOT / "passes/annotate.py"))
    ('codegen/lower', 'passes')
    """
    parts = split_path(path) or ("",)
    return "/".join(parts[:2]) if parts[0] in FOLDERS_OF and len(parts) > 2 else parts[0]


def load_rooms() -> ModuleType:
    """The module tools/rooms.py."""
    spec = spec_from_file_location("rooms", ROOT / "tools" / "rooms.py")
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def print_walks() -> None:
    """Print each walk, and each return upward with its reason."""
    for walk in record_walks():
        print(f"{walk.call:10} {walk.files:4} files, {walk.calls} calls: {' '.join(walk.folders)}")
        for (caller, called), count in sorted(walk.returns.items()):
            print(f"{count:15}  {caller} -> {called}: {RETURNS.get((caller, called), 'NOT EXPLAINED')}")


if __name__ == "__main__":
    print_walks()
