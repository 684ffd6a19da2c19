"""The table of TOSA forms, by the name of the operator."""

from __future__ import annotations

from tvmq.exporters.tosa import elementwise, moves, pools, products
from tvmq.exporters.tosa.walk import Form

FORMS: dict[str, Form] = {**products.FORMS, **pools.FORMS, **elementwise.FORMS, **moves.FORMS}
