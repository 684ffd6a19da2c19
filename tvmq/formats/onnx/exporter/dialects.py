"""Dialects of QuantizeLinear and DequantizeLinear: what the files for a tool hold, and the opset that takes.

onnxruntime   what onnxruntime and OpenVINO read: any zero point, int32 biases. Opset 17; modules with codes of 4 or 16
              bits opset 21, which has types for them and scales for blocks of a weight
tensorrt      int8 around zero, float biases; the rules stand in tensorrt_rules.py
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field

import numpy as np

from tvmq.errors import ConfigError

# opset -> version of the file format; the newer one has INT4, INT16 and blocks in its conversions
IR_VERSIONS = {17: 8, 21: 10}
OLD, NEW = sorted(IR_VERSIONS)
AXES_ARE_INPUTS = 18  # of reductions, from this opset on


@dataclass(frozen=True)
class Dialect:
    """Conventions of the Q/DQ files that a tool reads.

    name           key in DIALECTS, or the name of another tool that uses this exporter
    symmetric      activations are int8 with zero point 0, nothing else
    float_biases   biases are floats; otherwise int32 codes behind a DequantizeLinear
    clips_lowest   codes whose lowest is -127 are clipped there; otherwise only the type bounds them
    narrow         weights of 4 bits in a type of their own; otherwise only where they are in groups
    """

    name: str
    symmetric: bool = False
    float_biases: bool = False
    clips_lowest: bool = True
    narrow: bool = True

    def is_whole(self, limits: np.iinfo, qmin: int, qmax: int) -> bool:
        """True where the type itself ends codes from qmin to qmax; limits are those of the type."""
        lowest = (limits.min,) if self.clips_lowest else (limits.min, limits.min + 1)
        return qmin in lowest and qmax == limits.max


ONNXRUNTIME = Dialect("onnxruntime")
TENSORRT = Dialect("tensorrt", symmetric=True, float_biases=True, clips_lowest=False, narrow=False)
DIALECTS = {dialect.name: dialect for dialect in (ONNXRUNTIME, TENSORRT)}


@dataclass(frozen=True)
class Form:
    """How one module is written.

    narrow   names of weights that are kept in 4 bits
    """

    dialect: Dialect = ONNXRUNTIME
    opset: int = OLD
    narrow: frozenset[str] = field(default_factory=frozenset)

    @property
    def has_blocks(self) -> bool:
        """Whether a conversion takes scales for blocks of a tensor."""
        return self.opset >= NEW


def find_dialect(name: str) -> Dialect:
    """Dialect of that name.

    raises  ConfigError for an unknown one, with near misses

    >>> find_dialect("tensorrt").float_biases
    True
    """
    dialect = DIALECTS.get(name) if isinstance(name, str) else None
    if dialect is None:
        near = difflib.get_close_matches(str(name), DIALECTS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ConfigError(f"to_onnx: dialect must be one of {', '.join(DIALECTS)}. Got {name!r} instead{hint}")
    return dialect


def check_opset(opset: int | None) -> None:
    """raises  ConfigError for an opset that is not written here"""
    if opset is not None and opset not in IR_VERSIONS:
        known = ", ".join(map(str, IR_VERSIONS))
        raise ConfigError(f"to_onnx: opset must be None or one of {known}. Got {opset!r} instead")
