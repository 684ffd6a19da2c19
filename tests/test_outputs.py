"""Every writer of files: whole or not at all, one sentence where it cannot write, no link followed."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmq
from tests.formats.exporting.formats_networks import quantized
from tvmq.base.cache import replace_file
from tvmq.calibration.observers.result import CalibrationResult
from tvmq.errors import OutputError
from tvmq.quantization.search.front import write_text
from tvmq.tools.cli.files import write_output

Module = Any
# Writer -> call that writes a path. export_c writes two files of a folder, the name of the path is theirs.
WRITERS: dict[str, Callable[[Module, Path], object]] = {
    "save": lambda exe, path: exe.save(path),
    "to_onnx": lambda qmod, path: tvmq.to_onnx(qmod, path),
    "to_tflite": lambda qmod, path: tvmq.to_tflite(qmod, path),
    "to_tosa": lambda qmod, path: tvmq.to_tosa(qmod, path),
    "export_c": lambda qmod, path: tvmq.export_c(qmod, path.parent, name="out"),
    "to_torch": lambda qmod, path: _save_program(qmod, path),
    "draw": lambda qmod, path: tvmq.draw(qmod).save(path),
    "calibration": lambda _, path: CalibrationResult({}, "model", "data", {}, {}).save(path),
    "cache": lambda _, path: replace_file(path, b"kernel"),
    "command": lambda _, path: write_output(path, lambda file: np.savez(file, y=np.ones(3))),
    "search": lambda _, path: write_text(path, "{}"),
}
SUFFIX = {"export_c": ".c", "calibration": ".npz", "to_torch": ".pt2"}


def _save_program(qmod: Module, path: Path) -> None:
    from tvmq.formats.torch.exporter.to_torch import save_program

    save_program(qmod, [((1, 3, 8, 8), "float32")], path, form="exact")


@pytest.fixture(scope="module")
def modules() -> Callable[[str], Module]:
    """The integer module that a writer takes, made once."""
    cache: dict[str, Module] = {}

    def module(name: str) -> Module:
        target = {"to_tflite": "tflite", "to_tosa": "tosa", "export_c": "tosa"}.get(name, "cpu")
        if target not in cache:
            options = {"partition_conversions": "disabled"} if target == "cpu" else {}
            cache[target] = quantized("plain", target, **options)[0]
        if name == "save" and name not in cache:
            cache[name] = tvmq.build(cache[target])
        return cache.get(name, cache[target])

    return module


@pytest.fixture(params=WRITERS)
def write(request: pytest.FixtureRequest, modules: Callable[[str], Module]) -> Callable[[Path], object]:
    """A writer, with its name."""
    package = {"to_torch": "torch", "to_tflite": "tflite", "to_tosa": "tosa_serializer"}.get(request.param, "numpy")
    pytest.importorskip(package)
    module = modules(request.param) if request.param not in ("calibration", "cache", "command", "search") else None

    def write(path: Path) -> object:
        return WRITERS[request.param](module, path)

    write.__name__ = request.param
    return write


def _file(folder: Path, write: Callable[..., object]) -> Path:
    return folder / f"out{SUFFIX.get(write.__name__, '.out')}"


@pytest.mark.skipif(os.name != "posix", reason="links")
@pytest.mark.slow_cases("to_torch")
def test_a_link_is_replaced_and_never_written_through(write: Callable[[Path], object], tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b"precious")
    folder = tmp_path / "shared"
    folder.mkdir()
    path = _file(folder, write)
    # under the output's name, and under those that could be guessed from it and the number of this process
    planted = [path.name, f".{path.name}.{os.getpid()}.tmp", f".{path.name}.tmp", f".{os.getpid()}.{path.stem}.pt2"]
    for name in planted:
        (folder / name).symlink_to(victim)
    write(path)
    assert victim.read_bytes() == b"precious"
    assert not path.is_symlink() and path.stat().st_size > 0
    more = {"out.h"} if write.__name__ == "export_c" else set()
    assert {one.name for one in folder.iterdir()} == {*planted, *more}


@pytest.mark.parametrize("name", ["null\0character", "folder", "pipe", "none/out", "file/out", "device"])
def test_one_sentence_for_what_is_no_file(write: Callable[[Path], object], tmp_path: Path, name: str) -> None:
    if write.__name__ in ("cache", "export_c"):
        pytest.skip("names its files itself, and makes its folder")
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
    before = sorted(one.name for one in tmp_path.iterdir())
    with pytest.raises(OutputError) as caught:
        write(Path(os.devnull) if name == "device" else tmp_path / name)
    assert "\n" not in str(caught.value) and ";" in str(caught.value)
    assert sorted(one.name for one in tmp_path.iterdir()) == before
    assert not Path(os.devnull).is_file()


@pytest.mark.parametrize("name", ["null\0character", "file", "folder"])
def test_one_sentence_for_folders_that_take_no_files(modules: Callable[[str], Any], tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder" / "net.h").mkdir(parents=True)
    with pytest.raises(OutputError, match="^export_c: cannot write in '.*': .*; choose another folder or make room$"):
        tvmq.export_c(modules("export_c"), tmp_path / name, name="net")
    assert sorted(str(one.relative_to(tmp_path)) for one in tmp_path.rglob("*")) == ["file", "folder", "folder/net.h"]


def test_threads_that_write_one_path_end_with_one_whole_file(write: Callable[[Path], object], tmp_path: Path) -> None:
    if write.__name__ == "to_torch":
        pytest.skip("torch.export has one thread")
    path, errors = _file(tmp_path, write), list[BaseException]()
    is_dated = write.__name__ == "command"  # an archive of np.savez
    write(path)
    wanted = path.read_bytes()

    def repeat() -> None:
        try:
            for _ in range(6):
                write(path)
                assert path.read_bytes() == wanted or is_dated
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=repeat) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert len(list(tmp_path.iterdir())) == (2 if write.__name__ == "export_c" else 1)
