"""relay.frontend: ONNX and PyTorch models as scripts read them."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
import tvm
from onnx import helper, numpy_helper

from tests.support.models.onnx_models import make_model
from tvmq import relay
from tvmq.errors import ConfigError, MemoryLimitError, ModelError, UnsupportedOpError
from tvmq.relay import frontend, graph_executor

DEVICE = tvm.cpu(0)


def model() -> onnx.ModelProto:
    weight = np.random.default_rng(0).normal(size=(3, 4)).astype("float32")
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"], name="fc"),
        helper.make_node("Relu", ["h"], ["y"], name="act"),
    ]
    return make_model(nodes, {"x": ["batch", 3]}, ["y"], {"w": weight}, 17)


def run(mod, params, **inputs):
    module = graph_executor.GraphModule(relay.build(mod, "llvm", params=params)["default"](DEVICE))
    module.run(**inputs)
    return module.get_output(0).numpy()


@pytest.mark.slow_cases("False")
@pytest.mark.parametrize("freeze", [True, False])
def test_onnx(freeze):
    proto = model()
    weight = numpy_helper.to_array(proto.graph.initializer[0])
    mod, params = frontend.from_onnx(proto, {"x": (2, 3)}, freeze_params=freeze)
    assert bool(params) is not freeze
    x = np.ones((2, 3), "float32")
    np.testing.assert_allclose(run(mod, params, x=x), np.maximum(x @ weight, 0), rtol=1e-5)
    if not freeze:
        late = run(mod, None, x=x, **params)
        np.testing.assert_allclose(late, np.maximum(x @ weight, 0), rtol=1e-5)


def test_the_bound_on_memory_and_the_folder_of_the_weights_go_on(tmp_path):
    proto, x = model(), np.ones((2, 3), "float32")
    onnx.save(model(), tmp_path / "m.onnx", save_as_external_data=True, location="m.data", size_threshold=1)
    alone = onnx.load(tmp_path / "m.onnx", load_external_data=False).SerializeToString()
    with pytest.raises(ModelError, match="external file"):
        frontend.from_onnx(alone, {"x": (2, 3)})
    given, _ = frontend.from_onnx(proto, {"x": (2, 3)})
    beside, _ = frontend.from_onnx(alone, {"x": (2, 3)}, folder=tmp_path, max_bytes=48)
    np.testing.assert_array_equal(run(beside, None, x=x), run(given, None, x=x))
    with pytest.raises(MemoryLimitError, match="^from_onnx.* 47"):
        frontend.from_onnx(proto, {"x": (2, 3)}, max_bytes=47)


@pytest.mark.slow
def test_the_bound_on_memory_of_a_torch_model():
    torch = pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')
    frontend.from_pytorch(torch.nn.ReLU(), [("x", (2, 3))], max_bytes=24)
    for shape, bound in (((2, 3), 23), ((2**30, 2**30), None)):
        with pytest.raises(MemoryLimitError, match="^from_pytorch, input 'x'"):
            frontend.from_pytorch(torch.nn.ReLU(), [("x", shape)], max_bytes=bound)
    with pytest.raises(ConfigError, match="from_pytorch: max_bytes must be"):
        frontend.from_pytorch(torch.nn.ReLU(), [("x", (2, 3))], max_bytes=-1)


def test_no_renamed_model_is_written():
    with pytest.raises(ConfigError, match="no renamed model"):
        frontend.from_onnx(model(), export_node_renamed_model_path="there.onnx")


def test_other_formats_say_how_to_become_onnx():
    with pytest.raises(UnsupportedOpError, match=r"from_tflite: .*tf2onnx"):
        frontend.from_tflite(b"")
    with pytest.raises(AttributeError, match="no attribute 'from_paper'"):
        frontend.from_paper  # noqa: B018


def network(torch):
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(144, 5)
    ).eval()


@pytest.mark.slow
def test_pytorch():
    torch = pytest.importorskip("torch")
    net = network(torch)
    mod, params = frontend.from_pytorch(net, [("picture", (1, 3, 8, 8))])
    assert params
    x = torch.rand(1, 3, 8, 8)
    result = run(mod, params, picture=x.numpy())
    np.testing.assert_allclose(result, net(x).detach().numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_pytorch_traced():
    torch = pytest.importorskip("torch")
    net, x = network(torch), torch.rand(1, 3, 8, 8)
    traced = torch.jit.trace(net, x).eval()
    mod, params = frontend.from_pytorch(traced, [("input0", ((1, 3, 8, 8), "float32"))])
    np.testing.assert_allclose(run(mod, params, input0=x), net(x).detach().numpy(), rtol=1e-4, atol=1e-5)


def test_pytorch_refuses():
    torch = pytest.importorskip("torch")
    with pytest.raises(ModelError, match="input"):
        frontend.from_pytorch(network(torch), [("a", (1, 3, 8, 8)), ("b", (1,))])
    with pytest.raises(ConfigError, match="custom_convert_map"):
        frontend.from_pytorch(network(torch), [("a", (1, 3, 8, 8))], {"aten::x": None})
