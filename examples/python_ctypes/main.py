"""main.py LIBRARY PICTURES SCORES: ten scores for each picture, by Python's standard library alone."""

import ctypes
import sys

ALIGNMENT, PICTURE_BYTES, SCORE_BYTES = 64, 16 * 16 * 4, 10 * 4


class Buffer(ctypes.Structure):
    """digits_buffer."""

    _fields_ = (("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t))


def allocate(size: int) -> tuple[ctypes.Array, Buffer]:
    """Memory, and the aligned part of it."""
    memory = ctypes.create_string_buffer(size + ALIGNMENT)
    address = ctypes.addressof(memory)
    return memory, Buffer(address + -address % ALIGNMENT, size)


def main(path: str, pictures: str, scores: str) -> None:
    """Score all pictures of a file."""
    library = ctypes.CDLL(path)
    library.digits_workspace_bytes.restype = ctypes.c_int64
    library.digits_status_text.restype = ctypes.c_char_p

    def check(status: int) -> None:
        if status < 0:
            raise SystemExit(library.digits_status_text(status).decode())

    check(library.digits_init())
    size = library.digits_workspace_bytes(None, 1)
    check(size)
    kept, buffers = zip(*map(allocate, (PICTURE_BYTES, SCORE_BYTES, size)), strict=True)
    source, target, workspace = buffers
    with open(pictures, "rb") as from_file, open(scores, "wb") as to_file:
        while len(picture := from_file.read(PICTURE_BYTES)) == PICTURE_BYTES:
            ctypes.memmove(source.data, picture, PICTURE_BYTES)
            check(library.digits_run(None, ctypes.byref(source), ctypes.byref(target), workspace, None))
            to_file.write(ctypes.string_at(target.data, SCORE_BYTES))
    del kept


if __name__ == "__main__":
    main(*sys.argv[1:])
