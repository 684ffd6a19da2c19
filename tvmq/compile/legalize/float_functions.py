"""exp, sigmoid, tanh, erf and what is made of them on floats: the loops of their definition in NumPy.

TVM calls a function of the C library for every number. The definitions (numerics/elementary.py) are plain arithmetic
that becomes vectors, and the same operations in every vector width: a function gives the same bits on every CPU, alone
and fused with its neighbours.
"""

from __future__ import annotations

from tvm import relax, te

from tvmq.compile.legalize.trace import trace
from tvmq.graph.ops.registry import current_kind
from tvmq.graph.view import dtype_of
from tvmq.numerics.elementary import ELEMENTARY


def legalize(builder: relax.BlockBuilder, call: relax.Call) -> relax.Expr:
    """Legalization of the operators of ELEMENTARY: ours for float32 on CPUs and GPUs, else TVM's."""
    name = call.op.name.removeprefix("relax.")
    x = call.args[0]
    if dtype_of(x) != "float32" or current_kind() not in ("llvm", "cuda"):
        return call.op.get_attr("FLegalize")(builder, call)
    return builder.call_te(_element_wise, x, name, primfunc_name_hint=name.rpartition(".")[2])


def _element_wise(x: te.Tensor, name: str) -> te.Tensor:
    function = ELEMENTARY[name]
    # the number read becomes a variable of the trace: the producer of x may become part of the expression
    return te.compute(x.shape, lambda *index: trace(function, x(*index)), name=name.rpartition(".")[2])
