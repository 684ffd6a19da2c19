"""Finetuning without labels: the model that is kept, stopping, reproducibility, refusals."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')

import tvmq  # noqa: E402
from tests.training.small_network import QUICKLY, SHAPE, samples, small_network  # noqa: E402
from tvmq import training  # noqa: E402
from tvmq.errors import CalibrationError, ConfigError, DataError  # noqa: E402
from tvmq.graph.ledger import get_ledger  # noqa: E402
from tvmq.training import Distill, course  # noqa: E402
from tvmq.training.check import first_difference  # noqa: E402
from tvmq.training.course import _is_above  # noqa: E402
from tvmq.training.samples import TrainingSamples  # noqa: E402

SAMPLES = 54  # 45 are learned from, 9 judge


@pytest.fixture(scope="module")
def pictures() -> np.ndarray:
    return samples(SAMPLES)


@pytest.fixture(scope="module")
def model() -> Any:
    return tvmq.from_onnx(small_network())


@pytest.fixture(scope="module")
def prepared(model: Any, pictures: np.ndarray) -> Any:
    with tvmq.qconfig(**QUICKLY):
        return training.prepare(*model, [pictures])


@pytest.fixture
def net(prepared: Any) -> Any:
    """The network as it begins."""
    start = prepared.kept_state()
    yield prepared
    prepared.load_state_dict(start)


def state(net: Any) -> dict[str, np.ndarray]:
    return {name: value.numpy() for name, value in net.kept_state().items()}


def assert_equal(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> None:
    for name in a:
        np.testing.assert_array_equal(a[name], b[name], err_msg=name)


@pytest.mark.slow
def test_quantize_with_finetuning_is_the_network_converted(model: Any, net: Any, pictures: np.ndarray) -> None:
    with tvmq.qconfig(**QUICKLY):
        module = tvmq.quantize(*model, [pictures], finetune=Distill(steps=12, batch=16), guard=None)
    learned = training.finetune(net, [pictures], Distill(steps=12, batch=16))
    assert learned.steps == 12 and learned.after < learned.before and not learned.interrupted
    assert get_ledger(module).notes[-1] == learned.note() and "fell from" in learned.note()
    x = samples(20, seed=1)
    ours = net(torch.from_numpy(x)).detach().numpy()
    np.testing.assert_array_equal(tvmq.build(module).run({"x": x})[0], ours)
    assert first_difference(net, module, [torch.from_numpy(x)]) is None


@pytest.mark.slow
def test_a_seed_repeats_itself_and_another_differs(net: Any, pictures: np.ndarray) -> None:
    states, start = [], net.kept_state()
    for seed in (1, 1, 2):
        net.load_state_dict(start)
        training.finetune(net, [pictures], Distill(steps=4, batch=16, seed=seed))
        states.append(state(net))
    assert_equal(states[0], states[1])
    assert any((states[0][name] != states[2][name]).any() for name in states[0])


@pytest.mark.slow
def test_the_start_stays_where_training_makes_it_worse(net: Any, pictures: np.ndarray) -> None:
    before = state(net)
    learned = training.finetune(net, [pictures], Distill(steps=3, batch=16, learning_rate=50.0))
    assert learned.after == learned.before
    assert_equal(state(net), before)
    assert "did not fall below" in learned.note() and "so the start stays" in learned.note()


@pytest.mark.slow
def test_the_samples_that_judge_choose_the_rate(net: Any, pictures: np.ndarray, monkeypatch: Any) -> None:
    monkeypatch.setattr(course, "RATES", (50.0, 0.02, 30.0))
    monkeypatch.setattr(course, "FEWEST", 2)
    learned = training.finetune(net, [pictures], Distill(steps=10, batch=16))
    assert learned.steps == 10 and learned.learning_rate == 0.02 and learned.after < learned.before
    few = training.finetune(net, [pictures], Distill(steps=4, batch=16))
    assert few.learning_rate == course.USUAL
    given = training.finetune(net, [pictures], Distill(steps=10, batch=16, learning_rate=0.005))
    assert given.learning_rate == 0.005


def test_ctrl_c_keeps_the_best_so_far(net: Any, pictures: np.ndarray) -> None:
    kept: list[dict[str, np.ndarray]] = []
    handler = signal.getsignal(signal.SIGINT)

    def watch(progress: training.FinetuneProgress) -> None:
        if progress.step == 6:
            signal.raise_signal(signal.SIGINT)

    options = Distill(steps=40, batch=16, watch=watch, keep=lambda net: kept.append(state(net)))
    learned = training.finetune(net, [pictures], options)
    assert learned.interrupted and learned.steps == 6
    assert len(kept) > 1
    assert_equal(state(net), kept[-1])
    assert signal.getsignal(signal.SIGINT) is handler


def test_an_interrupt_inside_of_a_step_keeps_the_best_so_far(net: Any, pictures: np.ndarray) -> None:
    def watch(progress: training.FinetuneProgress) -> None:
        raise KeyboardInterrupt

    before = state(net)
    learned = training.finetune(net, [pictures], Distill(steps=40, batch=16, watch=watch))
    assert learned.interrupted and learned.steps == 1
    assert_equal(state(net), before)


@pytest.mark.slow
def test_seconds_end_it(net: Any, pictures: np.ndarray) -> None:
    shares: list[float] = []
    options = Distill(seconds=0.5, batch=16, watch=lambda progress: shares.append(progress.done))
    learned = training.finetune(net, [pictures], options)
    assert 1 <= learned.steps == len(shares) and shares[-1] <= 1.0
    assert learned.seconds >= 0.5


@pytest.mark.slow
def test_a_fixed_batch_is_learned_in_parts(pictures: np.ndarray) -> None:
    """A model for two samples adds the gradients of eight of its batches to a step of sixteen."""
    fixed = tvmq.from_onnx(small_network(), shape={"x": (2, *SHAPE)})
    with tvmq.qconfig(**QUICKLY):
        net = training.prepare(*fixed, [pictures])
    learned = training.finetune(net, [pictures], Distill(steps=20, batch=16))
    assert learned.after < learned.before


def test_samples_are_split_drawn_and_joined() -> None:
    parts = [{"x": np.full((1, 2), i, np.float32)} for i in range(54)]
    learned, judges = TrainingSamples(parts, joins=True).split()
    assert [int(part["x"][0, 0]) for part in judges.parts] == [5, 11, 17, 23, 29, 35, 41, 47, 53]
    assert len(learned) == 45
    drawn = learned.batches(20, np.random.default_rng(0))
    first = np.concatenate([next(drawn)[0]["x"][:, 0] for _ in range(9)])
    assert all((first[i * 45 : (i + 1) * 45].astype(int) % 6 != 5).all() for i in range(4))
    assert sorted(first[:45]) == sorted(first[45:90]) and len(set(first[:45])) == 45
    assert [len(feed["x"]) for feed in judges.in_order(4)] == [4, 4]
    few, same = TrainingSamples(parts[:20], joins=True).split()
    assert few is same and [len(feed["x"]) for feed in few.in_order(32)] == [20]
    apart = TrainingSamples(parts[:8], joins=False)
    assert len(apart.feeds([3, 1])) == 2 and len(apart.in_order(32)) == 8


def test_a_later_state_stays_where_judges_do_not_tell() -> None:
    best = np.array([1.0, 2.0, 3.0, 4.0])
    assert not _is_above(best, best)
    assert not _is_above(best + np.array([0.3, -0.2, 0.2, -0.1]), best)
    assert _is_above(best + np.array([0.3, 0.2, 0.2, 0.1]), best)


@pytest.mark.parametrize(("options", "sentence"), [
    ({"steps": 0}, "steps must be an integer of at least 1. Got 0"),
    ({"steps": 2.5}, "steps must be an integer of at least 1. Got 2.5"),
    ({"batch": 0}, "batch must be an integer of at least 1. Got 0"),
    ({"seconds": 0.0}, "seconds must be above 0. Got 0.0"),
    ({"learning_rate": -1.0}, "learning_rate must be above 0. Got -1.0"),
    ({"layers": -0.5}, "layers must be at least 0. Got -0.5"),
])  # fmt: skip
def test_numbers_that_make_no_sense(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        Distill(**options)


def test_what_does_not_go_together(model: Any, pictures: np.ndarray) -> None:
    few, short = [pictures[:4]], Distill(steps=1)
    calibration = tvmq.CalibrationResult({})
    for error, sentence, options, data in (
        (ConfigError, "finetune must be a tvmq.training.Distill. Got dict", {"finetune": {"steps": 3}}, few),
        (ConfigError, "leave calibration out", {"finetune": short, "calibration": calibration}, few),
        (CalibrationError, "finetune= learns from data and there are none", {"finetune": short}, None),
    ):
        with pytest.raises(error, match=sentence):
            tvmq.quantize(*model, data, **options)
    for sentence, config in (
        ("leave do_simulation out", {"do_simulation": True}),
        ("activations 'dynamic' have none", {"activations": "dynamic"}),
    ):
        with tvmq.qconfig(**config), pytest.raises(ConfigError, match=sentence):
            tvmq.quantize(*model, few, finetune=short)


@pytest.mark.slow
def test_a_model_with_scales_of_its_own_is_refused(model: Any, pictures: np.ndarray, tmp_path: Path) -> None:
    path = tmp_path / "quantized.onnx"
    tvmq.to_onnx(tvmq.quantize(*model, [pictures[:4]], guard=None), path)
    with pytest.raises(ConfigError, match="begins with a float model, this one brings scales of its own"):
        tvmq.quantize(*tvmq.from_onnx(path), [pictures[:4]], finetune=Distill(steps=1))


def test_no_samples(net: Any) -> None:
    with pytest.raises(DataError, match="finetune: there are no samples"):
        training.finetune(net, [])


def test_without_torch_one_sentence() -> None:
    code = "import sys; sys.modules['torch'] = None\nimport tvmq\ntry: tvmq.training\nexcept ImportError as e: print(e)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == 'tvmq.training needs torch; install it with pip install "tvmq[torch]"\n', done.stderr
