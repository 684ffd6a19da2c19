"""The tables of TFLite: operators by name, printers of nodes and of sums by class.

Tests: tests/formats/tflite
"""

from __future__ import annotations

from tvmq.formats.exporting import core_forms
from tvmq.formats.exporting.binding_writer import Table
from tvmq.formats.tflite import elementwise, moves, pools, products

FORMS: Table = {**core_forms.FORMS, **products.FORMS, **pools.FORMS, **elementwise.FORMS}
PRINTERS: Table = {**moves.PRINTERS, **pools.PRINTERS, **elementwise.PRINTERS}
