"""The table of TFLite forms, by the name of the operator.

Tests: tests/formats/tflite
"""

from __future__ import annotations

from tvmq.formats.tflite import elementwise, moves, pools, products
from tvmq.formats.tflite import transposed_convolutions as transposed
from tvmq.formats.tflite.writer import Form

FORMS: dict[str, Form] = {**products.FORMS, **pools.FORMS, **elementwise.FORMS, **moves.FORMS, **transposed.FORMS}
