"""Arrays as .npz in bodies: bounded before they are inflated, nothing pickled, one sentence for what is none."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest

from tvmq.errors import DataError
from tvmq.integrations.serving.array_bodies import pack, unpack


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
def test_bodies_are_bounded_before_they_are_inflated(method):
    """Every packing has a bound: a zip states the size that its members unpack to."""
    assert list(unpack(pack({"x": np.zeros(3)}))) == ["x"]
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w", method) as archive:
        archive.writestr("x.npy", bytes(2**16 + 1))
    with pytest.raises(DataError, match="the arrays would take 65537 bytes, at most 65536 are read"):
        unpack(body.getvalue(), 2**16)


@pytest.mark.parametrize("header", [
    "(" * 8000, "-" * 9000 + "1", "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (10**9, 10**9)}", "{'descr': '<f4', 'fortran_order': False, 'shape': (4000000000000,)}", "\0",
], ids=lambda header: header[-24:])  # fmt: skip
def test_bodies_of_other_headers(header):
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as archive:
        archive.writestr(
            "x.npy", b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(64)
        )
    with pytest.raises(DataError, match="the body is no .npz of arrays"):
        unpack(body.getvalue())
