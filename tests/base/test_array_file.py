"""Array files that claim more data than they hold, or than memory could hold."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from tvmq.base import array_file
from tvmq.base.array_file import ArrayFile
from tvmq.calibration.dataset import Dataset, Input
from tvmq.calibration.observers.result import CalibrationResult
from tvmq.chips.comparison.dumps import Dumps
from tvmq.errors import CalibrationError, DataError, MemoryLimitError
from tvmq.tools.cli.files import read_arrays


def npy(shape: str, body: bytes = bytes(64)) -> bytes:
    """An .npy whose header claims a shape."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (64 - (len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + body


def packed(path: Path, content: bytes) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", content)
    return path


def test_arrays_as_they_were_saved(tmp_path: Path) -> None:
    x, number = np.arange(6, dtype=np.float32).reshape(2, 3), np.float64(3)
    np.savez(tmp_path / "a.npz", x=x, number=number, empty=x[:0])
    file = ArrayFile(tmp_path / "a.npz")
    assert file.names == ["x", "number", "empty"]
    found = dict(file.items())
    np.testing.assert_array_equal(found["x"], x)
    assert found["number"] == 3 and found["empty"].shape == (0, 3)
    np.save(tmp_path / "a.npy", x.T)
    file = ArrayFile(tmp_path / "a.npy")
    assert file.names is None
    np.testing.assert_array_equal(file.array(), x.T)


@pytest.mark.parametrize("shape", ["(1000000000000, 3, 32, 32)", "(-1, 3)", "(17,)"])
def test_claims_that_the_file_cannot_hold(tmp_path: Path, shape: str) -> None:
    """Refused by their headers, wherever data are read."""
    (tmp_path / "x.npy").write_bytes(npy(shape))
    for path in (packed(tmp_path / "x.npz", npy(shape)), tmp_path / "x.npy"):
        with pytest.raises(ValueError, match="claims"):
            ArrayFile(path)
        with pytest.raises(DataError, match="claims"):
            read_arrays(path, ["x"])
        with pytest.raises(DataError, match="claims"):
            list(Dataset(str(path), [Input("x", (None, 3), "float32")]))


def test_what_unpacks_to_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = packed(tmp_path / "x.npz", npy("(1000000, 5)", bytes(20_000_000)))
    assert ArrayFile(path)["x"].shape == (1000000, 5)
    with pytest.raises(MemoryLimitError, match=r"is too large: its array would take 20.0 MB, at most 19.0 MB"):
        ArrayFile(path, 19_000_000)
    monkeypatch.setattr(array_file, "UNPACKED_BASE", 1 << 20)
    for read in (lambda: read_arrays(path, ["x"]), lambda: list(Dataset(path, [Input("x", (None, 5), "float32")]))):
        with pytest.raises(MemoryLimitError, match=r"kB, would unpack to 20.0 MB, which no samples do; .*numpy.savez"):
            read()


def saved(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


def archive_of(content: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("x.npy", content)
    return buffer.getvalue()


WHOLE = saved(np.ones((4, 3), np.float32))
DAMAGED = {
    "empty": b"", "text": b"hello" * 20, "zip": b"PK\x03\x04" + b"y" * 50, "cut zip": archive_of(WHOLE)[:120],
    "cut": WHOLE[:60], "cut data": WHOLE[:-8], "objects": saved(np.array([{"a": 1}], object)),
    "objects inside": archive_of(saved(np.array([{"a": 1}], object))), "text inside": archive_of(b"hello"),
    "shape": npy("(9999999999,)"), "negative": npy("(-1, 4)"), "header": npy("(" * 500), "version": b"\x93NUMPY\x09\x09" + bytes(99),
    "encrypted": archive_of(WHOLE).replace(b"PK\x01\x02\x14\x03\x14\x00\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01\x00"),
    "another packing": archive_of(WHOLE).replace(b"\x14\x00\x00\x00\x00\x00", b"\x14\x00\x00\x00\x63\x00"),
    "other sum": archive_of(WHOLE).replace(np.ones(3, np.float32).tobytes(), np.full(3, 2, np.float32).tobytes()),
}  # fmt: skip
READERS: dict[str, tuple[type[Exception], Callable[[Path], object]]] = {
    "data": (DataError, lambda path: read_arrays(path, ["x"])),
    "dumps": (DataError, lambda path: _look_at_dumps(path)),
    "dumps in a folder": (DataError, lambda path: _look_at_dumps(path.parent)),
    "calibration": (CalibrationError, CalibrationResult.load),
}


def _look_at_dumps(path: Path) -> None:
    dumps = Dumps(path)
    dumps.match({"x": ("x",)}, {"x": (4, 3)})


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("content", DAMAGED)
def test_damaged_files_are_one_sentence_for_every_reader(tmp_path: Path, reader: str, content: str) -> None:
    error, read = READERS[reader]
    path = tmp_path / f"x.{'npy' if DAMAGED[content].startswith(bytes([0x93])) else 'npz'}"
    path.write_bytes(DAMAGED[content])
    with pytest.raises(error) as caught:
        read(path)
    assert "\n" not in str(caught.value) and path.name in str(caught.value)
