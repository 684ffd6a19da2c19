"""Integer modules as torch modules: `to_torch`."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import tvm

from tvmq.base.foreign_errors import needs_extra
from tvmq.base.whole_file import write_file
from tvmq.errors import ConfigError, ModelError, StageError, UnsupportedOpError
from tvmq.formats.onnx.exporter.dialects import Dialect
from tvmq.formats.onnx.exporter.writer import OnnxWriter
from tvmq.graph.ledger import get_ledger
from tvmq.graph.module_functions import plain_module

if TYPE_CHECKING:
    import torch

# ExecuTorch and PT2E have biases in floats; weights of 4 bits are int8 with bounds of their own there
TORCH = Dialect("torch", float_biases=True)


FORMS = ("decomposed", "exact")


def to_torch(model: Any, *, form: str = "decomposed") -> torch.nn.Module:
    """An integer module as a torch module in evaluation mode, which torch.export.export takes.

    decomposed  float operators between quantize and dequantize operators: quantize_per_tensor, dequantize_per_tensor
                and dequantize_per_channel of torch.ops.quantized_decomposed, as PT2E writes them. ExecuTorch and other
                readers of PT2E take them, and `from_torch` adopts their scales. Values next to a tie may fall to the
                other side. A fresh process needs tvmq no more, only `import torch.ao.quantization.fx._decomposed`,
                which registers the operators
    exact       the integers of the module, bit for bit: codes and int32 sums, in plain operators of torch. Floats
                between them are computed as torch does

    model    module that `quantize` returned, or a network of `tvmq.training`: its parameters as they are now
    returns  a torch.fx.GraphModule; inputs bear the names of the source, as far as Python allows them. Several results
             are a tuple. Weights are int8 buffers (products have them with the outputs first), biases float ones
    raises   StageError for a module that is not realized, UnsupportedOpError naming a layer without a form in torch,
             ModelError where torch is missing, ConfigError for what is no module, and for an unknown form
    """
    with needs_extra("to_torch", "torch", "torch", ModelError):
        from tvmq.formats.torch.exporter.build_module import TorchBuilder
        from tvmq.formats.torch.exporter.exact_build import ExactBuilder
    trained = getattr(model, "integer_module", None)
    module = plain_module(trained() if trained is not None else model)
    if not isinstance(module, tvm.IRModule):
        raise ConfigError(
            f"to_torch: model must be a module that tvmq.quantize returned or a network of tvmq.training. Got "
            f"{type(model).__name__} instead"
        )
    if form not in FORMS:
        raise ConfigError(f"to_torch: form must be one of {', '.join(FORMS)}. Got {form!r} instead")
    stage = get_ledger(module).stage
    if stage != "realized":
        raise StageError(f"to_torch: the module is '{stage}'; export the module that tvmq.quantize returns")
    try:
        if form == "exact":
            return ExactBuilder(OnnxWriter(module, TORCH), module).module()
        return TorchBuilder(OnnxWriter(module, TORCH).run()).module()
    except UnsupportedOpError as error:
        text = str(error).replace("to_onnx", "to_torch").replace("no equivalent in ONNX", "no equivalent in torch")
        raise UnsupportedOpError(text) from error


def save_program(
    qmod: tvm.IRModule, inputs: Sequence[tuple[tuple[int | str, ...], str]], path: str | os.PathLike[str], *, form: str
) -> None:
    """Write what `to_torch` gives as a .pt2 file, a program of torch.export; half of one is not left behind.

    inputs  shape and element type of each; sizes are numbers
    form    as of `to_torch`
    raises  OutputError
    """
    import torch

    example = tuple(torch.zeros(shape, dtype=getattr(torch, dtype)) for shape, dtype in inputs)
    program = torch.export.export(to_torch(qmod, form=form), example)
    with warnings.catch_warnings():
        # of torch's own archive, about weights that share memory; it says nothing to who saves a program
        warnings.filterwarnings("ignore", message="No complete tensor found in the group")
        write_file(path, partial(torch.export.save, program), "to_torch")
