"""Weights of the test networks: drawn from a seed in the order of the parameters, so that they are Relay's.

Tests: tests/relay/test_testing.py
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tvm

from tvmq.errors import ConfigError
from tvmq.relay.module import IRModule

# Suffix of a parameter's name -> what all of its elements are; weights are drawn
FIXED = {"bias": 0.0, "gamma": 1.0, "beta": 0.0, "mean": 0.0, "var": 1.0}
WEIGHT = "weight"


class Initializer:
    """Fills an array by the name of its parameter: `initializer(name, array)`.

    Names end in weight, bias, gamma, beta, mean or var; ConfigError, a ValueError, for others.
    """

    def __init__(self, **options: Any) -> None:
        self.options = options

    def __call__(self, desc: str, arr: np.ndarray) -> None:
        if desc.endswith(WEIGHT):
            return self.fill_weight(desc, arr)
        suffix = next((suffix for suffix in FIXED if desc.endswith(suffix)), None)
        if suffix is None:
            known = ", ".join([WEIGHT, *FIXED])
            raise ConfigError(f"relay.testing: parameter '{desc}' has no initial value; let its name end in {known}")
        arr[:] = FIXED[suffix]
        return None

    def fill_weight(self, name: str, arr: np.ndarray) -> None:
        """Fill a weight; to be overridden."""
        raise NotImplementedError(f"{type(self).__name__} does not say how weights are filled")


class Xavier(Initializer):
    """Weights of U(-s, s), s = sqrt(magnitude / factor) (Glorot and Bengio, 2010).

    factor_type   "avg", "in", "out" of fan_in = shape[1] * shape[2:] and fan_out = shape[0] * shape[2:], whatever the
                  layout is; of a name with "depthwise" in it the product of shape[2:]
    raises        ConfigError for other types and for weights of fewer than two dimensions

    >>> np.random.seed(0)
    >>> w = np.zeros((4, 2), "float32")
    >>> Xavier()("fc_weight", w)
    >>> bool(np.abs(w).max() < 1.0), round(float(w[0, 0]), 4)
    (True, 0.0976)
    """

    def __init__(self, rnd_type: str = "uniform", factor_type: str = "avg", magnitude: float = 3) -> None:
        super().__init__(rnd_type=rnd_type, factor_type=factor_type, magnitude=magnitude)
        if rnd_type != "uniform" or factor_type not in ("avg", "in", "out"):
            raise ConfigError(
                f"relay.testing: Xavier draws uniform numbers by avg, in or out. Got {rnd_type!r}, {factor_type!r}"
            )
        self.factor_type, self.magnitude = factor_type, float(magnitude)

    def fill_weight(self, name: str, arr: np.ndarray) -> None:
        """Draw by NumPy's global generator, as scripts that seed it expect."""
        if arr.ndim < 2:
            raise ConfigError(f"relay.testing: '{name}' has {arr.ndim} dimensions, Xavier needs 2; name it a bias")
        taps = float(np.prod(arr.shape[2:]))
        fan_in, fan_out = arr.shape[1] * taps, arr.shape[0] * taps
        factor = {"avg": (fan_in + fan_out) / 2, "in": fan_in, "out": fan_out}[self.factor_type]
        scale = np.sqrt(self.magnitude / (taps if "depthwise" in name else factor))
        arr[:] = np.random.uniform(-scale, scale, size=arr.shape)


class Constant(Initializer):
    """Every element of a weight is 1 / number of elements.

    >>> w = np.zeros((2, 2), "float32")
    >>> Constant()("w_weight", w)
    >>> w.tolist()
    [[0.25, 0.25], [0.25, 0.25]]
    """

    def fill_weight(self, name: str, arr: np.ndarray) -> None:
        """Fill with the mean of a sum."""
        arr[:] = 1.0 / arr.size


def create_workload(
    net: Any, initializer: Callable[[str, np.ndarray], None] | None = None, seed: int = 0
) -> tuple[IRModule, dict[str, tvm.runtime.Tensor]]:
    """A network as a module, and weights for all parameters but the one that is called "data".

    net          a Function, or an expression, whose free variables become parameters
    initializer  by default Xavier()
    seed         NumPy's global generator is seeded with it, as of old
    returns      the module and {parameter: tensor}; parameters of dynamic sizes are left out
    """
    mod = IRModule.from_expr(net)
    types = {param.name_hint: param.checked_type for param in mod["main"].params}
    fill = initializer or Xavier()
    np.random.seed(seed)
    params = {}
    for name, kind in types.items():
        if name == "data" or not all(isinstance(size, int) for size in kind.shape):
            continue
        array = np.zeros(kind.concrete_shape, kind.dtype)
        fill(name, array)
        params[name] = tvm.runtime.tensor(array)
    return mod, params
