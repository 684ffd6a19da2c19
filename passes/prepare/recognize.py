"""Turn what exporters wrote out back into the operators that it was: norms, softmax, gelu and other functions.

Before                                        After
    m = mean(x); d = subtract(x, m)               y = nn.layer_norm(x, gamma, beta)
    v = mean(multiply(d, d))
    n = divide(d, sqrt(add(v, epsilon)))
    y = add(multiply(n, gamma), beta)

Spellings do not matter: norms and softmax are read as polynomials of powers and means, which are equal for equal
expressions (algebra.py, canonical.py), functions of single values by their values (recognize_functions.py).

Needs     constants folded and on the right side of sums and products.
Leaves    groups from inside of which something else reads more than statistics: those are then there beside the
          operator; float results move by roundings, as those of any other order.
Names     the new operator carries the names of its whole group.
"""

from __future__ import annotations

from functools import partial

import tvm
from tvm import relax

from tvmq.graph.operators import where
from tvmq.graph.operators.record import ARITHMETIC
from tvmq.graph.rewrite import Rewriter, Visit, rewrite
from tvmq.graph.view import dtype_of, op_name, rank_of, sizes_of
from tvmq.passes.matching import Group
from tvmq.passes.prepare.canonical import MEANS, readings
from tvmq.passes.prepare.recognize_functions import function
from tvmq.passes.prepare.recognize_norms import normalization, with_factors
from tvmq.passes.prepare.recognize_softmax import other_softmax, softmax

ENDS = where(kind=ARITHMETIC, own=False)


def recognize(mod: tvm.IRModule) -> tvm.IRModule:
    """See the head of this file."""
    return rewrite(mod, _visit)


def _visit(rewriter: Rewriter, var: relax.Var, value: relax.Expr) -> relax.Expr | None:
    if not isinstance(var.ty, relax.TensorType) or dtype_of(var) != "float32" or var.ty.shape is None:
        return None
    for recognizer in RECOGNIZERS:
        found = recognizer(rewriter, var, value)
        if found is not None:
            return found
    return None


def by_form(rewriter: Rewriter, var: relax.Var, value: relax.Expr) -> relax.Expr | None:
    """The normalization or softmax that this binding computes of a tensor before it."""
    if op_name(value) not in ENDS:
        return None
    for x, form, walked in readings(rewriter, value, MEANS):
        found = normalization(x, form)
        found = softmax(x, form) if found is None else found
        group = Group(rewriter, var)
        group.join(walked)
        if found is not None and group.close(partial(_is_smaller, x)):
            return found
    return None


def _is_smaller(x: relax.Var, inner: relax.Var) -> bool:
    """True for statistics of x: what else reads them costs little beside the norm, in which they stay exact."""
    pairs = zip(sizes_of(inner), sizes_of(x), strict=False)
    return rank_of(inner) < rank_of(x) or any(a == 1 and b != 1 for a, b in pairs)


RECOGNIZERS: tuple[Visit, ...] = (by_form, with_factors, other_softmax, function)
