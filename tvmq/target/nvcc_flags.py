"""What NVIDIA's compilers are told about arithmetic, and what they say."""

from __future__ import annotations

# No contraction, no flushing to zero, division and roots as IEEE 754 has them. All but the first are their defaults.
FLAGS = ("--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true")
# The first line of ours in a source that is to be compiled so.
MARK = "// tvmq: products and sums rounded by themselves; compile without fast math and with --fmad=false"


def is_ours(code: str) -> bool:
    """True for a source that `compile.cuda.source.with_functions` made."""
    return MARK in code


def first_error(text: str) -> str:
    """The first line of a compiler's output that tells an error.

    >>> first_error("k.cu(1): warning: x\\nk.cu(2): error: y\\n1 error")
    'k.cu(2): error: y'
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return next((line for line in lines if "error" in line.lower() or "fatal" in line.lower()), (lines or ["?"])[0])
