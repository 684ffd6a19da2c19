"""The network as an ordinary torch module: copied, saved, resumed, accumulated, frozen, part of a larger one."""

from __future__ import annotations

import copy
import io
import pickle
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')

from torch.nn.functional import cross_entropy  # noqa: E402

import tvmq  # noqa: E402
from tests.training.torch_networks import labels, pictures, pictures_model  # noqa: E402
from tvmq import training  # noqa: E402
from tvmq.training.check import first_difference  # noqa: E402


@pytest.fixture(scope="module")
def prepared() -> Any:
    return fresh()


def fresh(seed: int = 2, **options: Any) -> Any:
    return training.prepare(pictures_model(), pictures(1, seed=1), [pictures(48, seed=seed)], **options)


@pytest.fixture
def net(prepared: Any) -> Any:
    return copy.deepcopy(prepared)


def steps(net: Any, optimizer: Any, begin: int, end: int) -> None:
    for step in range(begin, end):
        optimizer.zero_grad()
        cross_entropy(net(pictures(16, seed=step)), labels(16)).backward()
        optimizer.step()


def assert_states_equal(a: Any, b: Any) -> None:
    a, b = a.state_dict(), b.state_dict()
    assert a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


@pytest.mark.slow
def test_copies_learn_by_themselves(net: Any) -> None:
    other = copy.deepcopy(net)
    steps(other, torch.optim.SGD(other.parameters(), lr=0.1), 0, 2)
    x = pictures(8, seed=3)
    assert not torch.equal(net(x), other(x))
    assert first_difference(net, training.convert(net), [x]) is None
    assert first_difference(other, training.convert(other), [x]) is None
    assert_states_equal(pickle.loads(pickle.dumps(other)), other)
    assert torch.equal(pickle.loads(pickle.dumps(other))(x), other(x))


@pytest.mark.thinned(2)
@pytest.mark.parametrize("batch_norm", ["frozen", "live"])
@pytest.mark.slow
def test_a_checkpoint_resumes_as_if_nothing_had_stopped(batch_norm: str, tmp_path: Path) -> None:
    net = fresh(batch_norm=batch_norm)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2)
    steps(net, optimizer, 0, 2)
    torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict()}, tmp_path / "state.pt")
    steps(net, optimizer, 2, 4)
    again = fresh(seed=9, batch_norm=batch_norm)  # other data: other scales at the start
    state = torch.load(tmp_path / "state.pt", weights_only=True)
    again.load_state_dict(state["net"])
    optimizer = torch.optim.AdamW(again.parameters(), lr=1e-2)
    optimizer.load_state_dict(state["optimizer"])
    steps(again, optimizer, 2, 4)
    assert_states_equal(again, net)
    assert torch.equal(again.eval()(pictures(8, seed=3)), net.eval()(pictures(8, seed=3)))


@pytest.mark.slow
def test_gradients_accumulate(net: Any) -> None:
    x, y = pictures(24, seed=3), labels(24)
    cross_entropy(net(x), y).backward()
    whole = {name: p.grad.clone() for name, p in net.named_parameters()}
    net.zero_grad()
    for part in range(3):
        chosen = slice(8 * part, 8 * part + 8)
        (cross_entropy(net(x[chosen]), y[chosen]) / 3).backward()
    for name, parameter in net.named_parameters():
        error = (parameter.grad - whole[name]).abs().max()
        if name.startswith("quantizers"):  # sums of large terms that cancel
            kind = name.rpartition(".")[2]
            assert error < 1e-2 * max(g.abs().max() for known, g in whole.items() if known.endswith(kind)), name
        else:
            assert error < 1e-4 * whole[name].abs().max(), name


@pytest.mark.slow
def test_part_of_a_larger_module(net: Any) -> None:
    """Float layers before and after learn through the integers."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 3, 1), net, torch.nn.Linear(10, 10))
    names = [name for name, _ in model.named_parameters()]
    assert len(names) == len(set(names)) == len({id(p) for p in model.parameters()})
    assert {"0.weight", "1.features.0.weight", "2.weight"} <= set(names)
    x, optimizer = pictures(16, seed=3), torch.optim.SGD(model.parameters(), lr=0.05)
    losses = []
    for _ in range(4):
        optimizer.zero_grad()
        loss = cross_entropy(model(x), labels(16))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]
    assert all(model.get_parameter(f"{part}.weight").grad.abs().sum() > 0 for part in (0, 2))
    between = model[0](x).detach()
    exe = tvmq.build(training.convert(net))
    assert torch.equal(torch.from_numpy(exe.run({"x": between.numpy()})[0]), net(between))


@pytest.mark.slow
def test_layers_freeze_and_groups_have_rates_of_their_own(net: Any) -> None:
    net.features.requires_grad_(False)
    start = {name: p.detach().clone() for name, p in net.named_parameters()}
    groups = [
        {"params": [p for p in net.head.parameters()], "lr": 0.1},
        {"params": [p for p in net.quantizers.parameters()], "lr": 0.0},
    ]
    steps(net, torch.optim.AdamW(groups, lr=1.0), 0, 2)
    changed = [name for name, p in net.named_parameters() if not torch.equal(p, start[name])]
    assert changed == ["head.weight", "head.bias"]
    assert net.get_parameter("features.0.weight").grad is None


def test_modes_and_gradients_change_no_value(net: Any) -> None:
    x = pictures(8, seed=3)
    wanted = net.train()(x)
    assert wanted.requires_grad
    with torch.no_grad():
        assert torch.equal(net(x), wanted) and not net(x).requires_grad
    assert torch.equal(net.eval()(x), wanted)
    with torch.inference_mode():
        assert torch.equal(net(x), wanted)


def test_every_parameter_has_a_gradient(net: Any) -> None:
    """All have one, so that DistributedDataParallel waits for none."""
    cross_entropy(net(pictures(16, seed=3)), labels(16)).backward()
    assert [name for name, p in net.named_parameters() if p.requires_grad and p.grad is None] == []


def test_functional_call(net: Any) -> None:
    x = pictures(4, seed=3)
    twice = {name: 2 * p.detach() for name, p in net.named_parameters() if name.startswith("head")}
    other = torch.func.functional_call(net, twice, (x,))
    assert not torch.equal(other, net(x))
    copied = copy.deepcopy(net)
    copied.load_state_dict({**net.state_dict(), **twice})
    assert torch.equal(copied(x), other)


@pytest.mark.slow
def test_a_saved_network_is_read_again(net: Any) -> None:
    file = io.BytesIO()
    torch.save(net, file)
    file.seek(0)
    read = torch.load(file, weights_only=False)
    assert torch.equal(read(pictures(4, seed=3)), net(pictures(4, seed=3)))
