"""Calibration samples from functions of the user."""

import sys

import numpy as np
import pytest

from tvmq.calibration.data.user_function import first_item, is_function, left_out, load_function, spool_samples
from tvmq.calibration.dataset import Input
from tvmq.errors import ConfigError, DataError

X, TWO = [Input("x", (1, 3), "float32")], [Input("x", (1, 3), "float32"), Input("y", (1,), "float32")]


@pytest.fixture
def module(tmp_path, monkeypatch):
    """my_data.py in the current folder; gives its path."""
    text = "import neighbour\nvalue = 3\ndef batches():\n    return neighbour.made()\n"
    (tmp_path / "my_data.py").write_text(text)
    (tmp_path / "neighbour.py").write_text("def made():\n    return [[1.0, 2.0, 3.0]]\n")
    monkeypatch.chdir(tmp_path)
    for name in ("my_data", "neighbour", "broken"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return tmp_path / "my_data.py"


def test_by_module_and_by_file(module):
    assert load_function("my_data:batches", "--data")() == [[1.0, 2.0, 3.0]]
    assert load_function(f"{module}:batches", "--data")() == [[1.0, 2.0, 3.0]]


@pytest.mark.parametrize("text, message", [
    ("my_data:nothing", "has no function 'nothing'; it has batches"), ("my_data:value", "has no function 'value'"),
    ("no_such:batches", "'no_such' cannot be loaded .ModuleNotFoundError"), ("none.py:f", "there is no file 'none.py'"),
    ("broken.py:f", "'broken.py' cannot be loaded .ZeroDivisionError"), ("ended.py:f", "cannot be loaded .SystemExit: 3"),
])  # fmt: skip
def test_what_cannot_be_loaded(module, text, message):
    (module.parent / "broken.py").write_text("1 / 0")
    (module.parent / "ended.py").write_text("raise SystemExit(3)")
    with pytest.raises(ConfigError, match=f"--data: .*{message}"):
        load_function(text, "--data")


def test_a_file_of_that_name_is_no_function(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a:b").write_text("")
    assert not is_function("a:b") and is_function("a:c") and not is_function("C:/x.npz")


def batch(count):
    return np.arange(3.0 * count, dtype=np.float32).reshape(count, 3)


@pytest.mark.parametrize("items, inputs, labels", [
    ([batch(2), batch(2)], X, None),
    ([(batch(2), [4, 5]), (batch(2), [6, 7])], X, [4, 5, 6, 7]),
    ([{"x": batch(2), "labels": [1, 2]}, {"x": batch(2), "labels": [3, 4]}], X, [1, 2, 3, 4]),
    ([({"x": batch(4)}, [1, 2, 3, 4])], X, [1, 2, 3, 4]),
    ([(batch(4), batch(4)[:, 0], [1, 2, 3, 4])], TWO, [1, 2, 3, 4]),
    ([(row, label) for row, label in zip(batch(4), range(4), strict=True)], X, [0, 1, 2, 3]),
], ids=["arrays", "tuples", "dictionaries", "dictionary, label", "two inputs", "samples"])  # fmt: skip
def test_everything_that_may_be_yielded(items, inputs, labels):
    arrays, found = spool_samples(lambda: iter(items), "f", inputs, 4)
    assert arrays["x"].shape == (4, 3) and list(arrays) == [given.name for given in inputs]
    assert (None if found is None else found.tolist()) == labels


def test_an_endless_function_is_read_as_far_as_needed():
    def endless():
        while True:
            yield batch(3)

    arrays, _ = spool_samples(endless, "f", X, 7)
    assert len(arrays["x"]) == 7


def test_functions_that_give_nothing():
    with pytest.raises(DataError, match="'f' yields nothing"):
        spool_samples(lambda: [], "f", X, 4)
    with pytest.raises(DataError, match="'f' yields nothing"):
        first_item(lambda: [], "f")
    with pytest.raises(DataError, match="'f' returned int; let it yield batches"):
        first_item(lambda: 3, "f")


def _raise(error):
    raise error


def _forever():
    return _forever()


def _later(error):
    yield batch(1)
    raise error


@pytest.mark.parametrize("function, words", [
    (lambda: _raise(RuntimeError("\x1b[31mno\nway")), r"RuntimeError: \\x1b\[31mno\\nway at batch 0"),
    (lambda: _later(OSError(5, "disk")), "OSError: .*disk at batch 1"), (_forever, "RecursionError: .* at batch 0"),
    (lambda: _raise(SystemExit(7)), "SystemExit: 7 at batch 0"), (lambda: [batch(1), *[None / 1]], "TypeError: .* at batch 0"),
    (lambda: (1 // n for n in (1, 0)), "ZeroDivisionError: .* at batch 1"), (lambda x: [], "TypeError: .* at batch 0"),
])  # fmt: skip
def test_what_a_function_raises_is_one_sentence(function, words):
    wanted = f"^data: 'f' ended in {words}, line [0-9]+ of '.*functions?.py'; mend it$"
    with pytest.raises(DataError, match=wanted):
        spool_samples(lambda: (item if item is None else batch(1) for item in function()), "f", X, 4)
    if "batch 0" in words:
        with pytest.raises(DataError, match=wanted):
            first_item(function, "f")


def test_interrupts_and_own_errors_pass():
    for error in (KeyboardInterrupt(), MemoryError(), DataError("a sentence")):
        with pytest.raises(type(error)):
            first_item(lambda error=error: _raise(error), "f")


def test_more_than_the_model_takes_is_left_out():
    """Tokenizers give types of tokens that many models do not take."""
    item = {"x": batch(2), "types": np.zeros(2)}
    assert left_out(item, X) == ["types"] and left_out((item, [1, 2]), X) == ["types"] and left_out(batch(2), X) == []
    arrays, labels = spool_samples(lambda: [item], "f", X, 4)
    assert list(arrays) == ["x"] and labels is None
    with pytest.raises(DataError, match="input 'x' is missing"):
        spool_samples(lambda: [{"y": batch(2)}], "f", X, 4)


def test_later_batches_of_other_sizes_are_told_what_to_do():
    with pytest.raises(
        DataError, match="batch 1: input 'x' has shape .*sizes are those of the first batch: pad or cut"
    ):
        spool_samples(lambda: [batch(2), np.zeros((2, 4), np.float32)], "f", X, 4)
