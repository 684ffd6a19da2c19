"""What passes, operator families and observers of your own are made of.

    with tvmq.qconfig(
        passes=["my_package.passes:fold_scale"],          # IRModule -> IRModule, behind prepare
        operators=["my_package.operators:CUMSUM"],        # a Family
        calibrate_mode="my_package.observers:Quantile",   # an Observer
    ):
        qmod = tvmq.quantize(mod, params, data)

Each is named by "module:object", so that options stay data; `__main__:name` is what a script or notebook defines.

For passes     `rewrite(mod, visit)` calls visit(rewriter, variable, value) for each binding and keeps names and ledger;
               `Rewriter` is the same by hand, `View` reads a module, `ops` are our operators
For families   `Family` says what is asked of one, `Group` is what it finds, `Codes` what it reads and gives,
               `Realizer` what it is offered
For observers  `Observer`; `TensorStatistics` is what it reads, `usable_range` makes its answer valid

>>> from tvmq.extension import op_name
"""

from __future__ import annotations

from tvmq.graph import ops
from tvmq.graph.rewrite import Rewriter, rewrite
from tvmq.graph.view import View, const_value, dtype_of, is_const, make_const, op_name, shape_of
from tvmq.observers.base import Observer, TensorStatistics, usable_range
from tvmq.passes.families.base import Codes, Group, OwnFamily, Realizer

Family = OwnFamily

__all__ = [
    "Codes",
    "Family",
    "Group",
    "Observer",
    "Realizer",
    "Rewriter",
    "TensorStatistics",
    "View",
    "const_value",
    "dtype_of",
    "is_const",
    "make_const",
    "op_name",
    "ops",
    "rewrite",
    "shape_of",
    "usable_range",
]
