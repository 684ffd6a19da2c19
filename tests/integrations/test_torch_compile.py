"""`torch.compile(model, backend="tvmq")`: float beside eager torch, int8 beside `tvmq.quantize` to the bit."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from configparser import ConfigParser
from typing import Any

import pytest

import tvmq
from tests.support.project import ROOT
from tvmq.base.by_name import load_object
from tvmq.errors import ConfigError

torch = pytest.importorskip("torch", reason='torch is an extra: pip install "tvmq[torch]"')

from tvmq.integrations.torch_compile import compile_graph  # noqa: E402  (behind torch)


class Net(torch.nn.Module):  # type: ignore[misc, name-defined]
    """A convolution with statistics and a classifier, two inputs, results in a dictionary."""

    def __init__(self, *, prints: bool = False) -> None:
        super().__init__()
        self.conv, self.norm, self.head = torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Linear(4, 2)
        self.prints = prints

    def forward(self, x: Any, scale: Any) -> Any:
        y = self.norm(self.conv(x * scale)).mean((2, 3))
        if self.prints:
            print("a graph break")
        return {"scores": self.head(y), "nothing": None, "features": y}


@pytest.fixture(autouse=True)
def _fresh_dynamo() -> Iterator[None]:
    torch._dynamo.reset()
    torch.manual_seed(0)
    yield
    torch._dynamo.reset()


def batch(size: int = 1) -> dict[str, Any]:
    return {"x": torch.randn(size, 3, 8, 8), "scale": torch.tensor(2.0)}


def test_entry_point_names_the_backend() -> None:
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg")
    name, _, place = setup["options.entry_points"]["torch_dynamo_backends"].strip().partition(" = ")
    assert name == "tvmq" and load_object(place) is compile_graph


@pytest.mark.slow
@torch.no_grad()
def test_float_results_for_several_sizes() -> None:
    model = Net().eval()
    compiled = torch.compile(model, backend=compile_graph)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        for size in (1, 2, 3, 1):
            feed = batch(size)
            results, expected = compiled(**feed), model(**feed)
            assert results["nothing"] is None
            for name in ("scores", "features"):
                torch.testing.assert_close(results[name], expected[name], rtol=1e-5, atol=1e-6)


@torch.no_grad()
def test_int8_results_are_those_of_quantize() -> None:
    model, batches = Net().eval(), [batch() for _ in range(8)]
    compiled = torch.compile(model, backend=compile_graph, options={"data": batches, "guard": None})
    results = compiled(**batches[0])
    mod, params = tvmq.from_torch(model, batches[0])
    exe = tvmq.build(tvmq.quantize(mod, params, batches, guard=None))
    scores, features = exe.run({name: value.numpy() for name, value in batches[0].items()})
    assert (results["scores"].numpy() == scores).all() and (results["features"].numpy() == features).all()
    assert (results["scores"] != model(**batches[0])["scores"]).any()


@torch.no_grad()
def test_graph_break_is_said_in_words() -> None:
    compiled = torch.compile(Net(prints=True).eval(), backend=compile_graph)
    with pytest.warns(UserWarning, match=r"torch cut the model into several graphs \(.*print.*\), and values travel"):
        compiled(**batch())


@torch.no_grad()
def test_break_of_one_model_is_not_said_of_the_next() -> None:
    with pytest.warns(UserWarning, match="torch cut the model"):
        torch.compile(Net(prints=True).eval(), backend=compile_graph)(**batch())
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        torch.compile(Net().eval(), backend=compile_graph)(**batch())


@torch.no_grad()
def test_data_do_not_fit_a_part_of_a_model() -> None:
    compiled = torch.compile(Net(prints=True).eval(), backend=compile_graph, options={"data": [batch()], "guard": None})
    with pytest.raises(Exception, match="Calibration data are inputs of a whole model: remove the break"):
        compiled(**batch())


@torch.no_grad()
def test_eager_torch_computes_what_is_refused() -> None:
    def model(x: Any) -> Any:
        return torch.linalg.svdvals(x)

    compiled, x = torch.compile(model, backend=compile_graph), torch.randn(3, 3)
    with pytest.warns(UserWarning, match="eager torch computes this graph, since from_torch"):
        assert (compiled(x) == model(x)).all()


@pytest.mark.parametrize(
    "options, message",
    [
        ({"precision": 8}, "there is no option 'precision'; the options are data, config, target, guard, num_threads"),
        ({"data": []}, "data has no batch"),
        ({"data": [torch.randn(1, 3, 8, 8)]}, "the model has 2 inputs; give batches of data as dictionaries with x, s"),
        ({"data": [{"x": torch.randn(1, 3, 8, 8)}]}, "a batch of data has no 'scale'; give x, scale"),
    ],
    ids=["unknown", "empty", "positional", "incomplete"],
)
@torch.no_grad()
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    compiled = torch.compile(Net().eval(), backend=compile_graph, options=options)
    with pytest.raises(Exception, match=message) as caught:
        compiled(**batch())
    assert isinstance(caught.value.__cause__ or caught.value, ConfigError) or "ConfigError" in str(caught.value)
