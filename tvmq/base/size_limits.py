"""What sizes a dynamic dimension takes, as text for errors.

Tests: tests/graph/test_multiples.py
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def describe_refusal(limit: Mapping[str, Any] | None, size: int) -> str:
    """What the model takes instead of a size, and why; "" for a size within the limit.

    limit   {"least", "most", "why"}, and "multiple" where only multiples of a number are taken

    >>> describe_refusal({"least": 1, "most": 512, "why": "a table"}, 600)
    'the model takes 1 to 512: a table'
    >>> describe_refusal({"least": 1, "most": 512, "why": "", "multiple": 32}, 100)
    'the model takes multiples of 32; pad or resize what is given'
    """
    if limit is None:
        return ""
    if not limit["least"] <= size <= limit["most"]:
        return f"the model takes {limit['least']} to {limit['most']}" + (f": {limit['why']}" if limit["why"] else "")
    multiple = limit.get("multiple", 1)
    return f"the model takes multiples of {multiple}; pad or resize what is given" if size % multiple else ""
