"""Which products of a layer meet in one accumulator, and how wide it is.

    Accumulators(20)                        all products of a filter and its bias: a chip whose sums have 20 bits
    Accumulators(16, 2, unsigned=True)      LANES of CPUs without VNNI: vpmaddubsw adds two neighbours in 16 bits, and
                                            what comes of them is widened (kernels/conv/int16_accumulation.py)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tvmq import numerics
from tvmq.backends.description import Backend
from tvmq.calibration.observers.lane_weights import in_memory
from tvmq.errors import ConfigError
from tvmq.numerics.spec import QuantSpec
from tvmq.quantization.pipeline import CPUS


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


@dataclass(frozen=True)
class Accumulators:
    """How sums of products are made.

    bits      of the accumulator, 8..32, with a sign
    products  so many neighbours in the order of memory (kernel row, kernel column, input channel) are added before the
              sum is widened; None: all of a filter, and its bias
    unsigned  codes are multiplied as 0..255, int8 ones with 128 added
    raises    ConfigError for numbers that make no sense

    >>> Accumulators(16, products=2, unsigned=True) == LANES
    True
    """

    bits: int
    products: int | None = None
    unsigned: bool = False

    def __post_init__(self) -> None:
        if not _is_whole(self.bits) or not 8 <= self.bits <= 32:
            raise ConfigError(f"accumulators: bits must be a whole number in 8..32. Got {self.bits!r} instead")
        if self.products is not None and not (_is_whole(self.products) and self.products >= 1):
            raise ConfigError(
                f"accumulators: products must be a whole number of at least 1, or None. Got {self.products!r} instead"
            )

    def __str__(self) -> str:
        return f"sums of {'all' if self.products is None else self.products} products in {self.bits} bits"

    def factors(self, spec: QuantSpec) -> tuple[int, int]:
        """Lowest and highest factor of a weight, for codes of this type.

        >>> LANES.factors(QuantSpec("int8")), Accumulators(20).factors(QuantSpec("uint8", 4))
        ((0, 255), (0, 15))
        """
        if not self.unsigned:
            return spec.qmin, spec.qmax
        return 0, spec.qmax + (128 if spec.dtype == "int8" else 0)


LANES = Accumulators(16, products=2, unsigned=True)


def accumulators_of(accumulators: int | Accumulators | None, backend: Backend) -> Accumulators | None:
    """Accumulators that a number of bits means on a backend; without one, those that the backend describes.

    raises  ConfigError for more bits than the backend has

    >>> from tvmq.backends import backend_named
    >>> accumulators_of(16, backend_named("cpu_without_vnni")) == LANES
    True
    >>> accumulators_of(None, Backend("toy", accumulator_bits=20))
    Accumulators(bits=20, products=None, unsigned=False)
    """
    own = backend.accumulator_bits
    if accumulators is None:
        return Accumulators(own) if own < 32 else None
    if isinstance(accumulators, Accumulators):
        resolved = accumulators
    elif not _is_whole(accumulators):
        raise ConfigError(
            f"accumulators must be a number of bits or tvmq.training.Accumulators. Got {accumulators!r} instead; use 16"
        )
    else:
        resolved = LANES if accumulators == LANES.bits and backend.name in CPUS else Accumulators(accumulators)
    if resolved.bits > own:
        raise ConfigError(
            f"accumulators: {resolved.bits} bits, and sums of backend {backend.name} have {own}; use accumulators={own}"
        )
    return resolved


@dataclass(frozen=True, eq=False)
class Order:
    """Which weights of a layer meet in one accumulator.

    places  int64 [accumulators, weights]: index into the flat weight, its size where an accumulator has fewer
    filter  int64 [accumulators]: output channel that each one belongs to
    """

    places: np.ndarray
    filter: np.ndarray

    def rows(self, weight: np.ndarray) -> np.ndarray:
        """The weight as [accumulators, weights], 0 where there is none."""
        return np.append(np.ravel(weight), weight.dtype.type(0))[self.places]

    def back(self, rows: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """Inverse of `rows`."""
        flat = np.zeros(math.prod(shape) + 1, rows.dtype)
        flat[self.places] = rows
        return flat[:-1].reshape(shape)


def order_of(
    shape: tuple[int, ...], axis: int, accumulators: Accumulators, *, groups: int = 1, transposed: bool = False,
    dilated: bool = False,
) -> Order:
    """The order of a weight.

    shape       of the weight: (filters, channels / groups, *kernel), or a matrix (K, N)
    axis        of its output channels
    groups      of the convolution
    transposed  the weight of a transposed convolution, whose input channels come first
    dilated     along the kernel's last axis

    >>> order_of((2, 1), 1, LANES).places.tolist(), order_of((1, 1, 1, 3), 0, LANES).places.tolist()
    ([[0, 1]], [[0, 1], [2, 3]])
    """
    index = np.arange(math.prod(shape)).reshape(shape)
    index = numerics.filters_first(index, groups) if transposed else np.moveaxis(index, axis, 0)
    filters, none = len(index), index.size
    is_matrix = not transposed and axis == len(shape) - 1
    run = index.shape[-1] if is_matrix else index.size // filters
    if accumulators.products is not None and not is_matrix:
        index = in_memory(index)
        apart = groups > 1 or dilated or transposed
        run = math.prod(index.shape[-1 if apart else -2 :])
    lines = index.reshape(-1, run)
    together = accumulators.products or run
    lines = np.pad(lines, ((0, 0), (0, -run % together)), constant_values=none)
    places = lines.reshape(-1, together)
    return Order(places, np.repeat(np.arange(filters), len(places) // filters))
