"""Layers that an option of the configuration keeps in float: by number, by kind, by operator type."""

from __future__ import annotations

from tvmq.config import QConfig
from tvmq.rules import LayerFacts

CONVOLUTIONS = ("conv1d", "conv2d", "conv3d")


def why_switched_off(layer: LayerFacts, family: str, config: QConfig) -> str | None:
    """The option that keeps a layer in float; None if there is none.

    family  operator family of the layer

    >>> why_switched_off(LayerFacts("a", op="matmul"), "dense", QConfig(skip_dense_layer=True))
    'option skip_dense_layer'
    """
    if family in CONVOLUTIONS and layer.index in (config.skip_conv_layers or ()):
        return f"option skip_conv_layers: {layer.index}"
    if family == "dense" and config.skip_dense_layer:
        return "option skip_dense_layer"
    if config.debug_enabled_ops is not None and layer.op not in config.debug_enabled_ops:
        return "option debug_enabled_ops"
    return None
