"""The table of C forms, by the name of the operator."""

from __future__ import annotations

from tvmq.exporters.c import elementwise, moves, norms, pools, products, reductions
from tvmq.exporters.c.walk import Form

FORMS: dict[str, Form] = {
    **products.FORMS,
    **pools.FORMS,
    **reductions.FORMS,
    **norms.FORMS,
    **elementwise.FORMS,
    **moves.FORMS,
}
