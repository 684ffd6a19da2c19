"""The folders of the source that the embedded example enters: `python docs/_ext/pipeline_trace.py` prints them.

Each call of a function of ours is seen (sys.setprofile); a folder counts where one of its functions is entered.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
FOLDERS_OF = ("passes", "formats", "codegen", "runtime", "quantization")  # whose parts are boxes of their own


class Walk(NamedTuple):
    """A step of the user.

    call     what the user writes
    folders  in the order in which they are first entered
    files    how many are entered
    returns  how often a call leads into a folder that was entered before another one
    """

    call: str
    folders: list[str]
    files: int
    returns: int


def walks() -> list[Walk]:
    """Those of a first session: import, quantize, build, save, load, run."""
    import tvmq
    from tvmq.demo import load_demo

    demo, saved = load_demo(), {}
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "model.tvmq")
        steps: list[tuple[str, Callable[[], Any]]] = [
            ("from_onnx", lambda: tvmq.from_onnx(demo.model, shape={"image": (1, 1, 16, 16)})),
            ("quantize", lambda: tvmq.quantize(*saved["from_onnx"], demo.calibration[:16])),
            ("build", lambda: tvmq.build(saved["quantize"])),
            ("save", lambda: saved["build"].save(path)),
            ("load", lambda: tvmq.load(path)),
            ("run", lambda: saved["load"].run({"image": demo.calibration[:1]})),
        ]
        for name, step in steps:  # what is loaded on use would count as a walk through all of its folders
            saved[name] = step()
        return [_traced(name, step, saved) for name, step in steps]


def _traced(name: str, step: Callable[[], Any], saved: dict[str, Any]) -> Walk:
    folders: dict[str, None] = {}
    files, last, returns = set(), [""], [0]

    def see(frame: FrameType, event: str, _: Any) -> None:
        place = place_of(frame.f_code.co_filename) if event == "call" and "<" not in frame.f_code.co_name else None
        if place is None:
            return
        files.add(frame.f_code.co_filename)
        if place != last[0] and place in folders:
            returns[0] += 1
        folders[place] = last[0] = place  # type: ignore[assignment]

    sys.setprofile(see)
    try:
        saved[name] = step()
    finally:
        sys.setprofile(None)
    return Walk(name, list(folders), len(files), returns[0])


def place_of(path: str) -> str | None:
    """The folder that a file of ours belongs to; None for others and for helpers without a room.

    >>> place_of(str(ROOT / "tvmq/codegen/lower/rules/pool.py")), place_of(str(ROOT / "passes" / "annotate.py"))
    ('codegen/lower', 'passes')
    """
    try:
        parts = Path(path).relative_to(ROOT).parts
    except ValueError:
        return None
    if parts[0] == "tvmq" and len(parts) > 2:
        parts = parts[1:]
    elif parts[0] != "passes":
        return None
    return "/".join(parts[:2]) if parts[0] in FOLDERS_OF and len(parts) > 2 else parts[0]


if __name__ == "__main__":
    for walk in walks():
        print(f"{walk.call:10} {walk.files:4} files, {walk.returns} returns: {' '.join(walk.folders)}")
