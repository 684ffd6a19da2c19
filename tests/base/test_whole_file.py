"""Atomic writes: files appear whole or not at all, and a killed process leaves nothing."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import BinaryIO

import pytest

from tvmq.base import whole_file
from tvmq.base.whole_file import PART, write_file, write_whole
from tvmq.errors import OutputError


def _write(file: BinaryIO) -> None:
    file.writelines([b"one", b"two"])



@pytest.fixture(params=["nameless", "named", "no names for the nameless"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "named":
        monkeypatch.setattr(whole_file, "_open_nameless", lambda *_: None)
    if request.param == "no names for the nameless":

        def refuse(*_: object, **__: object) -> None:
            raise OSError("not here")

        monkeypatch.setattr(os, "link", refuse)
    return str(request.param)


@pytest.mark.usefixtures("way")
def test_the_file_is_there_and_nothing_else(tmp_path: Path) -> None:
    for _ in range(2):
        write_whole(tmp_path / "file", _write)
        assert [path.name for path in tmp_path.iterdir()] == ["file"]
        assert (tmp_path / "file").read_bytes() == b"onetwo"
    umask = os.umask(0)
    os.umask(umask)
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o666 & ~umask


@pytest.mark.usefixtures("way")
def test_an_error_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"old")

    def broken(file: BinaryIO) -> None:
        file.write(b"one")
        raise OSError("no room")

    with pytest.raises(OSError, match="no room"):
        write_whole(tmp_path / "file", broken)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_bytes() == b"old"


@pytest.mark.skipif(os.name != "posix", reason="kills a process")
@pytest.mark.parametrize("nameless", [True, False])
def test_a_writer_that_is_killed_leaves_nothing_for_long(tmp_path: Path, nameless: bool) -> None:
    """Without a name there is nothing at once; with one, the next save removes it, and not what is being written."""
    code = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom tvmq.base import whole_file\n"
        f"if not {nameless}: whole_file._open_nameless = lambda *_: None\n"
        "def write(file):\n    file.write(b'x' * 100000)\n    os.kill(os.getpid(), signal.SIGKILL)\n"
        "whole_file.write_whole(Path(sys.argv[1]), write)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "file")], check=False, timeout=60)
    assert done.returncode == -9
    left = [path.name for path in tmp_path.iterdir()]
    if nameless and whole_file._open_nameless(tmp_path) is not None:
        assert left == []
    else:
        assert len(left) == 1 and left[0].startswith(".tvmq-")
    with open(tmp_path / PART.format("now"), "wb") as other:
        whole_file._lock(other.fileno())
        write_whole(tmp_path / "file", _write)
        assert sorted(path.name for path in tmp_path.iterdir()) == [PART.format("now"), "file"]
    write_whole(tmp_path / "file", _write)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.usefixtures("way")
def test_threads_that_write_in_one_folder(tmp_path: Path) -> None:
    """Each also removes what others left, and never what another one is about to name."""
    contents = [bytes([65 + number]) * 4096 for number in range(6)]
    errors: list[BaseException] = []

    def repeat(content: bytes) -> None:
        try:
            for _ in range(25):
                write_whole(tmp_path / "file", lambda file: file.write(content))
                assert (tmp_path / "file").read_bytes() in contents
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=repeat, args=[content]) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == [] and [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.skipif(os.name != "posix", reason="locks of files, links and pipes")
@pytest.mark.slow_cases("True")
@pytest.mark.parametrize("nameless", [True, False])
def test_processes_that_write_in_one_folder(tmp_path: Path, nameless: bool) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom tvmq.base import whole_file\n"
        f"if not {nameless}: whole_file._open_nameless = lambda *_: None\n"
        "for _ in range(200):\n"
        "    whole_file.write_files(Path(sys.argv[1]), {'a': sys.argv[2].encode(), 'b': sys.argv[2].encode()}, 'test')\n"
    )
    words = ["one", "two", "three"]
    workers = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "f"), word]) for word in words]
    assert [worker.wait(60) for worker in workers] == [0, 0, 0]
    assert sorted(path.name for path in (tmp_path / "f").iterdir()) == ["a", "b"]
    assert (tmp_path / "f" / "a").read_text() == (tmp_path / "f" / "b").read_text(), "of one writer"
    assert (tmp_path / "f" / "a").read_text() in words


@pytest.mark.skipif(os.name != "posix", reason="links and pipes")
def test_what_others_put_under_such_names_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "victim").write_bytes(b"precious")
    (tmp_path / PART.format("link")).symlink_to(tmp_path / "victim")
    (tmp_path / PART.format("folder")).mkdir()
    os.mkfifo(tmp_path / PART.format("pipe"))
    write_whole(tmp_path / "file", _write)
    assert (tmp_path / "victim").read_bytes() == b"precious"
    assert {path.name for path in tmp_path.iterdir()} >= {"victim", "file", PART.format("folder"), PART.format("link")}


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc")
def test_standard_output_is_no_output(tmp_path: Path) -> None:
    """Standard output is refused even where it is a file: a save would take its name away from all programs."""
    (tmp_path / "stdout").symlink_to("/proc/self/fd/1")
    with pytest.raises(OutputError, match="test: cannot write .*: it is there and no regular file; choose another"):
        write_file(tmp_path / "stdout", b"", "test")
    assert (tmp_path / "stdout").is_symlink()
