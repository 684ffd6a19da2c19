"""`to_tflite`: the integral core of a module as a TFLite file of int8."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass

import tvm

from tvmq.base.whole_file import write_file
from tvmq.formats.exporting import core_forms
from tvmq.formats.exporting.binding_writer import Table
from tvmq.formats.exporting.core import CoreTensor
from tvmq.formats.exporting.integral_core import INTEGRAL, extract_core
from tvmq.formats.exporting.layouts import CoreExport, FileTensor
from tvmq.formats.tflite import elementwise, moves, pools, products
from tvmq.formats.tflite.flatbuffer import schema
from tvmq.formats.tflite.writer import TfliteWriter
from tvmq.graph.ledger import get_ledger
from tvmq.graph.names import input_names, output_names
from tvmq.graph.view import View, dtype_of

FORMS: Table = {**core_forms.FORMS, **products.FORMS, **pools.FORMS, **elementwise.FORMS}
PRINTERS: Table = {**moves.PRINTERS, **pools.PRINTERS, **elementwise.PRINTERS}


@dataclass(frozen=True)
class TFLiteExport(CoreExport):
    """File that `to_tflite` wrote.

    tensors  {variable of the module: FileTensor of the tensor that holds it}, for dumps of what lies between
    """

    tensors: dict[str, FileTensor]


def to_tflite(qmod: tvm.IRModule, path: str | os.PathLike[str]) -> TFLiteExport:
    """Write the function quantized_main of a fully integral module as a TFLite file: int8, channels last.

    The reference kernels of TFLite and those of tflite-micro give on the codes that `exe["quantize_inputs"]` gives the
    codes that `exe["dequantize_outputs"]` takes, each the same integer.

    qmod     module that `quantize` returned with target="tflite", in sizes that are all fixed
    path     the file; it is written under another name and renamed
    returns  the file's size, its operators, and what its inputs and outputs are
    raises   ConfigError without the packages of tvmq[tflite], StageError for a module that is not in four functions,
             UnsupportedOpError naming a layer without a TFLite form, ModelError for a dynamic size, OutputError if the
             file cannot be written
    """
    schema()
    core = extract_core(qmod, "to_tflite", INTEGRAL.format("tflite"))
    writer = TfliteWriter(View(core), FORMS, PRINTERS, get_ledger(qmod).codes)
    writer.run()
    inputs = _ends(writer, [param.name for param in writer.view.func.params], list(input_names(core["main"]).values()))
    outputs = _ends(writer, writer.view.outputs, output_names(core["main"], len(writer.view.outputs)))
    places = [
        {end.name: writer.values[name].place for end, name in zip(ends, names, strict=True)}
        for ends, names in ((inputs, writer.view.params), (outputs, writer.view.outputs))
    ]
    inside = {
        name: _end(writer, name, writer.file.tensors[codes.place].name, codes)
        for name, codes in writer.values.items()
        if isinstance(codes, CoreTensor)
    }
    data = writer.file.pack(*places)
    path = write_file(path, data, "to_tflite")
    counts = Counter(operator.code for operator in writer.file.operators)
    return TFLiteExport(path, len(data), dict(sorted(counts.items())), inputs, outputs, inside)


def _ends(writer: TfliteWriter, variables: list[str], names: list[str]) -> tuple[FileTensor, ...]:
    """Inputs or results of the file; an int32 result is refused."""
    for variable in variables:
        if not isinstance(writer.values[variable], CoreTensor):
            writer.layer = ", ".join(writer.view.sources(variable))
            kind = dtype_of(writer.view.var[variable])
            raise writer.unsupported_error(
                f"a result of {kind} sums", "a TFLite file returns codes: quantize with target='tflite'"
            )
    return tuple(_end(writer, var, name, writer.values[var]) for var, name in zip(variables, names, strict=True))


def _end(writer: TfliteWriter, variable: str, name: str, codes: CoreTensor) -> FileTensor:
    dtype = dtype_of(writer.view.var[variable])
    return FileTensor(name, codes.shape, codes.order, float(codes.scale), codes.zero, codes.uint8_offset, dtype)
