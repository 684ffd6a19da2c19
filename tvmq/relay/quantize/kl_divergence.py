"""relay.quantize.kl_divergence: the threshold of least divergence, by Relay's routine."""

from __future__ import annotations

import numpy as np

from tvmq.errors import ConfigError
from tvmq.observers.relay import BINS, LEVELS, relay_kl_divergence


def _find_scale_by_kl(
    arr: np.ndarray, quantized_dtype: str = "int8", num_bins: int = BINS, num_quantized_bins: int = LEVELS
) -> float:
    """The threshold of all these samples; float64 samples are rounded to float32 first, where Relay misread them.

    raises  ConfigError for other numbers of bins than Relay's pipeline used, or other codes than int8

    >>> round(_find_scale_by_kl(np.random.RandomState(4).uniform(size=4320).astype("float32")), 9)
    0.997615457
    """
    if (quantized_dtype, num_bins, num_quantized_bins) != ("int8", BINS, LEVELS):
        raise ConfigError(
            f"relay.quantize: the search has {BINS} bins and {LEVELS} levels of int8. Got {num_bins}, "
            f"{num_quantized_bins} and {quantized_dtype!r} instead; use tvmq.observers.kl_divergence.best_half_width"
        )
    return relay_kl_divergence(arr)
