"""The table of TOSA forms, by the name of the operator.

Tests: tests/formats/tosa/test_to_tosa.py
"""

from __future__ import annotations

from tvmq.formats.tosa import elementwise, moves, pools, products
from tvmq.formats.tosa.writer import Form

FORMS: dict[str, Form] = {**products.FORMS, **pools.FORMS, **elementwise.FORMS, **moves.FORMS}
