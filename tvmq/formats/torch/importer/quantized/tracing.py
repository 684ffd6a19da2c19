"""Hooks around torch.export while it traces a quantized model.

Tests: tests/formats/torch/importer/test_quantized_models.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

from tvmq.errors import TvmqError, UnsupportedOpError
from tvmq.formats.torch.importer.quantized.packed_weights import is_quantized, make_traceable


def trace_model(model: nn.Module, export: Callable[[], Any]) -> Any:
    """Program that `export` returns, which is called unchanged for a float model.

    A model whose own code makes quantized tensors looks like a float one: where the program shows it, or torch refuses
    the model, it is traced again.
    """
    if is_quantized(model):
        return _as_codes(model, export)
    try:
        program = export()
    except Exception as error:
        try:
            return _as_codes(model, export)
        except TvmqError:
            raise
        except Exception:
            raise error from None
    if any(str(node.target).startswith("aten.quantize_per_") for node in program.graph.nodes):
        return _as_codes(model, export)
    return program


def _as_codes(model: nn.Module, export: Callable[[], Any]) -> Any:
    """Export with `TracedCodes` in the place of quantized tensors."""
    from tvmq.formats.torch.importer.quantized.codes import TracingMode

    mode = TracingMode({id(module): path for path, module in model.named_modules()})
    hooks = [register_module_forward_pre_hook(mode.enter), register_module_forward_hook(mode.leave)]
    try:
        with make_traceable(model), mode:
            return export()
    except UnsupportedOpError as error:
        raise mode.locate_error(error) from error
    finally:
        for hook in hooks:
            hook.remove()
