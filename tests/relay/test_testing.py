"""relay.testing: networks have Relay's shapes, parameters and names; weights are those of the seed."""

import numpy as np
import pytest
import tvm

from tvmq import relay
from tvmq.errors import ConfigError
from tvmq.relay import testing
from tvmq.relay.base import post_order
from tvmq.relay.expr import const, var
from tvmq.relay.op import nn
from tvmq.relay.testing import count_ops, create_workload
from tvmq.relay.testing.init import Constant, Xavier


def shapes(mod):
    return {p.name_hint: tuple(p.checked_type.shape) for p in mod["main"].params}


def output(mod):
    return tuple(mod["main"].ret_type.shape)


def draws(mod, seed=0):
    """The weights by their description: uniform numbers in the order of the parameters."""
    rng = np.random.RandomState(seed)
    drawn = {}
    for name, shape in shapes(mod).items():
        if name.endswith("weight"):
            taps = float(np.prod(shape[2:]))
            factor = taps if "depthwise" in name else (shape[0] * taps + shape[1] * taps) / 2
            bound = np.sqrt(3 / factor)
            drawn[name] = rng.uniform(-bound, bound, shape).astype("float32")
    return drawn


SMALL = {
    "mlp": ({"batch_size": 2}, (2, 10), {"nn.dense": 3, "nn.bias_add": 3, "nn.relu": 2, "nn.softmax": 1}),
    "resnet": ({"num_layers": 8, "num_classes": 10, "image_shape": (3, 28, 28)}, (1, 10), {"nn.conv2d": 10, "add": 3},),
    "mobilenet": ({"image_shape": (3, 32, 32)}, (1, 1000), {"nn.conv2d": 27, "nn.batch_norm": 27, "nn.relu": 27}),
    "dqn": ({"batch_size": 1}, (1, 18), {"nn.conv2d": 3, "nn.dense": 2, "nn.bias_add": 5}),
    "squeezenet": ({"image_shape": (3, 64, 64)}, (1, 1000), {"nn.conv2d": 26, "concatenate": 8, "nn.max_pool2d": 3}),
    "dcgan": ({"batch_size": 1, "ngf": 2}, (1, 3, 64, 64), {"nn.conv2d_transpose": 4, "nn.batch_norm": 3, "tanh": 1}),
    "vgg": ({"batch_size": 1, "image_shape": (3, 32, 32)}, (1, 1000), {"nn.conv2d": 8, "nn.dense": 3}),
    "lstm": ({"iterations": 3, "num_hidden": 4}, (1, 4), {"nn.dense": 6, "split": 3}),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.thinned(2)
@pytest.mark.parametrize("name", SMALL)
def test_networks(name):
    options, shape, counts = SMALL[name]
    mod, params = getattr(testing, name).get_workload(**options)
    assert output(mod) == shape
    found = count_ops(mod["main"].body)
    assert {op: found[op] for op in counts} == counts
    assert set(params) == set(shapes(mod)) - {"data"}
    expected = draws(mod)
    assert expected
    for key, value in expected.items():
        np.testing.assert_array_equal(params[key].numpy(), value, err_msg=key)


@pytest.mark.parametrize("layers, convolutions", [(18, 20), (50, 53)])
def test_resnet_for_large_pictures(layers, convolutions):
    net = testing.resnet.get_net(1, 1000, layers)
    found = count_ops(net.body)
    assert found["nn.conv2d"] == convolutions + (layers == 18)
    assert found["nn.max_pool2d"] == found["nn.global_avg_pool2d"] == 1
    names = [p.name_hint for p in net.params]
    assert names[:6] == [
        "data", "bn_data_gamma", "bn_data_beta", "bn_data_moving_mean", "bn_data_moving_var", "conv0_weight",
    ]  # fmt: skip
    assert names[-2:] == ["fc1_weight", "fc1_bias"]


def test_the_first_way_around_reads_behind_the_relu():
    net = testing.resnet.get_net(1, 10, 8, (3, 28, 28))
    sums = [n for n in post_order(net.body) if getattr(getattr(n, "op", None), "name", "") == "add"]
    shortcut = sums[0].args[1]
    assert shortcut.op.name == "nn.conv2d" and shortcut.args[0].op.name == "nn.relu"


def test_inception_and_densenet():
    net = testing.inception_v3.get_net(1, 1000, (3, 299, 299), "float32")
    found = count_ops(net.body)
    assert (found["nn.conv2d"], found["concatenate"], found["nn.avg_pool2d"]) == (94, 11, 9)
    assert tuple(net.ret_type.shape) == (1, 1000)
    net = testing.densenet.get_net(121, 1000, (4, 3, 224, 224), "float32")
    found = count_ops(net.body)
    assert (found["nn.conv2d"], found["concatenate"]) == (1 + 2 * 58 + 3, 4)
    assert tuple(net.ret_type.shape) == (4, 1000)


def test_networks_in_nhwc():
    mod, _ = testing.mobilenet.get_workload(image_shape=(32, 32, 3), layout="NHWC")
    found = shapes(mod)
    assert found["conv_block_1_conv_weight"] == (3, 3, 3, 32)
    assert found["separable_conv_block_2_weight"] == (3, 3, 64, 1)
    mod, _ = testing.resnet.get_workload(1, 10, 8, (28, 28, 3), "NHWC")
    assert output(mod) == (1, 10) and shapes(mod)["conv0_weight"] == (3, 3, 3, 16)


def test_films():
    net = testing.resnet_3d.get_net(1, 10, 18, (3, 4, 40, 40))
    assert count_ops(net.body)["nn.conv3d"] == 21
    assert tuple(net.ret_type.shape) == (1, 10)


def test_synthetic_has_constant_weights():
    mod, params = testing.synthetic.get_workload()
    assert output(mod) == (1, 3, 24, 12)
    assert {name: float(np.unique(v.numpy()).item()) for name, v in params.items() if name.endswith("weight")} == (
        pytest.approx(
            {"dense_weight": 1 / 144, "conv_weight": 1 / 81, "dense2_weight": 1 / 144, "conv2_weight": 1 / 81}
        )
    )
    assert {name: float(v.numpy()[0]) for name, v in params.items() if not name.endswith("weight")} == {
        "bias": 0, "batch_norm_gamma": 1, "batch_norm_beta": 0, "batch_norm_moving_mean": 0, "batch_norm_moving_var": 1,
    }  # fmt: skip


@pytest.mark.slow
def test_a_workload_runs():
    mod, params = testing.synthetic.get_workload()
    lib = relay.build(mod, "llvm", params=params)
    module = relay.graph_executor.GraphModule(lib["default"](tvm.cpu(0)))
    data = np.random.default_rng(0).random((1, 3, 24, 12), "float32")
    module.run(data=data)
    dense = np.maximum(data @ np.full((12, 12), 1 / 144, "float32"), 0)
    assert module.get_output(0).numpy().shape == data.shape
    assert np.isfinite(module.get_output(0).numpy()).all() and dense.any()


def test_seeds_and_initializers():
    net = nn.dense(var("data", shape=(1, 4)), var("fc_weight"), units=3)
    same = [create_workload(net, seed=7)[1]["fc_weight"].numpy() for _ in range(2)]
    np.testing.assert_array_equal(*same)
    assert (create_workload(net, seed=8)[1]["fc_weight"].numpy() != same[0]).any()
    np.testing.assert_array_equal(
        create_workload(net, Constant())[1]["fc_weight"].numpy(), np.full((3, 4), 1 / 12, "float32")
    )


@pytest.mark.parametrize("factor_type, factor", [("in", 8), ("out", 4), ("avg", 6)])
def test_factors_of_xavier(factor_type, factor):
    array = np.zeros((4, 8), "float32")
    np.random.seed(1)
    Xavier(factor_type=factor_type, magnitude=2)("a_weight", array)
    bound = np.sqrt(2 / factor)
    np.testing.assert_array_equal(array, np.random.RandomState(1).uniform(-bound, bound, (4, 8)).astype("float32"))


def test_depthwise_weights_are_larger():
    array = np.zeros((16, 1, 3, 3), "float32")
    np.random.seed(2)
    Xavier()("x_depthwise_weight", array)
    bound = np.sqrt(3 / 9)
    np.testing.assert_array_equal(array, np.random.RandomState(2).uniform(-bound, bound, array.shape).astype("float32"))


def test_what_is_refused():
    with pytest.raises(ValueError, match="parameter 'kernel' has no initial value"):
        create_workload(nn.dense(var("data", shape=(1, 4)), var("kernel"), units=3))
    with pytest.raises(ValueError, match="Xavier needs 2"):
        create_workload(var("data", shape=(1, 4)) * var("a_weight", shape=(4,)))
    with pytest.raises(ConfigError, match="'gaussian'"):
        Xavier(rnd_type="gaussian")
    with pytest.raises(ValueError, match="no ResNet of 19 layers for 224 rows"):
        testing.resnet.get_net(1, 10, 19)
    with pytest.raises(ValueError, match="no ResNet of 18 layers for 28 rows"):
        testing.resnet.get_net(1, 10, 18, (3, 28, 28))
    with pytest.raises(ConfigError, match="no VGG of 12 layers"):
        testing.vgg.get_net(1, (3, 32, 32), 10, "float32", 12)
    with pytest.raises(ConfigError, match="no SqueezeNet '2.0'"):
        testing.squeezenet.get_net(1, (3, 64, 64), 10, "2.0", "float32")
    with pytest.raises(ConfigError, match="no DenseNet-5"):
        testing.densenet.get_net(5, 10, (1, 3, 224, 224), "float32")
    with pytest.raises(ConfigError, match="DCGAN makes 64 x 64"):
        testing.dcgan.get_net(1, oshape=(3, 32, 32))
    with pytest.raises(ConfigError, match="layout 'CHWN'"):
        testing.layers.conv_kernel_layout("CHWN")
    with pytest.raises(AttributeError, match="testing.darknet is not here"):
        testing.darknet  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'alexnet'"):
        testing.alexnet  # noqa: B018


def test_helpers():
    x = var("x", shape=(2,))
    assert testing.run_infer_type(x + const(1.0)).checked_type.shape == (2,)
    assert testing.rand("float32", 2, 3).numpy().shape == (2, 3)
    assert testing.run_opt_pass(x + x, lambda mod: mod).op.name == "add"
