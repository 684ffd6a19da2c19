"""Which cases of a test marked `thinned(n)` are part of `make test`."""

from __future__ import annotations


def is_kept(number: int, n: int) -> bool:
    """True for one case in n, by turns.

    It moves by one from n cases to the next n, and by one more after n * n: where n values of the upper parameter are
    crossed with others, each combination of the others stays once, and the n values take turns.
    """
    return sum(number // n**power for power in range(3)) % n == 0
