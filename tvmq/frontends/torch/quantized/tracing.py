"""What surrounds torch.export while it traces a quantized model."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn
from torch.nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook


@contextmanager
def traced(model: nn.Module) -> Iterator[None]:
    """Nothing for a float model."""
    from tvmq.frontends.torch.quantized.packed import is_quantized, traceable

    if not is_quantized(model):
        yield
        return
    from tvmq.frontends.torch.quantized.codes import Tracing

    mode = Tracing({id(module): path for path, module in model.named_modules()})
    hooks = [register_module_forward_pre_hook(mode.enter), register_module_forward_hook(mode.leave)]
    try:
        with traceable(model), mode:
            yield
    finally:
        for hook in hooks:
            hook.remove()
