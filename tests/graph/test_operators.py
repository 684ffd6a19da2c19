"""Operator records: attributes are those of the operator and keywords of its definition; no operator lacks a record."""

from __future__ import annotations

import inspect
from types import SimpleNamespace

import numpy as np
import pytest
import tvm
from tvm import relax

from tvmq.graph import ops
from tvmq.graph.evaluate import EXACT, FLOAT
from tvmq.graph.operators import OPERATORS, RECORDS, where
from tvmq.reference.definition import DEFINED

# Not executed by a definition: a fence changes no value, observe occurs in modules of calibration alone
UNDEFINED = {"relax.tvmq.fence", "relax.tvmq.observe"}


def registered() -> list[str]:
    """Every operator of ours that TVM knows."""
    return sorted(name for name in tvm.ir.Op.list_op_names() if name.startswith("relax.tvmq."))


@pytest.mark.parametrize("name", sorted(record.name for record in RECORDS if record.definition))
def test_attributes_are_keywords_of_the_definition(name: str) -> None:
    record = OPERATORS[name]
    operator = tvm.ir.Op.get(f"relax.{name}")
    assert record.definition is not None
    parameters = inspect.signature(record.definition).parameters
    assert set(record.attributes) <= set(parameters)
    arguments = [*list(parameters)[: int(operator.num_inputs)], *record.attributes]
    needed = [key for key, parameter in parameters.items() if parameter.default is parameter.empty]
    assert len(arguments) == len(set(arguments)), "an argument comes as an array and as an attribute"
    assert set(needed) <= set(arguments), "the definition needs more than the operator has"


def test_one_record_an_operator() -> None:
    assert len(OPERATORS) == len(RECORDS)
    assert set(OPERATORS) <= {name.removeprefix("relax.") for name in tvm.ir.Op.list_op_names()}


def test_each_of_our_operators_has_a_record() -> None:
    assert where(is_own=True) == {name.removeprefix("relax.") for name in registered()}


def test_a_query_of_an_unknown_fact() -> None:
    with pytest.raises(AttributeError, match="colour"):
        where(colour="red")


def test_the_executor_knows_every_operator() -> None:
    missing = [name for name in registered() if name.removeprefix("relax.") not in DEFINED]
    assert set(missing) <= UNDEFINED, f"no definition for {missing}"


def test_a_record_evaluates_a_call() -> None:
    x = relax.Var("x", relax.TensorType([2], "int8"))
    call = ops.multiply(x, x, a_zero=1, b_zero=2)
    q = np.array([3, 4], np.int8)
    assert OPERATORS["tvmq.multiply"].evaluate(call, q, q).tolist() == [2, 6]


def test_a_constructor_takes_all_tensors() -> None:
    x = relax.Var("x", relax.TensorType([2], "int8"))
    with pytest.raises(TypeError, match=r"R\.tvmq\.multiply: 1 tensors; give a, b"):
        ops.multiply(x, a_zero=1, b_zero=2)
    with pytest.raises(TypeError, match="b_zero"):
        ops.multiply(x, x, a_zero=1)


def test_an_operator_shows_its_declaration() -> None:
    signature = str(inspect.signature(ops.multiply))
    assert signature == "(a: 'te.Tensor', b: 'te.Tensor', *, a_zero: 'int', b_zero: 'int') -> 'te.Tensor'"
    assert ops.multiply.__doc__.startswith("Exact int32 product")
    with pytest.raises(AttributeError, match=r"module 'tvmq\.graph\.ops' has no attribute 'divide'"):
        _ = ops.divide


def test_a_constructor_takes_any_sequence() -> None:
    x = relax.Var("x", relax.TensorType([2, 3], "float32"))
    assert list(ops.float_sum(x, axes=(np.int64(0), 1)).attrs.axes) == [0, 1]


@pytest.mark.parametrize(
    "name", sorted(where(elementwise=True, bounded_by_input=True) | where(elementwise=True, bounded_by_one=True))
)
def test_bounds_of_functions(name: str) -> None:
    x = np.concatenate([np.linspace(-9, 9, 2001), [-1e30, 1e30]])
    call = SimpleNamespace(attrs=SimpleNamespace(alpha=0.1))
    y = np.abs({**EXACT, **FLOAT}[name](call, x))
    most = 1.0 if OPERATORS[name].bounded_by_one else np.abs(x)
    assert np.all(y <= most * (1 + 1e-12))
