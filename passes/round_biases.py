"""Round the biases of convolutions and matrix products to few bits, where the options say so.

Before                                            After
    b = add(conv2d(x_sq, w_sq), bias)                 b = add(conv2d(x_sq, w_sq), clip(rint(bias / s)) * s)

Needs     an annotated module.
Leaves    the module as it is with nbit_bias=32, the default. Biases stay float constants: realize brings them to the
          steps of the sums, where those that are finer than the rounded ones lose nothing.
Numerics  numerics.quantize and dequantize with one scale for the whole bias, by the weight observer of the options or
          by a range under the name "<root>_bias".

Tests: tests/training/test_records.py
"""

from __future__ import annotations

from collections.abc import Mapping

import tvm
from tvm import relax

from tvmq.graph.ledger import require_stage, with_ledger
from tvmq.graph.rewrite import Rewriter, rewrite
from tvmq.graph.view import View, const_value
from tvmq.numerics.code_type import CodeType
from tvmq.numerics.spec import QuantSpec, choose_qparams
from tvmq.options.config import QConfig, recorded_options
from tvmq.passes.families.base import round_constant
from tvmq.passes.families.weight_scales import constant_qparams
from tvmq.passes.partition import integer_groups

Range = tuple[float, float]


def round_biases(mod: tvm.IRModule, ranges: Mapping[str, Range] | None = None) -> tvm.IRModule:
    """Round biases to few bits, where the options say so."""
    ledger = require_stage(mod, "round_biases", ("annotated",))
    config = recorded_options(ledger.config)
    if config.nbit_bias == 32:
        return mod
    spec = bias_spec(config)
    names = {variable: name for name, variable in bias_variables(mod).items()}

    def visit(_rewriter: Rewriter, var: relax.Var, value: relax.Expr) -> relax.Expr | None:
        if var.name not in names:
            return None
        name, bias = names[var.name], const_value(value.args[1])
        bias_range = (ranges or {}).get(name)
        qparams = choose_qparams(*bias_range, spec) if bias_range else constant_qparams(bias, spec, None, config, name)
        return relax.Call(value.op, [value.args[0], relax.const(round_constant(bias, qparams))], value.attrs)

    return with_ledger(rewrite(mod, visit), ledger)


def bias_spec(config: QConfig) -> QuantSpec:
    """The codes that biases of these options are rounded to.

    >>> bias_spec(QConfig(nbit_bias=16)).dtype
    'int16'
    """
    return QuantSpec(CodeType(config.nbit_bias).storage, config.nbit_bias, symmetric=True)


def bias_variables(mod: tvm.IRModule) -> dict[str, str]:
    """{"<root>_bias": variable that adds it} of all integer groups with a constant bias.

    mod     at the stage "annotated"
    raises  StageError for a module of another stage
    """
    view, groups = View(mod), integer_groups(require_stage(mod, "round_biases", ("annotated",)).layers)
    return {f"{g.root}_bias": g.members[1] for g in groups if g.facts.bias and g.members[1] in view.value}
