"""Operators as records: what each one computes, and under which names its attributes reach the definition."""

from __future__ import annotations

from tvmq.graph.operators.own import OWN
from tvmq.graph.operators.record import Operator

# Relax operators whose definition takes their attributes by the attributes' own names
OPERATORS: dict[str, Operator] = {record.name: record for record in OWN}
