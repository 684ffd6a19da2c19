"""Turn what exporters wrote out back into the operators that it was: norms, softmax, gelu and other functions.

Before                                        After
    m = mean(x); d = subtract(x, m)               y = nn.layer_norm(x, gamma, beta)
    v = mean(multiply(d, d))
    n = divide(d, sqrt(add(v, epsilon)))
    y = add(multiply(n, gamma), beta)

Spellings do not matter: norms and softmax are read as polynomials of powers and means, which are equal for equal
expressions (algebra.py, canonical.py), functions of single values by their values (recognize_functions.py).

Needs     constants folded and on the right side of sums and products.
Leaves    groups that something else reads from inside; float results move by roundings, as those of any other order.
Names     the new operator carries the names of its whole group.
"""

from __future__ import annotations

import tvm
from tvm import relax

from tvmq.graph.rewrite import Rewriter, Visit, rewrite
from tvmq.graph.view import dtype_of
from tvmq.passes.recognize_functions import function
from tvmq.passes.recognize_norms import normalization
from tvmq.passes.recognize_softmax import softmax

RECOGNIZERS: tuple[Visit, ...] = (normalization, softmax, function)


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
