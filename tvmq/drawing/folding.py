"""A large network as fewer cards: stretches through which all data pass one after the other become blocks.

A cut is a place in the order of computation over which few values are alive. Between two cuts stands a part of the
network that has one way in and one way out: a residual block, an attention, a run of layers. Parts that follow each
other are put together while their names begin alike, until so few are left as are wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tvmq.drawing.network import INPUT, RESULT, Card, Network

LARGEST = 24  # layers in a block


def fold(network: Network, wanted: int) -> Network:
    """The network in about `wanted` cards, or more where it has no cuts; as it is if it is small."""
    cards = network.cards
    if len(cards) <= wanted:
        return network
    largest = max(LARGEST, -(-len(cards) // wanted))
    parts = _joined(_parts(cards), wanted, largest)
    of_card = {card.key: part[0].key for part in parts for card in part}
    return replace(network, cards=tuple(_block(part, of_card) for part in parts))


def _parts(cards: Sequence[Card]) -> list[list[Card]]:
    """The cards in order, cut behind every one whose result is all that later ones read of those before it.

    Inputs and what is read all over the network (a mask) are no part of the count.
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


def _joined(parts: Sequence[list[Card]], wanted: int, largest: int) -> list[list[Card]]:
    """Parts that follow each other as one, those of the longest common name first."""
    joined = [list(part) for part in parts]
    for depth in (4, 3, 2, 1, 0):
        result: list[list[Card]] = []
        left = len(joined)
        for part in joined:
            if result and left > wanted and _fit(result[-1], part, depth, largest):
                result[-1] += part
                left -= 1
            else:
                result.append(part)
        joined = result
    return joined


def _fit(a: Sequence[Card], b: Sequence[Card], depth: int, largest: int) -> bool:
    """True if two parts may be one block."""
    if len(a) + len(b) > largest or any(card.operator in (INPUT, RESULT) for card in (*a, *b)):
        return False
    return _beginning(a[-1], depth) == _beginning(b[0], depth)


def _beginning(card: Card, depth: int) -> tuple[str, ...]:
    """The first words of a card's name."""
    return tuple(_words(card.names[0])[:depth])


def _words(name: str) -> list[str]:
    return [word for word in name.replace(".", "/").split("/") if word]


def _block(part: Sequence[Card], of_card: dict[str, str]) -> Card:
    """One card for a part."""
    if len(part) == 1:
        card = part[0]
        return replace(card, reads=_outside(card.reads, of_card, card.key))
    reads = [key for card in part for key in card.reads]
    precisions = {card.precision for card in part}
    return Card(
        part[0].key,
        (block_name(part),),
        f"{len(part)} layers",
        precisions.pop() if len(precisions) == 1 else "mixed",
        part[-1].result,
        _outside(reads, of_card, part[0].key),
        inside=tuple(part),
    )


def _outside(reads: Sequence[str], of_card: dict[str, str], own: str) -> tuple[str, ...]:
    return tuple(key for key in dict.fromkeys(of_card[key] for key in reads if key in of_card) if key != own)


def block_name(part: Sequence[Card]) -> str:
    """The common beginning of the names, else the first and the last one.

    >>> block_name([Card("a", ("/layer1/conv",), "conv2d"), Card("b", ("/layer1/relu",), "relu")])
    '/layer1/'
    """
    names = [card.names[0] for card in part]
    common = ""
    for letters in zip(*names, strict=False):
        if len(set(letters)) > 1:
            break
        common += letters[0]
    common = common[: max(common.rfind("/"), common.rfind(".")) + 1]
    return common if len(common) > 1 else f"{names[0]} ... {names[-1]}"
