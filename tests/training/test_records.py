"""Operator records x training: each operator of an integer module has a form with the values of the executable."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tvm import relax

torch = pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')

import tvmq  # noqa: E402
from tests.training.float_twin import FloatTwin  # noqa: E402
from tests.training.form_cases import FIXED, FORMS, JUMPS, OPTIONS, RESIDUAL, WITHOUT, Case, picture  # noqa: E402
from tvmq import training  # noqa: E402
from tvmq.errors import CalibrationError, UnsupportedOpError  # noqa: E402
from tvmq.graph.operators import OPERATORS  # noqa: E402
from tvmq.graph.view import View, op_name  # noqa: E402
from tvmq.training.check import first_difference  # noqa: E402
from tvmq.training.forms import moves  # noqa: E402
from tvmq.training.parameters import LearnedScale  # noqa: E402

QUICKLY: dict[str, Any] = {
    "calibrate_mode": "minmax", "weight_scale": "max", "weight_rounding": "nearest", "outlier_channels": False,
    "bias_correction": False,
}  # fmt: skip
STEPS = 2
LEAST_COSINE = 0.9  # 8 bits and a relu whose sign codes change: 0.91 measured; most are above 0.99


def prepared(case: Case) -> Any:
    with tvmq.qconfig(**{**QUICKLY, **case.options}):
        return training.prepare(case.module(), {}, case.feeds())


def tensors(feed: dict[str, np.ndarray]) -> list[Any]:
    return [torch.from_numpy(array) for array in feed.values()]


def train(net: Any, case: Case) -> None:
    """Two steps, and then quite other scales and zero points: the constants that follow them move."""
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
    for feed in case.feeds()[:STEPS]:
        loss = (net(*tensors(feed)) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    random = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for name, parameter in net.named_parameters():
            if name.endswith("log2_ratio"):
                parameter.add_(2 * torch.rand(parameter.shape, generator=random) - 1)
            if name.endswith("zero_shift"):  # in shares of all codes
                parameter.add_(0.2 * torch.rand(parameter.shape, generator=random) - 0.1)


def check(name: str, case: Case) -> Any:
    """The network equals the integer module in each variable and the executable in its results, before and after."""
    net, x = prepared(case), tensors(case.feeds()[0])
    assert first_difference(net, training.convert(net), x) is None
    if name not in JUMPS:
        check_gradients(net, x)
    train(net, case)
    module = training.convert(net)
    assert first_difference(net, module, x) is None
    compiled = tvmq.build(module).run(case.feeds()[0])[0]
    for mode in (net.eval(), net.train()):
        np.testing.assert_array_equal(mode(*x).detach().numpy(), compiled)
    return net


def check_gradients(net: Any, x: list[Any]) -> None:
    """The gradients of weights have the direction and the size of the float model's."""
    twin = FloatTwin(net.annotated)
    ours, wanted = net(*x), twin(*x)
    loss = torch.from_numpy(np.random.default_rng(3).standard_normal(tuple(ours.shape)))
    (ours * loss).sum().backward()
    (wanted * loss).sum().backward()
    for layer, (weight, known) in twin.pairs(net).items():
        if known.grad is None or not known.grad.any():
            assert weight.grad is None or not weight.grad.any(), layer
            continue
        a, b = weight.grad.flatten(), known.grad.flatten()
        assert a @ b > LEAST_COSINE * a.norm() * b.norm(), layer
        assert 0.9 * b.norm() < a.norm() < 1.1 * b.norm(), layer
    net.zero_grad()


def test_each_record_has_a_case_or_a_reason() -> None:
    excepted = [name for names in WITHOUT.values() for name in names]
    covered = {name.split(":")[0] for name in FORMS}
    assert len(excepted) == len(set(excepted)) and not covered & set(excepted)
    assert covered | set(excepted) == set(OPERATORS)


@pytest.mark.slow_cases("tvmq.table: sigmoid", "nn.conv2d")
@pytest.mark.thinned(40)
@pytest.mark.parametrize("name", FORMS)
def test_the_network_computes_an_operator_as_the_executable_does(name: str) -> None:
    net = check(name, FORMS[name])
    operators = {op_name(value) for _, value in View(net.integers).bindings if isinstance(value, relax.Call)}
    assert name.split(":")[0] in operators


@pytest.mark.thinned(11)
@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.slow_cases("transformer symmetric", "a mask, then a constant")
def test_the_network_computes_integers_of_each_kind(name: str) -> None:
    check(name, OPTIONS[name])


@pytest.mark.slow_cases("tvmq.multiply")
@pytest.mark.parametrize("name", ["residual float", "tvmq.multiply"])
def test_gradients_of_scales_are_those_of_the_loss(name: str) -> None:
    """Scales at half of what they should be, so that saturation decides, beside differences of the loss."""
    case = {**FORMS, **OPTIONS}[name]
    net, x = prepared(case), tensors(case.feeds()[0])
    factors = torch.from_numpy(np.random.default_rng(3).standard_normal(tuple(net(*x).shape)))

    def loss(scale: Any, log2_ratio: float) -> Any:
        with torch.no_grad():
            scale.log2_ratio.fill_(log2_ratio)
        return (net(*x) * factors).sum()

    pairs = []
    for scale in [module for module in net.modules() if isinstance(module, LearnedScale)]:
        net.zero_grad()
        loss(scale, -1.0).backward()
        ours = float((scale.log2_ratio.grad / scale.gradient_share).sum())
        with torch.no_grad():
            pairs.append((ours, float(loss(scale, -0.95) - loss(scale, -1.05)) / 0.1))
            scale.log2_ratio.zero_()
    a, b = np.array(pairs).T
    assert len(pairs) >= 5 and a @ b > 0.95 * np.linalg.norm(a) * np.linalg.norm(b)
    assert 0.8 < np.linalg.norm(a) / np.linalg.norm(b) < 1.25


def test_summands_that_are_looked_up_are_refused_by_name() -> None:
    case = picture(RESIDUAL, (2, 4, 3, 3), **FIXED, rounding="DOUBLE")
    with pytest.raises(UnsupportedOpError, match="a sum of looked-up summands, TFLite's add, has no form with a grad"):
        prepared(case)(*tensors(case.feeds()[0]))


def test_a_scatter_that_adds_is_refused_by_name() -> None:
    case = picture('y = R.scatter_elements(h, places, updates, axis=2, reduction="add")')
    with pytest.raises(UnsupportedOpError, match="layer 'y': operator scatter_elements has no form with a gradient"):
        prepared(case)


def test_a_model_without_integers_has_nothing_to_learn() -> None:
    case = picture("y = R.nn.relu(h)", nbit_weight=16, dtype_weight="int16")
    with pytest.raises(CalibrationError, match="no layer of the model becomes integers with these options"):
        prepared(case)


def test_too_many_values_to_move(monkeypatch: pytest.MonkeyPatch) -> None:
    net = prepared(FORMS["tril"])
    monkeypatch.setattr(moves, "EXACT_INDEX", 100)
    with pytest.raises(UnsupportedOpError, match="layer 'y': tril moves 288 values, 99 are the most; train with a small"):
        net(*tensors(FORMS["tril"].feeds()[0]))
