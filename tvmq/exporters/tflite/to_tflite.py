"""`to_tflite`: the integral core of a module as a TFLite file of int8."""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import tvm

from tvmq.exporters.integral_core import core_of
from tvmq.exporters.layouts import End
from tvmq.exporters.tflite.codes import Codes
from tvmq.exporters.tflite.flatbuffer import schema
from tvmq.exporters.tflite.forms import FORMS
from tvmq.exporters.tflite.walk import Walk
from tvmq.graph.ledger import get_ledger
from tvmq.graph.names import input_names, output_names
from tvmq.graph.view import View, dtype_of
from tvmq.whole_file import write_file


@dataclass(frozen=True)
class TFLiteExport:
    """File that `to_tflite` wrote.

    path             the file
    size             bytes
    operators        {name in TFLite: how many}
    inputs, outputs  End: name, scale and zero point; `to_file` and `from_file` turn codes of the module into those
                     of the file, which are int8 and have channels last
    tensors          {variable of the module: End of the tensor that holds it}, for dumps of what lies between
    """

    path: Path
    size: int
    operators: dict[str, int]
    inputs: tuple[End, ...]
    outputs: tuple[End, ...]
    tensors: dict[str, End]

    def __str__(self) -> str:
        counted = ", ".join(f"{count} {name}" for name, count in self.operators.items())
        return f"{self.path}: {self.size} bytes; {counted}"


def to_tflite(qmod: tvm.IRModule, path: str | os.PathLike[str]) -> TFLiteExport:
    """Write the function quantized_main of a fully integral module as a TFLite file: int8, channels last.

    The reference kernels of TFLite and those of tflite-micro give on the codes that `exe["quantize_inputs"]` gives the
    codes that `exe["dequantize_outputs"]` takes, each the same integer.

    qmod     what `quantize` gave with target="tflite", in sizes that are all fixed
    path     the file; it is written under another name and renamed
    returns  the file's size, its operators, and what its inputs and outputs are
    raises   ConfigError without the packages of tvmq[tflite], StageError for a module that is not in four functions,
             UnsupportedOpError naming a layer without a TFLite form, ModelError for a free size, OutputError if the
             file cannot be written
    """
    schema()
    core = core_of(qmod, "to_tflite", "tflite")
    walk = Walk(View(core), FORMS, get_ledger(qmod).codes)
    walk.run()
    inputs = _ends(walk, [param.name for param in walk.view.func.params], list(input_names(core["main"]).values()))
    outputs = _ends(walk, walk.view.outputs, output_names(core["main"], len(walk.view.outputs)))
    places = [
        {end.name: walk.values[name].place for end, name in zip(ends, names, strict=True)}
        for ends, names in ((inputs, walk.view.params), (outputs, walk.view.outputs))
    ]
    inside = {
        name: _end(walk, name, walk.file.tensors[codes.place].name, codes)
        for name, codes in walk.values.items()
        if isinstance(codes, Codes)
    }
    data = walk.file.pack(*places)
    path = write_file(path, data, "to_tflite")
    counts = Counter(operator.code for operator in walk.file.operators)
    return TFLiteExport(path, len(data), dict(sorted(counts.items())), inputs, outputs, inside)


def _ends(walk: Walk, variables: list[str], names: list[str]) -> tuple[End, ...]:
    """Inputs or results of the file; an int32 result is refused."""
    for variable in variables:
        if not isinstance(walk.values[variable], Codes):
            walk.layer = ", ".join(walk.view.sources(variable))
            kind = dtype_of(walk.view.var[variable])
            raise walk.refused(f"a result of {kind} sums", "TFLite gives codes: quantize with target='tflite'")
    return tuple(_end(walk, var, name, walk.values[var]) for var, name in zip(variables, names, strict=True))


def _end(walk: Walk, variable: str, name: str, codes: Codes) -> End:
    dtype = dtype_of(walk.view.var[variable])
    return End(name, codes.shape, codes.order, float(codes.scale), codes.zero, codes.moved, dtype)
