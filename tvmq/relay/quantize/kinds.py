"""relay.quantize.QAnnotateKind: what a simulated_quantize stands before."""

from __future__ import annotations

_NAMES = ("identity", "input", "weight", "activation")


class QAnnotateKind:
    """The kinds of a value: no code at all, read by a layer, a weight or a bias, a sum."""

    IDENTITY = 0
    INPUT = 1
    WEIGHT = 2
    ACTIVATION = 3


def kind_named(word: str) -> int:
    """The kind for a word of ours; a residual stream of 16 bits, which Relay lacked, is a sum.

    >>> kind_named("input"), kind_named("stream") == QAnnotateKind.ACTIVATION
    (1, True)
    """
    return _NAMES.index(word) if word in _NAMES else QAnnotateKind.ACTIVATION


def kind2str(kind: int) -> str:
    """The word for a kind; AssertionError for what is none.

    >>> kind2str(QAnnotateKind.WEIGHT)
    'weight'
    """
    assert 0 <= int(kind) < len(_NAMES), f"relay.quantize.kind2str: a kind is 0..3. Got {kind} instead"
    return _NAMES[int(kind)]
