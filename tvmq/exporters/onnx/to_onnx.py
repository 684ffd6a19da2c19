"""Integer modules as standard ONNX with QuantizeLinear and DequantizeLinear: `to_onnx`.

Every operator on codes becomes DequantizeLinear -> float operator -> QuantizeLinear, the form that onnxruntime fuses
back into integers and that other tools read. Weights are int8 behind a DequantizeLinear, biases int32; tables become
the functions they were made of.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import tvm

from tvmq.errors import OutputError, StageError
from tvmq.exporters.onnx.walk import Exporter
from tvmq.graph.functions import plain_module
from tvmq.graph.ledger import get_ledger


def to_onnx(qmod: tvm.IRModule, path: str | os.PathLike[str]) -> None:
    """Write an integer module as an ONNX file with QuantizeLinear and DequantizeLinear (opset 17).

    qmod    what `quantize` gave; layer names are kept
    path    the file; it is written under another name and renamed, so that no half of it is left behind
    result  inputs and outputs bear the names of the source; importing the file and quantizing it gives the integers
            of `qmod`, but for products rounded at ties (see docs/quantized-models.md)
    raises  StageError for a module that is not realized, UnsupportedOpError naming a layer without an ONNX form,
            OutputError if the file cannot be written
    """
    qmod = plain_module(qmod)
    stage = get_ledger(qmod).stage
    if stage != "realized":
        raise StageError(f"to_onnx: the module is '{stage}'; export what tvmq.quantize gives")
    data = Exporter(qmod).run().SerializeToString()
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        os.replace(temporary, path)
    except OSError as error:
        raise OutputError(
            f"to_onnx: cannot write {str(path)!r}: {error.strerror}; choose another path or make room"
        ) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()
