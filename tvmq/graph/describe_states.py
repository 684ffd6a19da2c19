"""States of a module as the runtime needs them: types, shapes, codes, and what tells the model from others.

Tests: tests/graph/test_state_pairs.py
"""

from __future__ import annotations

from tvmq.graph.ledger import get_ledger
from tvmq.graph.names import input_names
from tvmq.graph.state_pairs import state_variables
from tvmq.graph.view import View, dtype_of, sizes_of
from tvmq.state.model_states import ModelStates
from tvmq.state.state_tensor import StateTensor


def describe_states(view: View, batch: str = "") -> ModelStates:
    """The states of a module's main function.

    batch  the dimension that is proved to be the batch; "" where none is
    """
    tensors = [
        StateTensor(pair, sizes_of(param), dtype_of(param)) for pair, param, _ in state_variables(view)
    ]
    names = input_names(view.func)
    inputs = [(names[param.name], sizes_of(param)) for param in view.params.values()]
    return ModelStates.of(tensors, inputs, batch, get_ledger(view.func).codes) if tensors else ModelStates()
