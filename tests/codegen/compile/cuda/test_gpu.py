"""On a machine with an NVIDIA GPU: built, saved and loaded models give the bits of the NumPy definition."""

import numpy as np
import pytest

import tvmq
from tests.support.devices.gpu import needs_gpu
from tests.support.random.graphs import random_inputs, random_model

pytestmark = needs_gpu
TASKS = ("dscnn_digits", "resnet8_cifar10", "mbconv_se_cifar10", "vit_cifar10", "crepe_tiny", "unet_membrane")


def assert_exact(module, feeds, exe=None):
    """All outputs of all feeds equal the definition, islands as this GPU computes them."""
    exe = exe or tvmq.build(module, target="cuda")
    reference = tvmq.reference.Reference(module, target="cuda")
    for feed in feeds:
        for found, expected in zip(exe.run(feed), reference.run(feed), strict=True):
            np.testing.assert_array_equal(found, np.asarray(expected))


def test_the_embedded_network(digits, tmp_path):
    feeds = [{"image": digits.example.test[i : i + 1]} for i in range(8)]
    exe = tvmq.build(digits.quantized, target="cuda")
    assert_exact(digits.quantized, feeds, exe)
    exe.save(tmp_path / "m.tvmq")
    assert_exact(digits.quantized, feeds, tvmq.load(tmp_path / "m.tvmq"))
    assert exe.benchmark(feeds[0], repeat=3).median > 0
    assert tvmq.verify(exe, feeds).exact


def test_not_finite_inputs(digits):
    picture = digits.example.test[:1].copy()
    picture.flat[:3] = np.nan, np.inf, -np.inf
    assert_exact(digits.quantized, [{"image": picture}])


def test_simulated_modules(digits):
    with tvmq.qconfig(calibrate_mode="minmax", do_simulation=True):
        module = tvmq.quantize(digits.mod, digits.params, {"image": digits.example.calibration[:8]}, guard=None)
    exe = tvmq.build(module, target="cuda")
    exact, found = (tvmq.build(module).run(digits.pictures(1))[0], exe.run(digits.pictures(1))[0])
    np.testing.assert_allclose(found, exact, rtol=0.1, atol=0.1 * np.abs(exact).max())


@pytest.mark.parametrize("seed", range(12))
def test_random_graphs(seed):
    model = random_model(seed)
    with tvmq.qconfig(calibrate_mode="minmax"):
        module = tvmq.quantize(*tvmq.from_onnx(model), random_inputs(model, 0, 4), guard=None)
    assert_exact(module, random_inputs(model, 1, 2))


@pytest.mark.parametrize("name", TASKS)
def test_tasks_of_the_zoo(zoo, name, monkeypatch):
    monkeypatch.syspath_prepend(str(zoo))
    from tasks import tasks

    task = tasks()[name]
    feeds = [feed for feed, _ in zip(task.calibration(batch=1), range(8), strict=False)]
    shape = {key: array.shape for key, array in feeds[0].items()}
    with tvmq.qconfig(calibrate_mode="minmax"):
        module = tvmq.quantize(*tvmq.from_onnx(str(task.model_path), shape=shape), feeds, guard=None)
    assert_exact(module, feeds[:2])
