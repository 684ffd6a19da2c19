"""Records x consumers: each operator that a consumer can meet has a function there, or a sentence that says why not.

A new record, or a new entry of a consumer, must be right in all lists: they are compared for equality.
"""

from __future__ import annotations

from collections.abc import Set

import pytest

from tests.support.operator_consumers import INTERNAL, MATRIX, Consumer
from tvmq.codegen.lower.code_range import MOVES
from tvmq.codegen.lower.lowerer import ANY_SIZE, LOWERINGS
from tvmq.graph.operators import OPERATORS
from tvmq.passes import integrality

CONSUMERS = {**MATRIX, **INTERNAL}
CODES = ("qmin", "qmax")


def known_by(consumer: Consumer) -> Set[str]:
    """The operators that it has functions for; the test is skipped where it needs a package that is not installed."""
    if consumer.needs:
        pytest.importorskip(consumer.needs, reason=f"{consumer.needs} is an extra")
    return consumer.known()


@pytest.mark.parametrize("name", CONSUMERS)
def test_a_consumer_knows_every_record(name: str) -> None:
    consumer = CONSUMERS[name]
    excepted = [operator for names in consumer.reasons.values() for operator in names]
    assert len(excepted) == len(set(excepted)), "one reason each"
    unknown = set(consumer.asked) - set(known_by(consumer))
    assert not unknown - set(excepted), f"{name} does not know these operators"
    assert not set(excepted) - unknown, f"{name} knows these, or is not asked: no reason is needed"


@pytest.mark.parametrize("name", CONSUMERS)
def test_what_a_consumer_knows_has_records(name: str) -> None:
    assert not set(known_by(CONSUMERS[name])) - set(OPERATORS)


@pytest.mark.parametrize("name", MATRIX)
def test_each_cell_has_a_function_or_a_sentence(name: str) -> None:
    consumer = MATRIX[name]
    for operator in consumer.asked - known_by(consumer):
        assert consumer.reason(operator).endswith("."), operator


def test_what_dispatches_has_records() -> None:
    assert not set(LOWERINGS) - set(OPERATORS)
    assert not set(ANY_SIZE) - set(LOWERINGS)


def test_code_ranges_know_all_that_clip_to_codes() -> None:
    """Those whose attributes name the codes: the range of their results is known without a rule."""
    clipping = {name for name, record in OPERATORS.items() if record.is_own and set(CODES) <= set(record.attributes)}
    assert clipping == set(known_by(MATRIX["code ranges"])) - MOVES - {"tvmq.table"}


def test_integral_modules_have_every_function_behind_the_core() -> None:
    """Those that lists of their own had forgotten."""
    assert {"erf", "nn.gelu", "trunc", "nn.softplus", "tvmq.log_softmax", "repeat", "gather_nd"} <= integrality.LAST
    assert {"bitwise_not", "index_tensor", "dynamic_strided_slice"} <= integrality.INTEGER
    assert not integrality.LAST & {"matmul", "mean", "nn.avg_pool2d", "nn.layer_norm"}
