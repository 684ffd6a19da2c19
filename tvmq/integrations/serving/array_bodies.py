"""Arrays as .npz in the bodies of requests and answers, bounded before anything is inflated, nothing pickled.

Tests: tests/integrations/serving/test_array_bodies.py
"""

from __future__ import annotations

import io
import threading
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from tvmq.errors import DataError

Feed = dict[str, np.ndarray]
MOST_BYTES = 64 * 2**20  # of a body, and of what it unpacks to: some MB claim GB
# NumPy reads a header by ast.literal_eval, which fails in threads of CPython 3.11 (python/cpython#106905)
_READING = threading.Lock()


def pack(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Arrays as .npz.

    >>> unpack(pack({"x": np.arange(3)}))["x"].tolist()
    [0, 1, 2]
    """
    file = io.BytesIO()
    named: dict[str, Any] = dict(arrays)
    np.savez(file, **named)
    return file.getvalue()


def unpack(body: bytes, most_bytes: int = MOST_BYTES) -> Feed:
    """Arrays of an .npz.

    raises   DataError for more than `most_bytes`, before anything is inflated, and for what is no .npz
    """
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            size = sum(member.file_size for member in archive.infolist())
        if size <= most_bytes:
            with _READING, np.load(io.BytesIO(body), allow_pickle=False) as arrays:
                return {name: arrays[name] for name in arrays.files}
    except Exception as error:  # of zipfile, zlib, NumPy, and of Python's parser, which reads NumPy's headers
        raise DataError(f"serve: the body is no .npz of arrays ({type(error).__name__}: {error})") from error
    raise DataError(f"serve: the arrays would take {size} bytes, at most {most_bytes} are read")
