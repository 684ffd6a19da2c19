"""The table of C forms, by the name of the operator.

Tests: tests/formats/c
"""

from __future__ import annotations

from tvmq.formats.c import elementwise, moves, norms, pools, products, reductions
from tvmq.formats.c.writer import Form

FORMS: dict[str, Form] = {
    **products.FORMS,
    **pools.FORMS,
    **reductions.FORMS,
    **norms.FORMS,
    **elementwise.FORMS,
    **moves.FORMS,
}
