"""Tiles that were measured on a machine and are taken instead of those that the model of cycles would choose.

All tiles of a product give the same bits: sums of integers are exact, and sums of floats are made in the order of the
products whatever the tile. So a table of tiles is about speed alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

Tile = tuple[int, int]
Tiles = Mapping[str, Tile]

_ACTIVE: ContextVar[Tiles | None] = ContextVar("tvmq_tiles", default=None)


@contextmanager
def using_tiles(tiles: Tiles) -> Iterator[None]:
    """Kernels made inside of the block take these tiles, in this thread.

    tiles   {product_key: (rows, columns)}
    """
    token = _ACTIVE.set(tiles)
    try:
        yield
    finally:
        _ACTIVE.reset(token)


def tile_of(key: str) -> Tile | None:
    """The measured tile of a product; None if there is none.

    >>> with using_tiles({"a product": (6, 4)}):
    ...     tile_of("a product"), tile_of("another")
    ((6, 4), None)
    """
    active = _ACTIVE.get()
    return active.get(key) if active else None
