"""Layers of a calibrated model that a rule gives scales made at run time: Rule(..., activations="dynamic").

Before                                            After
    x = dequantize(codes, s, z)                       x = dequantize(codes, s, z)
    m = matmul(x, w)                                  s = dynamic_scale(x), a scale for each row
                                                      q = dynamic_quantize(x, s)
                                                      m = dynamic_dequantize(matmul(q, int8 w) in int32, s, s_w)

Needs     a realized module whose ledger says which layers (`partition` read the rules); they are float so far.
Leaves    all other layers.
Numerics  as in `quantize_dynamic`, whose forms these are.
"""

from __future__ import annotations

import tvm
from tvm import relax

from tvmq.errors import AccumulatorError
from tvmq.graph.analysis.float_region_costs import note_float_regions
from tvmq.graph.ledger import require_stage, with_ledger
from tvmq.graph.view import View
from tvmq.numerics.spec import QuantSpec
from tvmq.options.config import recorded_options
from tvmq.passes.quantize_dynamic import DynamicRealizer, integer_facts


def quantize_dynamic_layers(mod: tvm.IRModule) -> tvm.IRModule:
    """Make the scales of some layers at run time; a layer whose sums could leave int32 stays float."""
    ledger = require_stage(mod, "quantize_dynamic_layers", ("realized",))
    chosen = {name: entry for name, entry in ledger.layers.items() if entry.get("dynamic")}
    if not chosen:
        return mod
    config = recorded_options(ledger.config)
    realizer = DynamicRealizer(mod, config, is_dynamic=True)
    rewriter = realizer.rewriter
    for var, value in rewriter.view.bindings:
        rewriter.at(var.name)
        new = rewriter.substitute(value)
        if var.name in chosen:
            rule_spec = chosen[var.name]["specs"].get("weights")
            spec = QuantSpec.from_dict(rule_spec) if rule_spec else config.weight_spec
            observer = chosen[var.name].get("observers", {}).get("weights")
            try:
                new = realizer.realize_layer(var, value, new, spec, observer)
                chosen[var.name] |= integer_facts(spec)
            except AccumulatorError as error:
                chosen[var.name]["why"] = f"limit: {error.fact}"
        rewriter.bind(var, new if isinstance(new, relax.Var) else rewriter.emit(new, var.name))
    result = rewriter.finish()
    note_float_regions(View(result), ledger)
    return with_ledger(result, ledger)
