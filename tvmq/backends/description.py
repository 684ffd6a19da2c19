"""What a backend says about itself."""

from __future__ import annotations

from dataclasses import dataclass

from tvmq.spec import QuantSpec


@dataclass(frozen=True)
class Backend:
    """A target as the quantizer sees it.

    name               for the ledger and for messages
    families           operator families that it computes in integers; None: all that we have
    activations        storage types of activations
    weights            storage types of weights
    requantize         modes of requantization
    per_channel        whether weights may have a scale for each channel
    """

    name: str
    families: frozenset[str] | None = None
    activations: tuple[str, ...] = ("uint8", "int8")
    weights: tuple[str, ...] = ("int8",)
    requantize: tuple[str, ...] = ("float", "fixed_point", "power_of_two")
    per_channel: bool = True

    def refusal(self, family: str, activations: QuantSpec, weights: QuantSpec | None, mode: str) -> str | None:
        """Why it cannot compute an operator family with these specs in integers; None if it can.

        >>> Backend("toy", activations=("int8",)).refusal("conv2d", QuantSpec("uint8"), None, "float")
        'limit: backend toy computes no uint8 activations'
        """
        if self.families is not None and family not in self.families:
            return f"limit: backend {self.name} has no integer {family}"
        if activations.dtype not in self.activations:
            return f"limit: backend {self.name} computes no {activations.dtype} activations"
        if weights is not None and weights.dtype not in self.weights:
            return f"limit: backend {self.name} computes no {weights.dtype} weights"
        if weights is not None and weights.per_channel and not self.per_channel:
            return f"limit: backend {self.name} takes one scale for a weight, not one for each channel"
        if mode not in self.requantize:
            return f"limit: backend {self.name} does not requantize by {mode}"
        return None
