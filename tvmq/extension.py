"""Names to write passes, operator families and observers of your own with.

    with tvmq.qconfig(
        passes=["my_package.passes:fold_scale"],          # IRModule -> IRModule, behind prepare
        operators=["my_package.operators:CUMSUM"],        # a Family
        calibrate_mode="my_package.observers:Quantile",   # an Observer
    ):
        qmod = tvmq.quantize(mod, params, data)

Each is named by "module:object", so that options stay data; `__main__:name` is what a script or notebook defines.

For passes     `rewrite(mod, visit)` calls visit(rewriter, variable, value) for each binding and keeps names and ledger;
               `Rewriter` is the same by hand, `View` reads a module, `ops` are our operators
For families   `Family` is the protocol, `Group` the operators it finds, `Codes` the integers it reads and returns,
               `Realizer` the rewriter that its `realize` gets
For observers  `Observer`; `TensorStatistics` is what it reads, `usable_range` makes its answer valid; `WeightObserver`
               for weights: thresholds(weights, spec, axis, name)
For stages     that choose ranges between the passes of docs/by-hand.md: `watched_tensors`, `weights_of` and
               `bias_variables` name what needs a range, `evaluator(return_intermediates(mod, names))` runs the model
For importers  `importer` and `torch_importer` register functions that import ONNX nodes of your domain, and custom
               operators of torch; `rename_inputs`, `check_size`
For operators  `operator` makes one of your own: type, definition in NumPy, kernel
For simulations `simulate_by` replaces the rounding of simulated_quantize by code of your own
For tools      `Interpreter` runs a module operator by operator; its method run_node(node, args) is there to override
For lowerings  `Match` is the argument of a `tvmq.Lowering`'s function; `Extern` names a symbol of a library,
               `Codegen` a code generator of TVM
For rules      that are functions `LayerFacts`

Tests: tests/passes/test_extensions.py, tests/relay/test_imports.py

>>> from tvmq.extension import op_name
"""

from __future__ import annotations

from tvmq.base.memory import check_max_bytes, check_size
from tvmq.calibration.observers.base import Observer, TensorStatistics, usable_range
from tvmq.calibration.observers.kl_divergence import best_half_width
from tvmq.calibration.observers.minmax import range_of_threshold
from tvmq.calibration.observers.weight_observers import WeightObserver, power_above
from tvmq.codegen.compile.evaluators import evaluator
from tvmq.codegen.custom_lowering.lowering import Codegen, Extern
from tvmq.codegen.custom_lowering.match import Match
from tvmq.codegen.target.cpu import resolve_target
from tvmq.formats.importing.importers import importer, torch_importer
from tvmq.graph import ops
from tvmq.graph.ledger import stage_of
from tvmq.graph.module_functions import plain_module
from tvmq.graph.names import rename_inputs
from tvmq.graph.operators.conversions import spec_of
from tvmq.graph.operators.own_simulation import simulate_by
from tvmq.graph.own_operators import OwnOperator, operator
from tvmq.graph.rewrite import Rewriter, rewrite
from tvmq.graph.view import (
    View,
    const_value,
    dtype_of,
    is_const,
    leaves,
    make_const,
    op_name,
    shape_of,
    sizes_of,
    used_vars,
)
from tvmq.options.rules import LayerFacts, did_you_mean
from tvmq.passes.calibrate.collect import watched_tensors
from tvmq.passes.calibrate.observed_model import drop_uncalibrated, return_intermediates
from tvmq.passes.families.base import Codes, Group, OwnFamily, Realizer
from tvmq.passes.families.weight_scales import weights_of
from tvmq.passes.integrality import integrality
from tvmq.passes.round_biases import bias_spec, bias_variables
from tvmq.tools.analysis.interpreter import Interpreter, InterpreterNode

Family = OwnFamily

__all__ = [
    "Codegen",
    "Codes",
    "Extern",
    "Family",
    "Group",
    "Interpreter",
    "InterpreterNode",
    "LayerFacts",
    "Match",
    "Observer",
    "OwnOperator",
    "Realizer",
    "Rewriter",
    "TensorStatistics",
    "View",
    "WeightObserver",
    "best_half_width",
    "bias_spec",
    "bias_variables",
    "check_max_bytes",
    "check_size",
    "const_value",
    "did_you_mean",
    "drop_uncalibrated",
    "dtype_of",
    "evaluator",
    "importer",
    "integrality",
    "is_const",
    "leaves",
    "make_const",
    "op_name",
    "operator",
    "ops",
    "plain_module",
    "power_above",
    "range_of_threshold",
    "rename_inputs",
    "resolve_target",
    "return_intermediates",
    "rewrite",
    "shape_of",
    "simulate_by",
    "sizes_of",
    "spec_of",
    "stage_of",
    "torch_importer",
    "usable_range",
    "used_vars",
    "watched_tensors",
    "weights_of",
]
