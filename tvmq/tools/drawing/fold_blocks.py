"""Fold a large network into fewer cards: parts that all data pass one after another become blocks.

A cut is a point in the order of computation where only one value is alive. Between two cuts is a part of the network
with a single input and a single output: a residual block, an attention, a run of layers. Consecutive parts whose names
share a prefix are joined, evenly, until few enough are left.

Tests: tests/tools/drawing/test_draw.py
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from tvmq.tools.drawing.network_cards import INPUT, RESULT, Card, Network

DEPTHS = (4, 3, 2, 1, 0)  # words of names that parts of one block have in common, one after the other


def fold(network: Network, wanted: int) -> Network:
    """Fold the network into about `wanted` cards, or more if it lacks cuts; small ones are returned as they are."""
    cards = network.cards
    if len(cards) <= wanted:
        return network
    parts = _join_parts(_parts(cards), wanted)
    of_card = {card.key: part[0].key for part in parts for card in part}
    return replace(network, cards=tuple(_block(part, of_card) for part in parts))


def _parts(cards: Sequence[Card]) -> list[list[Card]]:
    """Parts of the cards, cut after each card whose result is the only one that later cards read.

    Inputs, and values that are read all over the network such as a mask, do not count.
    """
    last = {key: place for place, card in enumerate(cards) for key in card.reads}
    inputs = {card.key for card in cards if card.operator == INPUT}
    alive: set[str] = set()
    ends: dict[int, list[str]] = {}
    for key, place in last.items():
        ends.setdefault(place, []).append(key)
    parts: list[list[Card]] = [[]]
    for place, card in enumerate(cards):
        parts[-1].append(card)
        if card.key in last and card.key not in inputs:
            alive.add(card.key)
        alive.difference_update(ends.get(place, ()))
        if len(alive) <= 1 or card.operator in (INPUT, RESULT):
            parts.append([])
    return [part for part in parts if part]


def _join_parts(parts: list[list[Card]], wanted: int) -> list[list[Card]]:
    """Join consecutive parts, those with the longest common prefix first."""
    for depth in DEPTHS:
        runs = [list(run) for _, run in groupby(parts, key=lambda part: _beginning(part, depth))]
        size = next((size for size in _sizes(len(parts)) if sum(-(-len(run) // size) for run in runs) <= wanted), None)
        parts = [part for run in runs for part in _chunks(run, size or len(run))]
        if size is not None:
            break
    return parts


def _sizes(most: int) -> list[int]:
    """Sizes of blocks to try: all small numbers, large ones in steps of a tenth."""
    sizes = [1]
    while sizes[-1] < most:
        sizes.append(max(sizes[-1] + 1, int(sizes[-1] * 1.1)))
    return sizes


def _chunks(run: Sequence[list[Card]], size: int) -> list[list[Card]]:
    """Split a run of parts into as few pieces of at most `size` as possible, of similar length."""
    count = -(-len(run) // size)
    ends = [len(run) * number // count for number in range(count + 1)]
    return [[card for part in run[a:b] for card in part] for a, b in pairwise(ends)]


def _beginning(part: Sequence[Card], depth: int) -> tuple[str, ...]:
    """First words of a part's name; inputs and results are never joined."""
    if part[0].operator in (INPUT, RESULT):
        return ("", part[0].key)
    return tuple(_words(part[0].names[0])[:depth])


def _words(name: str) -> list[str]:
    return [word for word in name.replace(".", "/").split("/") if word]


def _block(part: Sequence[Card], of_card: dict[str, str]) -> Card:
    """Merge the cards of a part into one."""
    if len(part) == 1:
        card = part[0]
        return replace(card, reads=_outside(card.reads, of_card, card.key))
    reads = [key for card in part for key in card.reads]
    precisions = {card.precision for card in part}
    return Card(
        part[0].key, (block_name(part),), f"{len(part)} layers", precisions.pop() if len(precisions) == 1 else "mixed",
        part[-1].result, _outside(reads, of_card, part[0].key), inside=tuple(part),
    )  # fmt: skip


def _outside(reads: Sequence[str], of_card: dict[str, str], own: str) -> tuple[str, ...]:
    return tuple(key for key in dict.fromkeys(of_card[key] for key in reads if key in of_card) if key != own)


def block_name(part: Sequence[Card]) -> str:
    """Name of a block: the common prefix of its names, and the range of what follows.

    >>> names = ["/stage/a/conv", "/stage/a/relu", "/stage/b/conv"]
    >>> cards = [Card(name, (name,), "") for name in names]
    >>> block_name(cards[:2]), block_name(cards)
    ('/stage/a/', '/stage/{a .. b}/')
    >>> block_name([Card(name, (name,), "") for name in ("/conv_0", "/relu_9")])
    '/conv_0 .. /relu_9'
    """
    names = [card.names[0] for card in part]
    common = names[0]
    for name in names:
        while not name.startswith(common):
            common = common[: max(common.rfind("/", 0, -1), common.rfind(".", 0, -1)) + 1]
    first, last = (_words(name[len(common) :])[:1] for name in (names[0], names[-1]))
    if not _words(common):  # a lone "/" names nothing
        common = ""
    if not common or not first or not last:
        return common or f"{names[0]} .. {names[-1]}"
    longer = [name for name in names if len(_words(name[len(common) :])) > 1]
    if first == last or len(longer) < len(names):
        return common
    return f"{common}{{{first[0]} .. {last[0]}}}/"
