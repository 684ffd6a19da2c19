"""Proposals by integer programming: the cheapest choice of an option for each layer whose errors add up to a budget.

    minimize    sum of costs, and of conversions where a layer in codes and one in float meet
    such that   each layer has one option, the errors of the layers add up to the budget at most,
                and no recipe is proposed twice

Errors add up nearly: rounding errors of different layers are nearly uncorrelated. Where they do not, the loop corrects
the budget by what a rehearsal of the proposal says.

Tests: tests/quantization/search/test_parts.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tvmq.errors import ConfigError
from tvmq.options.rules import DYNAMIC
from tvmq.quantization.search.space import FLOAT

OUTSIDE = (FLOAT, DYNAMIC)  # options by which a layer reads and gives floats
LARGEST = 1e3  # budgets; an error beyond makes an option impossible
GAP = 1e-6  # between the proposal and the best one possible, as a share
MOST_NODES = 2000  # of the solver: time must not decide what is proposed


@dataclass(frozen=True)
class LPLayer:
    """A layer as the linear program sees it.

    key        in the ledger
    names      in the source
    costs      {option: what it costs}, all options that it may have
    errors     {option: noise power beside the outputs' signal}
    inputs     ((layer that makes it or None for an input of the model, cost of converting it), ...)
    output     cost of converting its result, where that is one of the model's or floats read it; 0 elsewhere
    """

    key: str
    names: tuple[str, ...]
    costs: Mapping[str, float]
    errors: Mapping[str, float]
    inputs: tuple[tuple[str | None, float], ...]
    output: float = 0.0


def propose(layers: Sequence[LPLayer], budget: float, known: Sequence[Mapping[str, str]] = ()) -> dict[str, str] | None:
    """{key: option} of all layers; None where nothing keeps the budget.

    budget  noise power beside the outputs' signal; infinite: errors do not count
    known   choices that are not to be proposed again
    raises  ConfigError where the solver is not installed

    >>> one = LPLayer("a", ("a",), {"int8": 1.0, "float": 4.0}, {"int8": 0.1, "float": 0.0}, ((None, 0.1),))
    >>> propose([one], 0.2), propose([one], 0.05), propose([one], 0.2, [{"a": "int8"}])
    ({'a': 'int8'}, {'a': 'float'}, {'a': 'float'})
    """
    try:
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_array
    except ImportError as error:
        raise ConfigError(
            "search: proposals are solved by scipy, which is not installed; pip install 'tvmq[search]'"
        ) from error
    program = _Program(layers, budget)
    for choice in known:
        program.forbid(choice)
    rows = csr_array((program.values, (program.rows, program.columns)), shape=(len(program.lower), len(program.costs)))
    scale = max(program.costs, default=1.0) or 1.0
    solved = milp(
        np.array(program.costs) / scale,
        constraints=LinearConstraint(rows, program.lower, program.upper),
        integrality=np.array(program.integral),
        bounds=Bounds(np.zeros(len(program.costs)), np.array(program.largest)),
        options={"mip_rel_gap": GAP, "node_limit": MOST_NODES},
    )
    if solved.x is None:
        return None
    return {key: option for (key, option), column in program.column.items() if solved.x[column] > 0.5}


class _Program:
    """Variables and constraints of one proposal."""

    def __init__(self, layers: Sequence[LPLayer], budget: float) -> None:
        self.costs: list[float] = []
        self.largest: list[float] = []
        self.integral: list[int] = []
        self.rows: list[int] = []
        self.columns: list[int] = []
        self.values: list[float] = []
        self.lower: list[float] = []
        self.upper: list[float] = []
        self.column: dict[tuple[str, str], int] = {}
        for layer in layers:
            for option, cost in layer.costs.items():
                share = layer.errors.get(option, 0.0) / budget if np.isfinite(budget) else 0.0
                self.column[layer.key, option] = self._variable(cost, 0.0 if share > LARGEST else 1.0, integral=True)
            self._require({self.column[layer.key, option]: 1.0 for option in layer.costs}, 1.0, 1.0)
        self._outside = {
            layer.key: [self.column[layer.key, option] for option in layer.costs if option in OUTSIDE]
            for layer in layers
        }
        for layer in layers:
            self._convert(layer)
        if np.isfinite(budget):
            errors = {
                self.column[layer.key, option]: min(layer.errors.get(option, 0.0) / budget, LARGEST)
                for layer in layers
                for option in layer.costs
            }
            self._require(errors, -np.inf, 1.0)

    def forbid(self, choice: Mapping[str, str]) -> None:
        """Forbid all of these together."""
        columns = {self.column[item]: 1.0 for item in choice.items() if item in self.column}
        if len(columns) == len(choice):
            self._require(columns, -np.inf, len(columns) - 1.0)

    def _convert(self, layer: LPLayer) -> None:
        """Add costs where codes and floats meet: of what the layer reads, and of its result."""
        for producer, cost in layer.inputs:
            if cost <= 0.0:
                continue
            source = self._outside.get(producer or "", None)
            used = self._outside[layer.key]
            if source is None:  # an input of the model, or of a float operator: floats
                self._at_least(self._variable(cost), [], used, 1.0)
            else:
                self._at_least(self._variable(cost), source, used, 0.0)
                self._at_least(self._variable(cost), used, source, 0.0)
        if layer.output > 0.0:
            self._at_least(self._variable(layer.output), [], self._outside[layer.key], 1.0)

    def _at_least(self, column: int, more: Sequence[int], less: Sequence[int], constant: float) -> None:
        """Constrain the variable to be at least sum(more) - sum(less) + constant."""
        columns = {column: 1.0}
        for other in more:
            columns[other] = columns.get(other, 0.0) - 1.0
        for other in less:
            columns[other] = columns.get(other, 0.0) + 1.0
        self._require(columns, constant, np.inf)

    def _variable(self, cost: float, largest: float = 1.0, *, integral: bool = False) -> int:
        self.costs.append(cost)
        self.largest.append(largest)
        self.integral.append(int(integral))
        return len(self.costs) - 1

    def _require(self, columns: Mapping[int, float], lower: float, upper: float) -> None:
        row = len(self.lower)
        self.lower.append(lower)
        self.upper.append(upper)
        for column, value in columns.items():
            self.rows.append(row)
            self.columns.append(column)
            self.values.append(value)
