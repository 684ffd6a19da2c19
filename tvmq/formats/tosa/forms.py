"""The tables of TOSA: operators by name, printers of nodes by class.

Tests: tests/formats/tosa/test_to_tosa.py
"""

from __future__ import annotations

from tvmq.formats.exporting import core_forms
from tvmq.formats.exporting.binding_writer import Table
from tvmq.formats.tosa import elementwise, moves, pools, products

FORMS: Table = {**core_forms.FORMS, **products.FORMS, **pools.FORMS, **elementwise.FORMS}
PRINTERS: Table = {**products.PRINTERS, **pools.PRINTERS, **elementwise.PRINTERS, **moves.PRINTERS}
