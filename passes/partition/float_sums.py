"""Sums that a normalization or a softmax reads: they stay float, so that their input is not rounded to 8 bits.

    residual stream   x -> add -> layer norm -> ... -> add -> layer norm      a few channels are hundreds of times
                      larger than the others and one scale leaves nothing of those: 8 bits cost a BERT 38 points
    attention mask    scores -> add(-10000 or 0) -> softmax                   the mask would be all that a scale sees

The layer norm and the softmax are float islands, so nothing is gained by rounding what only they (and the next sum of
the stream) read; the products before give floats straight from their accumulators. With
qconfig(residual_streams="int16") residual streams, not masks, become codes of 16 bits: residual_streams.py.
"""

from __future__ import annotations

from collections.abc import Generator

from tvm import relax

from tvmq.graph.operators import where
from tvmq.graph.operators.record import RESHAPE, TRANSPOSE
from tvmq.graph.view import View, is_const, op_name
from tvmq.graph.walk import resolve_each

NORMALIZATIONS = {
    "nn.layer_norm": "layer norm",
    "nn.rms_norm": "rms norm",
    "nn.group_norm": "group norm",
    "nn.instance_norm": "instance norm",
    "tvmq.layer_norm": "layer norm",
    "tvmq.rms_norm": "rms norm",
    "tvmq.group_norm": "group norm",
    "tvmq.instance_norm": "instance norm",
    "nn.softmax": "softmax",
    "tvmq.softmax": "softmax",
}
# what moves the values of a stream without computing
MOVES = where(form=(RESHAPE, TRANSPOSE))


def why_float_sum(view: View, name: str) -> str | None:
    """Why the sum `name` stays float; None if it does not.

    It does if a normalization or a softmax reads it (also behind a reshape), or if nothing but such sums read it.
    """
    normalization = normalization_of(view, name)
    if normalization:
        return f"default: a {normalization} reads this sum; in 8 bits it would lose too much"
    if _is_in_stream(view, name):
        return "default: it is added to a sum that stays float for the normalization behind it"
    return None


def normalization_of(view: View, name: str) -> str | None:
    """The normalization that reads a tensor, also behind operators that move values."""

    def found(name: str) -> Generator[str, str | None, str | None]:
        for reader in view.readers[name]:
            op = op_name(view.value[reader])
            if op in NORMALIZATIONS and view.value[reader].args[0].name == name:
                return NORMALIZATIONS[op]
            behind = (yield reader) if op in MOVES else None
            if behind:
                return behind
        return None

    return resolve_each(name, found, view.known(normalization_of))


def _is_in_stream(view: View, name: str) -> bool:
    """True if a normalization reads the tensor, or all readers are sums of two tensors of which that holds."""

    def holds(name: str) -> Generator[str, bool, bool]:
        if normalization_of(view, name):
            return True
        readers = view.readers[name]
        if not readers or view.is_output(name):
            return False
        for reader in readers:
            if not _is_sum(view.value[reader]) or not (yield reader):
                return False
        return True

    return resolve_each(name, holds, view.known(_is_in_stream))


def _is_sum(value: relax.Expr) -> bool:
    return op_name(value) == "add" and not any(is_const(arg) for arg in value.args)
