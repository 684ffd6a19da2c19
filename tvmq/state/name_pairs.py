"""Pairs of states that the names of inputs and outputs tell: h_in and h_out, past_key_values.0.key and present.0.key.

A name is read as words. Two belong together if their words are the same but for one that says "before" or "after", and
if one of the other words says that this is a state: "image_in" and "image_out" are an input and its result, not a
state. Whether types and shapes agree is asked by graph/state_pairs.py.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# Words that say "of the call before", and those that say "of this call"
BEFORE = ("in", "input", "inputs", "past", "prev", "previous", "old", "last", "initial", "init", "0", "i")
AFTER = ("out", "output", "outputs", "present", "next", "new", "n", "o", "updated", "final", "current", "cur")
# Words that name a state
STATES = frozenset(
    (
        *("state", "states", "hidden", "hiddens", "cell", "cells", "cache", "caches", "memory", "mem", "mems"),
        *("buffer", "buffers", "context", "ctx", "history", "hist", "past", "kv", "h", "c", "hx", "cx"),
        *("rnn", "lstm", "gru"),
    )
)
# One word that stands for two, and words that only one side has
SPELLINGS = {
    **dict.fromkeys(("hn", "hnew", "hout", "ht"), ("h", "n")),
    **dict.fromkeys(("cn", "cnew", "cout", "ct"), ("c", "n")),
    **dict.fromkeys(("h0", "hin"), ("h", "0")),
    **dict.fromkeys(("c0", "cin"), ("c", "0")),
    "staten": ("state", "n"),
    "stateo": ("state", "n"),
    "stateout": ("state", "n"),
}


def words_of(name: str) -> tuple[str, ...]:
    """Words of a name, small.

    >>> words_of("past_key_values.0.decoder.key"), words_of("stateN"), words_of("hiddenStateOut")
    (('past', 'key', 'values', '0', 'decoder', 'key'), ('state', 'n'), ('hidden', 'state', 'out'))
    """
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", name)
    words = [word for word in re.split(r"[^0-9a-z]+", spaced.lower()) if word]
    return tuple(part for word in words for part in SPELLINGS.get(word, (word,)))


def pair_names(inputs: Sequence[str], outputs: Sequence[str]) -> dict[str, str]:
    """{input: output} of what are states by their names, in the order of the inputs.

    >>> pair_names(["x", "state"], ["output", "stateN"])
    {'state': 'stateN'}
    >>> pair_names(["image_in"], ["image_out"])
    {}
    >>> pair_names(["past_key_values.0.key", "past_key_values.0.value"], ["present.0.key", "present.0.value"])
    {'past_key_values.0.key': 'present.0.key', 'past_key_values.0.value': 'present.0.value'}
    """
    known: dict[tuple[str, ...], list[str]] = {}
    for name in outputs:
        for key in _keys(words_of(name), AFTER):
            known.setdefault(key, []).append(name)
    pairs: dict[str, str] = {}
    for name in inputs:
        words = words_of(name)
        # "state" itself goes with "state_out"; "h_in" with "h_out", or with "h"
        candidates = [candidate for key in (*_keys(words, BEFORE), words) for candidate in known.get(key, ())]
        candidates += [other for other in outputs if words_of(other) in _keys(words, BEFORE)]
        names = [other for other in dict.fromkeys(candidates) if other not in pairs.values() and other != name]
        if names and STATES & {word.rstrip("0123456789") for word in words}:
            pairs[name] = names[0]
    return pairs


def _keys(words: tuple[str, ...], marks: Sequence[str]) -> list[tuple[str, ...]]:
    """The words without one that is a mark, in every way; those of "present.0" also as what is past_key_values.0."""
    keys = [words[:at] + words[at + 1 :] for at, word in enumerate(words) if word in marks]
    if words[:1] == ("present",):
        keys.append(("key", "values", *words[1:]))
    return [key for key in keys if key]
