"""Choice of the cases of tests marked `thinned(n)` or `slow_cases(*patterns)` that are part of `make test`."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase


def is_kept(number: int, n: int) -> bool:
    """True for one case in n, by turns.

    It moves by one from n cases to the next n, and by one more after n * n: where n values of the upper parameter are
    crossed with others, each combination of the others stays once, and the n values take turns.
    """
    return sum(number // n**power for power in range(3)) % n == 0


def is_slow_case(name: str, patterns: Sequence[str]) -> bool:
    """True for a test whose case, between brackets, matches one of the patterns of a shell."""
    case = name.partition("[")[2].removesuffix("]")
    return any(fnmatchcase(case, pattern) for pattern in patterns)
