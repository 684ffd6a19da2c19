"""Files that appear whole or not at all, whoever else writes there at the same time: all outputs of tvmq.

Where the system can, a file has no name until it is whole. Elsewhere, and for the moment in which it takes the place of
another one, it is called .tvmq-*.part, a name that nobody can guess, made anew and locked; the next writer in the
folder removes those that nobody has locked any more. So links that others have put there are never written through, a
process that is killed leaves nothing for long, and of several writers of one path the last one's file stays, whole.

A link under the name of the output itself is replaced, and the file that it leads to stays as it was. What is there and
is no regular file (a device, a pipe, a folder, standard output) is refused.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from tvmq.errors import OutputError, TvmqError

PART = ".tvmq-{}.part"
Write = Callable[[BinaryIO], Any]  # puts the content into an open file


def write_file(path: str | os.PathLike[str], content: bytes | Write, caller: str) -> Path:
    """Write a file, or leave the one that was there.

    content  bytes, or a function of an open file, which may be called twice
    caller   begins the message
    raises   OutputError
    """
    write = content if callable(content) else _writer(content)
    with output_errors(f"{caller}: cannot write {str(path)!r}", "choose another path or make room"):
        write_whole(Path(path), write)
    return Path(path)


def write_files(folder: Path, files: Mapping[str, bytes], caller: str) -> None:
    """Write files that belong together, all or none, into a folder that is made if need be; OutputError."""
    with output_errors(f"{caller}: cannot write in {str(folder)!r}", "choose another folder or make room"):
        check_place(folder / "_")  # before the folder is made: its name
        folder.mkdir(parents=True, exist_ok=True)
        with contextlib.ExitStack() as parts:
            wholes = [(parts.enter_context(_whole_part(folder, _writer(data))), name) for name, data in files.items()]
            for name in files:
                check_place(folder / name)
            with _lock_folder(folder):  # files of two writers are not mixed
                for part, name in wholes:
                    part.replace(folder / name)


def write_whole(path: Path, write: Write, *, private: bool = False) -> None:
    """Write a file, or leave the one that was there.

    write    as `content` of `write_file`
    private  for its owner alone, and not worth waiting for the disk
    raises   OSError
    """
    check_place(path)
    with _whole_part(path.parent, write, private=private) as part:
        part.replace(path)


@contextlib.contextmanager
def output_errors(what: str, remedy: str) -> Iterator[None]:
    """OutputError for what the system says of files: what, why, what to do."""
    try:
        yield
    except TvmqError:
        raise
    except OSError as error:
        raise OutputError(f"{what}: {error.strerror or error}; {remedy}") from error


def _writer(data: bytes) -> Write:
    return lambda file: file.write(data)


def check_place(path: Path) -> None:
    """OSError where no file can be written, for what the path is; permissions are asked when it is written."""
    if "\0" in str(path):
        raise OSError(errno.EINVAL, "the name holds a null character")
    if not path.name:
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    try:
        kind = path.stat().st_mode
    except OSError:  # nothing is there; or making the part says why not
        return
    if stat.S_ISDIR(kind):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    # standard output, where it was sent to a file, is a link to that
    if not stat.S_ISREG(kind) or (path.is_symlink() and os.readlink(path).startswith("/proc/")):
        raise OSError(errno.EINVAL, "it is there and no regular file")


@contextlib.contextmanager
def _whole_part(folder: Path, write: Write, *, private: bool = False) -> Iterator[Path]:
    """A file of this content under a name of its own, which is gone behind the block."""
    if not private:  # there, removing what was left has its own rules
        _remove_left_parts(folder)
    mode = 0o600 if private else 0o666  # less the umask, as any new file
    while True:
        # another name each time: who removed the file of the last name may be about to remove that name again
        part = folder / PART.format(secrets.token_hex(8))
        try:
            file = _write_nameless(part, write, mode) or _write_named(part, write, mode)
            if file is None:
                continue
            with file:  # locked for as long as it is open
                if os.name != "posix":  # Windows renames no open file
                    file.close()
                yield part
            return
        finally:
            with contextlib.suppress(OSError):
                part.unlink()


def _write_nameless(part: Path, write: Write, mode: int) -> BinaryIO | None:
    """The file without a name until it is written; None where there are none, or it can get no name."""
    descriptor = _open_nameless(part.parent, mode)
    if descriptor is None:
        return None
    with contextlib.ExitStack() as closed:
        file = closed.enter_context(os.fdopen(descriptor, "w+b"))
        _write(file, write, mode)
        try:  # src_dir_fd: else Python asks for a link to the link
            os.link(f"/proc/self/fd/{descriptor}", part, src_dir_fd=descriptor, follow_symlinks=True)
        except OSError:
            return None
        closed.pop_all()
    return file


def _write_named(part: Path, write: Write, mode: int) -> BinaryIO | None:
    """The file under its name; None where another writer took it for left over before it was locked."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    with contextlib.ExitStack() as closed:
        file = closed.enter_context(os.fdopen(os.open(part, flags, mode), "w+b"))
        _lock(file.fileno())
        if os.name == "posix" and not part.exists():
            return None
        _write(file, write, mode)
        closed.pop_all()
    return file


def _write(file: BinaryIO, write: Write, mode: int) -> None:
    _lock(file.fileno())
    write(file)
    file.flush()
    if mode == 0o666:
        os.fsync(file.fileno())


def _open_nameless(folder: Path, mode: int = 0o666) -> int | None:
    """A new file without a name; None where the system, or the file system, has none."""
    if not hasattr(os, "O_TMPFILE") or not os.path.isdir("/proc/self/fd"):
        return None
    try:
        return os.open(folder, os.O_RDWR | os.O_TMPFILE, mode)
    except OSError:  # the ordinary way says what is wrong
        return None


def _lock(descriptor: int) -> None:
    """Say that the file has a writer; who looks for left parts holds it for a moment only."""
    try:
        import fcntl
    except ImportError:
        return
    with contextlib.suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX)


@contextlib.contextmanager
def _lock_folder(folder: Path) -> Iterator[None]:
    """Lock a folder for a single writer, where the system has such locks."""
    with contextlib.ExitStack() as closed:
        with contextlib.suppress(OSError):  # Windows opens no folders
            descriptor = os.open(folder, os.O_RDONLY)
            closed.callback(os.close, descriptor)
            _lock(descriptor)
        yield


def _remove_left_parts(folder: Path) -> None:
    """Remove what writers left that were killed."""
    try:
        import fcntl
    except ImportError:
        return
    with contextlib.suppress(OSError, ValueError):
        for part in folder.glob(PART.format("*")):
            with contextlib.suppress(OSError), open(part, "rb", opener=_open_plainly) as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                part.unlink()


def _open_plainly(path: str, flags: int) -> int:
    """Neither through a link nor waiting for the other end of a pipe."""
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)
