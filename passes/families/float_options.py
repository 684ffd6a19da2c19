"""Layers that an option of the configuration keeps in float: by number, by kind, by operator type.

Tests: tests/training/test_records.py
"""

from __future__ import annotations

from tvmq.options.config import QConfig
from tvmq.options.rules import LayerFacts
from tvmq.passes.families.base import Family


def why_switched_off(layer: LayerFacts, family: Family, config: QConfig) -> str | None:
    """The option that keeps a layer in float; None if there is none.

    family  that of the layer

    >>> from tvmq.passes.families import dense
    >>> why_switched_off(LayerFacts("a", op="matmul"), dense.FAMILY, QConfig(skip_dense_layer=True))
    'option skip_dense_layer'
    """
    option = family.switched_off(layer, config)
    if option is None and config.debug_enabled_ops is not None and layer.op not in config.debug_enabled_ops:
        return "option debug_enabled_ops"
    return option
