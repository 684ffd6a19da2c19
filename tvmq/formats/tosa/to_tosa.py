"""`to_tosa`: the integral core of a module as a TOSA flatbuffer."""

from __future__ import annotations

import os

import tvm

from tvmq.base.whole_file import write_file
from tvmq.formats.exporting import core_forms
from tvmq.formats.exporting.binding_writer import Table
from tvmq.formats.exporting.core import CoreTensor
from tvmq.formats.exporting.integral_core import INTEGRAL, extract_core
from tvmq.formats.exporting.layouts import CoreExport, FileTensor
from tvmq.formats.tosa import elementwise, moves, pools, products
from tvmq.formats.tosa.graph import schema
from tvmq.formats.tosa.writer import UINT8_OFFSETS, TosaWriter
from tvmq.graph.ledger import get_ledger
from tvmq.graph.names import input_names, output_names
from tvmq.graph.view import View, dtype_of

FORMS: Table = {**core_forms.FORMS, **products.FORMS, **pools.FORMS, **elementwise.FORMS}
PRINTERS: Table = {**products.PRINTERS, **pools.PRINTERS, **elementwise.PRINTERS, **moves.PRINTERS}


class TosaExport(CoreExport):
    """File that `to_tosa` wrote."""


def to_tosa(qmod: tvm.IRModule, path: str | os.PathLike[str]) -> TosaExport:
    """Write the function quantized_main of a fully integral module as TOSA 1.0, a flatbuffer, channels last.

    TOSA defines each operator on integers to the bit, so a device that conforms gives on the codes of
    `exe["quantize_inputs"]` what `exe["dequantize_outputs"]` takes, each the same integer.

    qmod     module that `quantize` returned with requantize="fixed_point" or "power_of_two" (target="tosa" says so),
             all sizes fixed. Rounding UPWARD is RESCALE's single rounding; DOUBLE is its double rounding, an
             extension of the specification's integer profile
    path     the file; it is written under another name and renamed
    returns  the file's size, its operators, and what its inputs and outputs are
    raises   ConfigError without the package of tvmq[tosa], StageError for a module that is not in four functions,
             UnsupportedOpError naming a layer without a TOSA form, ModelError for a dynamic size, OutputError if the
             file cannot be written
    """
    schema()
    core = extract_core(qmod, "to_tosa", INTEGRAL.format("tosa"))
    writer = TosaWriter(View(core), FORMS, PRINTERS, get_ledger(qmod).codes)
    entries = input_names(core["main"])
    results = writer.run(list(entries.values()))
    sources = output_names(core["main"], len(results))
    inputs = [writer.values[param] for param in entries]
    ends = (
        _ends(writer, list(entries), list(entries.values()), inputs),
        _ends(writer, writer.view.outputs, sources, results),
    )
    data = writer.graph.pack()
    return TosaExport(write_file(path, data, "to_tosa"), len(data), dict(sorted(writer.graph.counts.items())), *ends)


def _ends(
    writer: TosaWriter, variables: list[str], names: list[str], tensors: list[CoreTensor]
) -> tuple[FileTensor, ...]:
    """Name, shape, order and scale of each input or result."""
    ends = []
    for variable, name, tensor in zip(variables, names, tensors, strict=True):
        scale, zero = writer.scales.get(variable, (1.0, 0))
        dtype = dtype_of(writer.view.var[variable])
        offset = UINT8_OFFSETS[dtype]
        ends.append(FileTensor(name, tensor.shape, tensor.order, float(scale), int(zero) - offset, offset, dtype))
    return tuple(ends)
