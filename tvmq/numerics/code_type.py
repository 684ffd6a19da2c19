"""Types of codes: integers of so many bits, and the type of the arrays that store them.

CODES_8     storage types of 8 bits: operands of tables and of products of bytes
CODES_16    all storage types that tensors are quantized to
CODE_TYPES  these and the types of fewer bits, by name: how descriptions of backends name them

Tests: tests/numerics/test_spec.py
"""

from __future__ import annotations

from dataclasses import dataclass

CODES_8 = ("int8", "uint8")
CODES_16 = (*CODES_8, "int16")


@dataclass(frozen=True)
class CodeType:
    """Integers of so many bits.

    >>> CodeType(4).name, CodeType(4).storage, CodeType(4).limits, CodeType(4).largest_code
    ('int4', 'int8', (-8, 7), 8)
    """

    bits: int
    signed: bool = True

    @property
    def name(self) -> str:
        """Such as "int4"."""
        return f"{'' if self.signed else 'u'}int{self.bits}"

    @property
    def storage(self) -> str:
        """Type of arrays that hold them."""
        return f"{'' if self.signed else 'u'}int{8 if self.bits <= 8 else 16}"

    @property
    def limits(self) -> tuple[int, int]:
        """Lowest and highest code."""
        low = -(2 ** (self.bits - 1)) if self.signed else 0
        return low, low + 2**self.bits - 1

    @property
    def largest_code(self) -> int:
        """Largest magnitude of a code."""
        return max(map(abs, self.limits))


CODE_TYPES = {
    kind.name: kind for signed, widest in ((True, 16), (False, 8)) for kind in
    (CodeType(bits, signed) for bits in range(2, widest + 1))
}  # fmt: skip
