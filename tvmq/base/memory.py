"""How many bytes an array may have: a bound that is compared before memory is asked for."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

import numpy as np

from tvmq.errors import ConfigError, MemoryLimitError

LARGEST = 2**63 - 1  # sizes and addresses are int64 in compiled code
MOST_ELEMENTS = 2**31 - 1  # of an array; TVM and our kernels count them in 32 bits, where more would wrap
ROOM = "use smaller inputs or a smaller model, end other programs, or use a machine with more"
UNKNOWN = 16 << 30  # of a machine that does not tell
_UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


def memory_limit(root: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Bytes that a control group of Linux allows; None without a limit."""
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        try:
            limit = int((root / name).read_text())
        except (OSError, ValueError):  # "max" is no number
            continue
        return limit if limit < 2**60 else None
    return None


@cache
def _installed_bytes() -> int:
    """Bytes of memory that this machine, or the control group of this process, has."""
    try:
        installed = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # Windows has no sysconf
        installed = UNKNOWN
    return min(installed, memory_limit() or installed)


def usable_memory() -> int:
    """Bytes that this process can ever have: of the machine, its control group, and its own limit."""
    try:
        import resource

        own = resource.getrlimit(resource.RLIMIT_AS)[0]
    except ImportError:  # Windows
        return _installed_bytes()
    return _installed_bytes() if own in (resource.RLIM_INFINITY, -1) else min(_installed_bytes(), own)


def check_max_bytes(max_bytes: int | None, where: str) -> int:
    """The bound itself; without one, the memory of this machine.

    raises   ConfigError for what is no positive number of bytes

    >>> check_max_bytes(10**9, "from_onnx")
    1000000000
    """
    if max_bytes is None:
        return usable_memory()
    if isinstance(max_bytes, bool) or not isinstance(max_bytes, int) or not 0 < max_bytes <= LARGEST:
        raise ConfigError(
            f"{where}: max_bytes must be a whole number of bytes from 1 to 2**63 - 1, or None for this machine's "
            f"memory. Got {max_bytes!r} instead"
        )
    return max_bytes


def parse_bytes(text: str) -> int:
    """Parse a number of bytes as people write it.

    raises   ConfigError with an example

    >>> parse_bytes("500MB"), parse_bytes("2 GiB"), parse_bytes("4096")
    (500000000, 2147483648, 4096)
    """
    match = re.fullmatch(r"(\d{1,18}(?:\.\d{1,6})?)\s*([KMGT]?I?B)?", text.strip().upper())
    unit = (match[2] or "") if match else "?"
    count = float(match[1]) * _UNITS.get("" if unit == "B" else unit, 0) if match else 0
    if not 1 <= count <= LARGEST:
        raise ConfigError(f"'{text}' is no number of bytes; write 500MB, 8GB or 4096")
    return int(count)


def bytes_text(count: int) -> str:
    """Number of bytes as text.

    >>> bytes_text(999), bytes_text(18_550_000), bytes_text(4 * 10**12)
    ('999 B', '18.6 MB', '4.0 TB')
    """
    for unit, factor in (("EB", 10**18), ("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= factor:
            return f"{count / factor:.1f} {unit}" if count < 10**24 else f"{count:.1e} B"
    return f"{count} B"


def is_shortage(error: BaseException) -> bool:
    """True for what NumPy, Python and TVM raise where memory cannot be had."""
    texts = ("bad_alloc", "allocate", "out of memory", "OutOfMemory")
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and any(t in str(error) for t in texts))


def check_size(shape: Sequence[object], dtype: str, max_bytes: int, where: str) -> None:
    """Refuse an array that is larger than the bound; dynamic sizes (no ints) count as 1.

    where    what the message begins with: the stage, the layer and its operator
    raises   MemoryLimitError with shape, bytes and bound; also for more elements than compiled code can count

    >>> check_size((1000, 1000), "float32", 10**6, "from_onnx, layer 'big' (Tile)")
    Traceback (most recent call last):
        ...
    tvmq.errors.MemoryLimitError: from_onnx, layer 'big' (Tile): float32[1000, 1000] takes 4.0 MB, the bound is \
1.0 MB; make it smaller, or raise max_bytes= (--max-bytes)
    """
    count = math.prod(size for size in shape if isinstance(size, int))
    needed = count * np.dtype(dtype).itemsize
    listed = f"{dtype}[{', '.join(map(str, shape))}]"
    if needed > max_bytes:
        raise MemoryLimitError(
            f"{where}: {listed} takes {bytes_text(needed)}, the bound is {bytes_text(max_bytes)}; make it smaller, "
            "or raise max_bytes= (--max-bytes)"
        )
    if count > MOST_ELEMENTS:
        raise MemoryLimitError(
            f"{where}: {listed} has {count} elements, compiled code counts up to {MOST_ELEMENTS} (2**31 - 1); make it "
            "smaller, or cut it into parts"
        )
