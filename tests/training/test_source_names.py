"""Parameters have the names of the source model, and the trained state can be loaded into the float model."""

from __future__ import annotations

import copy
import io
from typing import Any

import numpy as np
import onnx
import pytest

torch = pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')

import tvmq  # noqa: E402
from tests.training.torch_networks import Awkward, labels, pictures, pictures_model  # noqa: E402
from tvmq import training  # noqa: E402
from tvmq.demo import load_demo  # noqa: E402
from tvmq.errors import CalibrationError, ConfigError, ModelError  # noqa: E402
from tvmq.training.check import first_difference  # noqa: E402


def signal_to_noise(wanted: Any, given: Any) -> float:
    wanted, given = (np.asarray(value.detach() if hasattr(value, "detach") else value) for value in (wanted, given))
    return float(10 * np.log10(np.square(wanted).sum() / np.square(wanted - given).sum()))


def train(net: Any, x: Any, y: Any, steps: int, rate: float = 3e-3) -> float:
    optimizer = torch.optim.AdamW((p for p in net.parameters() if p.requires_grad), lr=rate)
    for _ in range(steps):
        loss = torch.nn.functional.cross_entropy(net(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return float(loss.detach())


@pytest.fixture(scope="module")
def model() -> Any:
    return pictures_model()


def prepared(model: Any, **options: Any) -> Any:
    return training.prepare(model, pictures(1, seed=1), [pictures(64, seed=2)], **options)


@pytest.mark.slow
def test_a_torch_model_trains_by_its_own_names(model: Any) -> None:
    before = {name: value.clone() for name, value in model.state_dict().items()}
    net = prepared(model)
    own = [name for name, _ in net.named_parameters() if not name.startswith("quantizers")]
    assert own == ["features.0.weight", "features.1.bias", "features.3.weight", "features.3.bias", "head.weight", "head.bias"]
    assert net.not_in_source == ()
    x, y = pictures(32, seed=3), labels(32)
    assert first_difference(net, training.convert(net), [x]) is None
    start = torch.nn.functional.cross_entropy(net(x), y).item()
    assert train(net, x, y, 12) < start
    assert first_difference(net, training.convert(net), [x]) is None
    floats = copy.deepcopy(model)
    assert str(floats.load_state_dict(net.float_state_dict(), strict=True)) == "<All keys matched successfully>"
    near, learned = signal_to_noise(floats(x), net(x)), signal_to_noise(model(x), net(x))
    assert near > 20 and near > learned + 6, (near, learned)
    assert all(torch.equal(value, before[name]) for name, value in model.state_dict().items())
    assert torch.equal(floats.features[1].running_mean, before["features.1.running_mean"])


@pytest.mark.slow
def test_the_start_is_the_float_model(model: Any) -> None:
    """Weights begin where data rounded them; so they are within half a code of the float ones."""
    state = prepared(model).float_state_dict()
    for name, value in model.state_dict().items():
        assert state[name].shape == value.shape and state[name].dtype == value.dtype
        assert signal_to_noise(value.double() + 1e-9, state[name].double()) > 30, name


@pytest.mark.slow
def test_awkward_names_shared_weights_and_layers_called_twice() -> None:
    torch.manual_seed(0)
    model, data = Awkward().eval(), torch.randn(64, 6)
    net = training.prepare(model, data[:2], [data])
    names = [name for name, _ in net.named_parameters()]
    assert len(names) == len(set(names)) and len({id(p) for p in net.parameters()}) == len(names)
    assert [name for name in names if name.endswith(".weight")] == ["source.weight", "quantizers.weight"]
    assert len([name for name in names if name.startswith("quantizers.weights") and "log2" in name]) == 4
    train(net, data, data, 3)
    assert first_difference(net, training.convert(net), [data]) is None
    state = net.float_state_dict()
    assert torch.equal(state["source.weight"], state["forward_.weight"])
    assert not torch.equal(state["source.weight"], model.source.weight)
    model.load_state_dict(state)
    assert signal_to_noise(model(data), net(data)) > 20
    fresh = training.prepare(Awkward().eval(), data[:2], [data])
    fresh.load_state_dict(net.state_dict())
    assert torch.equal(fresh(data), net(data))


@pytest.mark.slow_cases("conv1d")
@pytest.mark.thinned(2)
@pytest.mark.parametrize("layers", [
    lambda nn: [nn.Conv1d(4, 6, 3), nn.ReLU(), nn.Conv1d(6, 4, 1), nn.BatchNorm1d(4)],
    lambda nn: [nn.ConvTranspose1d(4, 6, 3), nn.BatchNorm1d(6), nn.ReLU(), nn.Conv1d(6, 4, 1)],
    lambda nn: [nn.ConvTranspose1d(4, 4, 3, groups=4), nn.ReLU(), nn.Conv1d(4, 4, 3, groups=2)],
    lambda nn: [nn.Linear(8, 8), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(8, 2, bias=False)],
], ids=["conv1d", "transposed", "groups", "dense"])  # fmt: skip
def test_kinds_of_layers_go_back(layers: Any) -> None:
    torch.manual_seed(1)
    model, data = torch.nn.Sequential(*layers(torch.nn)).eval(), torch.randn(48, 4, 8)
    for norm in (m for m in model if isinstance(m, torch.nn.BatchNorm1d)):
        norm.running_mean.normal_()
        norm.running_var.uniform_(0.5, 2)
    net = training.prepare(model, data[:2], [data])
    assert net.not_in_source == ()
    wanted = torch.roll(model(data), 1, 0).detach()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for _ in range(5):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(net(data), wanted).backward()
        optimizer.step()
    assert first_difference(net, training.convert(net), [data]) is None
    model.load_state_dict(net.float_state_dict())
    assert signal_to_noise(model(data), net(data)) > 24


@pytest.mark.thinned(2)
@pytest.mark.parametrize("options", [{"equalization": True}, {"per_channel": False}], ids=["equalized", "one scale"])
@pytest.mark.slow
def test_factors_of_channels_are_divided_out(model: Any, options: dict[str, Any]) -> None:
    with tvmq.qconfig(**options):
        net = prepared(model)
    x = pictures(32, seed=3)
    assert net.not_in_source == ()
    train(net, x, labels(32), 4)
    floats = copy.deepcopy(model)
    floats.load_state_dict(net.float_state_dict())
    assert signal_to_noise(floats(x), net(x)) > 20


@pytest.mark.slow  # it prepares and trains the embedded network
def test_initializers_of_an_onnx_model_keep_their_names() -> None:
    demo = load_demo()
    graph = onnx.load(io.BytesIO(demo.model))
    with tvmq.qconfig(nbit_weight=4):
        net = training.prepare(*tvmq.from_onnx(graph), [demo.calibration[:64]])
    initializers = {known.name: known for known in graph.graph.initializer}
    state = net.float_state_dict()
    assert net.not_in_source == () and set(state) <= set(initializers)
    assert {"stem.conv.weight", "stem.norm.bias", "head.dense.bias"} <= {name for name, _ in net.named_parameters()}
    x, y = torch.from_numpy(demo.test[:96]), torch.from_numpy(demo.labels[:96])
    train(net, x, y, 3, rate=1e-3)
    for name, value in state.items():
        assert onnx.numpy_helper.to_array(initializers[name]).shape == tuple(value.shape)
    for name, value in net.float_state_dict().items():
        initializers[name].CopyFrom(onnx.numpy_helper.from_array(value.numpy(), name))
    exe = tvmq.build(tvmq.from_onnx(graph)[0], params=tvmq.from_onnx(graph)[1])
    scores = exe.run({"image": demo.test[96:296]})[0]
    ours = net(torch.from_numpy(demo.test[96:296])).detach().numpy()
    right = [float((found.argmax(1) == demo.labels[96:296]).mean()) for found in (scores, ours)]
    assert right[1] > 0.9 and abs(right[0] - right[1]) <= 0.03, right


def test_what_is_in_no_source_has_parameters_of_its_own(model: Any) -> None:
    """A weight that is computed of two has no single origin."""

    class Product(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b = (torch.nn.Parameter(torch.randn(6, 6)) for _ in range(2))

        def forward(self, x: Any) -> Any:
            return torch.relu(x) @ (self.a * self.b)

    torch.manual_seed(0)
    float_model, data = Product().eval(), torch.randn(48, 6)
    net = training.prepare(float_model, data[:2], [data])
    assert len(net.not_in_source) == 1
    assert [name for name, _ in net.named_parameters() if name.endswith("weight")] == [f"{net.not_in_source[0]}.weight"]
    train(net, data, data, 2)
    assert first_difference(net, training.convert(net), [data]) is None
    state = net.float_state_dict()
    assert torch.equal(state["a"], float_model.a) and torch.equal(state["b"], float_model.b)


def test_arguments_that_do_not_go_together(model: Any) -> None:
    mod, params = tvmq.from_torch(model, pictures(2))
    data = [pictures(8)]
    for sentence, arguments, options in (
        ("a torch model brings its weights, params belong to a module", (model, params, data), {}),
        ("params of a module must be a dictionary of weights. Got Tensor", (mod, pictures(2), data), {}),
        ("a model is a torch.nn.Module, or the module of a front end. Got str", ("model.onnx", None, data), {}),
        ("dynamic_batch is for torch models", (mod, params, data), {"dynamic_batch": True}),
        ("batch_norm must be 'frozen' or 'live'. Got 'moving'", (mod, params, data), {"batch_norm": "moving"}),
        ("quantizers must be a dictionary of names and modules. Got list", (mod, params, data), {"quantizers": [3]}),
    ):
        with pytest.raises(ConfigError, match=sentence):
            training.prepare(*arguments, **options)
    with pytest.raises(ModelError, match="pass example_inputs"):
        training.prepare(model, None, data)
    with pytest.raises(CalibrationError, match="chooses ranges from data and there are none"):
        training.prepare(model, pictures(2), None)
