"""Integer modules as torch modules: `to_torch`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tvm

from tvmq.errors import ConfigError, ModelError, StageError, UnsupportedOpError
from tvmq.exporters.onnx.dialects import Dialect
from tvmq.exporters.onnx.walk import Exporter
from tvmq.graph.functions import plain_module
from tvmq.graph.ledger import get_ledger

if TYPE_CHECKING:
    import torch

# ExecuTorch and PT2E have biases in floats; weights of 4 bits are int8 with bounds of their own there
TORCH = Dialect("torch", float_biases=True)


def to_torch(model: Any) -> torch.nn.Module:
    """An integer module as a torch module in evaluation mode, of float operators between quantize and dequantize.

    The conversions are torch.ops.quantized_decomposed.quantize_per_tensor, dequantize_per_tensor and
    dequantize_per_channel, as PT2E writes them: torch.export.export takes the module, so do ExecuTorch and other tools
    that read PT2E, and `from_torch` adopts its scales. A fresh process needs tvmq no more, only
    `import torch.ao.quantization.fx._decomposed`, which registers the operators.

    model    what `quantize` gave, or a network of `tvmq.training`: its parameters as they are now
    returns  a torch.fx.GraphModule; inputs bear the names of the source, as far as Python allows them. Several results
             are a tuple. Weights are int8 buffers (products have them with the outputs first), biases float ones
    raises   StageError for a module that is not realized, UnsupportedOpError naming a layer without a form in torch,
             ModelError where torch is missing, ConfigError for what is no module
    """
    try:
        from tvmq.exporters.torch.build import Builder
    except ImportError as error:
        raise ModelError(
            f'to_torch: torch cannot be imported ({error}); install it with pip install "tvmq[torch]"'
        ) from error
    trained = getattr(model, "integer_module", None)
    module = plain_module(trained() if trained is not None else model)
    if not isinstance(module, tvm.IRModule):
        raise ConfigError(
            f"to_torch: a model is what tvmq.quantize gives, or a network of tvmq.training. Got {type(model).__name__} "
            "instead"
        )
    stage = get_ledger(module).stage
    if stage != "realized":
        raise StageError(f"to_torch: the module is '{stage}'; export what tvmq.quantize gives")
    return Builder(_graph(module)).module()


def _graph(module: tvm.IRModule) -> Any:
    """The Q/DQ graph; what has no place in it is said in our words."""
    try:
        return Exporter(module, TORCH).run()
    except UnsupportedOpError as error:
        text = str(error).replace("to_onnx", "to_torch").replace("no ONNX form here", "no form in torch here")
        raise UnsupportedOpError(text) from error
