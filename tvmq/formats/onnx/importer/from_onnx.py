"""ONNX models as Relax modules: `from_onnx`.

The stages, in order:

    load        read and check the file
    (here)      mark operators of custom domains that the user's importers take
    shapes      fix the input dimensions and infer all shapes
    contrib     replace operators of onnxruntime, and operators on codes, by standard ones
    expand      replace functions by their bodies
    fold        fold constants and shape arithmetic
    bodies      inline branches with known conditions; loops: unroll; sequences: resolve
    half        compute float16 and bfloat16 in float32
    convert     convert node by node with TVM's converters or our repairs of them
    assemble    one named, straight-line function (formats/importing)

Tests: tests/formats/onnx/importer/test_sequences.py, tests/formats/importing/test_importers.py
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import tvm

from tvmq.base.foreign_errors import explain_exceptions
from tvmq.base.memory import check_max_bytes
from tvmq.formats.importing.assemble import assemble
from tvmq.formats.importing.importers import ONNX_DOMAINS, SEPARATOR, own_onnx_operators
from tvmq.formats.onnx.importer.bodies import inline_branches, subgraphs
from tvmq.formats.onnx.importer.contrib import expand_contrib
from tvmq.formats.onnx.importer.convert import convert, imported_operators
from tvmq.formats.onnx.importer.expand import expand_functions
from tvmq.formats.onnx.importer.fixed_inputs import fix_inputs
from tvmq.formats.onnx.importer.fold import fold_constants
from tvmq.formats.onnx.importer.half import widen_half
from tvmq.formats.onnx.importer.load import read_model
from tvmq.formats.onnx.importer.sequences import resolve_sequences
from tvmq.formats.onnx.importer.shapes import fix_shapes, infer_shapes
from tvmq.formats.onnx.importer.unroll_loops import unroll_loops
from tvmq.graph.state_pairs import with_state

if TYPE_CHECKING:
    import onnx


@explain_exceptions("from_onnx")
def from_onnx(
    model: str | Path | bytes | onnx.ModelProto,
    shape: Mapping[str, Sequence[int | None]] | None = None,
    *,
    max_bytes: int | None = None,
    folder: str | Path | None = None,
    state: Mapping[str, str] | str | None = "auto",
    values: Mapping[str, Any] | None = None,
) -> tuple[tvm.IRModule, dict[str, np.ndarray]]:
    """Import an ONNX model.

    model    path of a file (external data next to it are found), its bytes, or an onnx.ModelProto (unchanged)
    shape    {input name: shape}; fixes dynamic dimensions, None keeps a dimension as the model has it; a
             dimension that several inputs share by name is fixed for all; shape arithmetic then folds away
    max_bytes  refuse a model in which one tensor (input, result, weight) takes more bytes than this, before memory is
             asked for; None: the memory of this machine. Dynamic dimensions count as 1
    folder   folder of the external weight files that the model names; None: for a path the folder it is in, for bytes
             and protos no folder, so that they read no files
    state    {input: output} of what each call hands to the next one, such as {"h_in": "h_out"}. "auto": pairs whose
             names tell, as past_key_values.* and present.*, and whose types and shapes agree; the ledger notes them.
             None: all inputs are given at each call. See docs/streaming.md
    values   {input: value} of inputs that are always the same, such as a sampling rate: they become constants
    returns  module and weights. mod["main"] takes the graph inputs, then the weights, as parameters; weights
             are {parameter name: array}. Function attributes: "num_input"; "tvmq.inputs" and "tvmq.outputs",
             JSON lists of the names in the model; "tvmq.names", JSON {variable: [ONNX node names]}.
    raises   ModelError          the file, the model or `shape` is wrong
             UnsupportedOpError  an operator cannot be imported
             MemoryLimitError    a tensor is larger than max_bytes: names the layer, its shape and the bound
    order    shapes are fixed and inferred, constants folded with ONNX's reference, nodes converted in turn

    The result is one dataflow block without control flow; arguments of calls are variables, constants, shapes
    or tuples of them.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of TVM's converters about what we repair or refuse, and of NumPy's folding
        bound = check_max_bytes(max_bytes, "from_onnx")
        proto = mark_custom_domains(read_model(model, None if folder is None else Path(folder), bound))
        proto = fix_shapes(fix_inputs(proto, values or {}), shape or {})
        mod, params = assemble(convert(_simplify(proto, bound), bound), bound)
        return with_state(mod, state, "from_onnx"), params


def _simplify(proto: onnx.ModelProto, max_bytes: int) -> onnx.ModelProto:
    """Functions replaced by their bodies, constants folded, branches and loops gone, half precision widened."""
    imported = imported_operators()
    while True:
        while expand_contrib(proto) or expand_functions(proto, imported):
            infer_shapes(proto)
        fold_constants(proto, max_bytes)
        # each may be known only once the other is gone, so both are asked
        if not any([inline_branches(proto), unroll_loops(proto), resolve_sequences(proto)]):
            break
        infer_shapes(proto)
    return fold_constants(infer_shapes(proto), max_bytes) if widen_half(proto) else proto


def mark_custom_domains(model: onnx.ModelProto) -> onnx.ModelProto:
    """Prefix the operators that the user's importers take with their domain (in place): my.domain::Relu.

    Such a name cannot be mistaken for ONNX's operator of the same name. Domains that the model does not import are
    added, because ONNX's shape inference refuses the model otherwise.
    """
    own, known = own_onnx_operators(), {entry.domain for entry in model.opset_import}
    for node in _nodes(model.graph):
        if node.domain in ONNX_DOMAINS:
            continue
        if node.domain not in known:
            model.opset_import.add(domain=node.domain, version=1)
            known.add(node.domain)
        name = f"{node.domain}{SEPARATOR}{node.op_type}"
        if name in own:
            node.op_type = name
    return model


def _nodes(graph: Any) -> Iterator[Any]:
    """Nodes of a graph, and of the bodies inside of them."""
    for node in graph.node:
        yield node
        for inner in subgraphs(node):
            yield from _nodes(inner)
