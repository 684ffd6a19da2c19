"""Calibration data in every form that is accepted, and the error for every form that is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tvmq.calibration.dataset import Dataset, Input
from tvmq.errors import DataError, OutputError

X = Input("x", (2, 3), "float32")
LABELS = Input("labels", (2,), "int64")
SAMPLES = np.arange(18, dtype=np.float32).reshape(6, 3)


class Reader:
    """Like onnxruntime's CalibrationDataReader."""

    def __init__(self, feeds: list[Any]) -> None:
        self._feeds = iter(feeds)

    def get_next(self) -> Any:
        return next(self._feeds, None)


class Loader:
    """Like torch's DataLoader: may be iterated often, gives lists of tensors, the last one the labels."""

    def __iter__(self) -> Iterator[Any]:
        for first in (0, 4):
            yield [Tensor(SAMPLES[first : first + 4]), Tensor(np.int64([1, 2]))]


class Tensor:
    """Like torch's tensor on some device."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> Tensor:
        return self

    def numpy(self) -> np.ndarray:
        return self._array


class Samples:
    """Like torch's Dataset: single samples by number, without a batch axis."""

    def __getitem__(self, index: int) -> tuple[np.ndarray, int]:
        if index >= len(SAMPLES):
            raise IndexError
        return SAMPLES[index], index


def generator() -> Iterator[np.ndarray]:
    yield from SAMPLES


FORMS: dict[str, Callable[[], Any]] = {
    "array": lambda: SAMPLES,
    "list of arrays": lambda: [SAMPLES[:1], SAMPLES[1:6]],
    "dictionary": lambda: {"x": SAMPLES},
    "dictionaries": lambda: [{"x": SAMPLES[:4]}, {"x": SAMPLES[4:]}],
    "tuples": lambda: [(SAMPLES[:3],), (SAMPLES[3:],)],
    "tuples with labels": lambda: [(SAMPLES[:3], np.zeros(3)), (SAMPLES[3:], np.zeros(3))],
    "batches of another size": lambda: [SAMPLES[:5], SAMPLES[5:]],
    "single samples": lambda: list(SAMPLES),
    "integers": lambda: [SAMPLES.astype(np.int32)],
    "double precision": lambda: SAMPLES.astype(np.float64),
    "Fortran order": lambda: np.asfortranarray(SAMPLES),
    "generator": generator,
    "get_next": lambda: Reader([{"x": SAMPLES[:1]}, {"x": SAMPLES[1:]}]),
    "loader": Loader,
    "samples": Samples,
}


def read(data: Any, *inputs: Input) -> tuple[list[dict[str, np.ndarray]], list[int]]:
    """Feeds and counts."""
    found = list(Dataset(data, inputs or [X]))
    return [feed for feed, _ in found], [count for _, count in found]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_batches(form: str) -> None:
    dataset = Dataset(FORMS[form](), [X])
    for _ in range(2):  # read as often as needed
        feeds, counts = zip(*dataset, strict=True)
        assert counts == (2, 2, 2)
        for feed in feeds:
            assert set(feed) == {"x"} and feed["x"].dtype == np.float32 and feed["x"].flags.c_contiguous
        np.testing.assert_array_equal(np.concatenate([feed["x"] for feed in feeds]), SAMPLES)
    assert len(dataset) == 6
    np.testing.assert_array_equal(dataset.first()["x"].ravel()[:3], SAMPLES[0])


def test_a_torch_loader() -> None:
    torch = pytest.importorskip("torch")
    data = torch.utils.data.TensorDataset(torch.from_numpy(SAMPLES), torch.arange(6))
    feeds, counts = read(torch.utils.data.DataLoader(data, batch_size=4))
    assert counts == [2, 2, 2]
    np.testing.assert_array_equal(np.concatenate([feed["x"] for feed in feeds]), SAMPLES)


def torch_forms(torch: Any) -> dict[str, Any]:
    """SAMPLES as users of torch have them."""
    samples = torch.from_numpy(SAMPLES)
    halves, labels = (samples[:4], samples[4:]), torch.zeros(4)
    return {
        "tensor": samples,
        "gradients": [samples.clone().requires_grad_()],
        "parameter": torch.nn.Parameter(samples),
        "bfloat16": samples.bfloat16(),
        "half": [half.half() for half in halves],
        "integers": [samples.int()],
        "sparse": [samples.to_sparse()],
        "turned": samples.T.contiguous().T,
        "dictionary": {"x": samples},
        "dictionaries with labels": [({"x": half}, labels) for half in halves],
        "nested tuples": [((half,), labels) for half in halves],
        "generator": (half for half in halves),
        "single samples": list(samples),
        "dataset": torch.utils.data.TensorDataset(samples, torch.arange(6)),
        "loader": torch.utils.data.DataLoader([{"x": sample} for sample in samples], batch_size=4),
    }  # fmt: skip


def test_every_form_of_torch_gives_the_same_batches() -> None:
    torch = pytest.importorskip("torch")
    for form, data in torch_forms(torch).items():
        feeds, counts = read(data)
        assert counts == [2, 2, 2], form
        assert {feed["x"].dtype.name for feed in feeds} == {"float32"}, form
        np.testing.assert_array_equal(np.concatenate([feed["x"] for feed in feeds]), SAMPLES, err_msg=form)


def test_nested_inputs_are_taken_in_order() -> None:
    feeds, _ = read([((SAMPLES[:2], np.int64([1, 2])), "label")], X, LABELS)
    np.testing.assert_array_equal(feeds[0]["labels"], [1, 2])


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
@pytest.mark.parametrize("kind", [str, Path])
def test_files(tmp_path: Path, suffix: str, kind: type) -> None:
    path = tmp_path / f"data{suffix}"
    np.save(path, SAMPLES) if suffix == ".npy" else np.savez(path, x=SAMPLES)
    feeds, counts = read(kind(path))
    assert counts == [2, 2, 2]
    np.testing.assert_array_equal(np.concatenate([feed["x"] for feed in feeds]), SAMPLES)


@pytest.mark.parametrize("form", ["generator", "get_next"])
def test_what_can_be_read_once_is_spooled(form: str) -> None:
    notices: list[str] = []
    dataset = Dataset(FORMS[form](), [X], notices.append)
    count = 6 if form == "generator" else 2
    assert notices == [f"calibration data can be read only once: {count} batches were copied to a temporary folder"]
    folder = Path(dataset._spool.name)
    assert folder.is_dir() and [c for _, c in dataset] == [2, 2, 2]
    del dataset
    assert not folder.exists()


def test_what_can_be_read_again_is_not_copied() -> None:
    notices: list[str] = []
    assert Dataset(Loader(), [X], notices.append)._spool is None and notices == []


def test_an_input_may_be_named_file() -> None:
    """numpy.savez has an argument of that name."""
    feeds, _ = read((SAMPLES for _ in range(1)), Input("file", (6, 3), "float32"))
    np.testing.assert_array_equal(feeds[0]["file"], SAMPLES)


def test_left_over_samples_are_filled_up() -> None:
    feeds, counts = read(SAMPLES[:3])
    assert counts == [2, 1]
    np.testing.assert_array_equal(feeds[1]["x"], SAMPLES[[2, 2]])


def test_fewer_samples_than_a_batch() -> None:
    feeds, counts = read(SAMPLES[:1], Input("x", (4, 3), "float32"))
    assert counts == [1]
    np.testing.assert_array_equal(feeds[0]["x"], SAMPLES[[0, 0, 0, 0]])


def test_a_dynamic_batch_is_one() -> None:
    feeds, counts = read(SAMPLES, Input("x", (None, 3), "float32"))
    assert counts == [1] * 6 and feeds[0]["x"].shape == (1, 3)


def test_dynamic_dimensions_take_any_size() -> None:
    feeds, _ = read([np.zeros((1, 5), np.float32), np.zeros((1, 7), np.float32)], Input("x", (1, None), "float32"))
    assert [feed["x"].shape for feed in feeds] == [(1, 5), (1, 7)]


def test_several_inputs_stay_together() -> None:
    """Samples have the order of the model's inputs, for any order of the dictionary."""
    labels = np.arange(5)
    expected = [{"x": SAMPLES[i : i + 2], "labels": labels[i : i + 2]} for i in (0, 2)]
    for data in ([(SAMPLES[:1], labels[:1]), (SAMPLES[1:5], labels[1:])], {"labels": labels, "x": SAMPLES[:5]}):
        feeds, counts = read(data, X, LABELS)
        assert counts == [2, 2, 1]
        for feed, right in zip(feeds, expected, strict=False):
            assert list(feed) == ["x", "labels"]
            for name in feed:
                np.testing.assert_array_equal(feed[name], right[name])
        assert feeds[0]["labels"].dtype == np.int64


def test_inputs_of_different_first_sizes_are_not_cut() -> None:
    table = Input("table", (5, 3), "float32")
    feeds, counts = read([{"x": SAMPLES[:2], "table": SAMPLES[:5]}] * 2, X, table)
    assert counts == [2, 2] and feeds[1]["table"].shape == (5, 3)
    with pytest.raises(DataError, match="batch 0: input 'x' begins with 3, the model takes 2; its inputs differ"):
        read([{"x": SAMPLES[:3], "table": SAMPLES[:5]}], X, table)


def test_no_samples() -> None:
    assert read([]) == ([], []) and read(SAMPLES[:0]) == ([], [])
    with pytest.raises(DataError, match="there are no samples; give at least one, better 100 to 500"):
        Dataset([], [X]).first()


NAN = np.where(SAMPLES[:2] == 4, np.nan, SAMPLES[:2])
BAD: dict[str, tuple[Any, Input, str]] = {
    "number": (3, X, "cannot read int; give an iterable of arrays, tuples or dictionaries, or a path to .npz or .npy"),
    "none": (None, X, "cannot read NoneType"),
    "missing input": ([{"y": SAMPLES}], X, r"batch 0: input 'x' is missing; it has \['y'\], the model takes \['x'\]"),
    "unknown input": ([{"x": SAMPLES, "y": 1}], X, r"batch 0: the model has no input 'y'; it takes \['x'\]"),
    "shape": ([SAMPLES, SAMPLES[:, :2]], X, r"batch 1: input 'x' has shape \(6, 2\), the model takes batchx3"),
    "rank": ([SAMPLES[None]], X, r"batch 0: input 'x' has shape \(1, 6, 3\), the model takes batchx3"),
    "dynamic shape": ([SAMPLES[:, :2]], Input("x", (None, 3, None), "float32"), r"\(6, 2\), the model takes batchx3x\?"),
    "text": ([np.array([["a", "b", "c"]])], X, "batch 0: input 'x' is <U1, the model takes float32"),
    "complex": ([SAMPLES.astype(np.complex64)], X, "input 'x' is complex64, the model takes float32"),
    "objects": ([np.array([[None, 1, 2]])], X, "input 'x' is object, the model takes float32"),
    "float for integer": ([np.float32([1, 2])], LABELS, "input 'labels' is float32, the model takes int64"),
    "integer too large": ([np.int64([2**40, 1])], Input("x", (2,), "int32"), "holds 1..1099511627776, int32 ends at"),
    "integer too low": ([np.int64([-1, 1])], Input("x", (2,), "uint8"), "holds -1..1, uint8 ends at 0..255"),
    "nan": ([NAN], X, r"input 'x' holds 1 NaN or infinite values, first at \[1, 1\]; repair the preprocessing"),
    "infinity": ([SAMPLES, np.full_like(SAMPLES, np.inf)], X, "batch 1: input 'x' holds 18 NaN or infinite values"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_data_are_refused(case: str) -> None:
    data, given, message = BAD[case]
    with pytest.raises(DataError, match=f"^calibration data.*{message}"):
        read(data, given)


def test_a_full_disk_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Data that can be read only once has to be copied to a disk, which may be full."""

    def full(*_arrays: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(OutputError, match="batch 0 could not be copied to '.*' .No space left on device.; make room"):
        read(generator())


def test_inputs_of_different_numbers_of_samples() -> None:
    message = r"batch 0: inputs differ in their number of samples: \{'x': 6, 'labels': 5\}"
    with pytest.raises(DataError, match=message):
        read({"x": SAMPLES, "labels": np.arange(5)}, X, LABELS)


def test_a_bad_batch_of_a_generator_is_found_at_once() -> None:
    """Before anything is calibrated; and the temporary folder is gone."""
    with pytest.raises(DataError, match="batch 1: input 'x' has shape"):
        Dataset((SAMPLES[:, :size] for size in (3, 2)), [X])


def test_models_without_batches() -> None:
    with pytest.raises(DataError, match="the model has no inputs; there is nothing to run it on"):
        Dataset(SAMPLES, [])


SCALE = Input("scale", (), "float32")


def test_single_numbers_belong_to_the_samples_they_come_with() -> None:
    """Batches of four: what is left of an item is filled up, not joined with the next one."""
    given = Input("x", (4, 3), "float32")
    for order in ([given, SCALE], [SCALE, given]):
        batches = list(Dataset([{"x": SAMPLES, "scale": 0.5}, {"x": SAMPLES[:1], "scale": 2}], order))
        assert [count for _, count in batches] == [4, 2, 1]
        assert [feed["scale"].item() for feed, _ in batches] == [0.5, 0.5, 2.0]
        assert all(feed["scale"].shape == () and feed["scale"].dtype == np.float32 for feed, _ in batches)
        np.testing.assert_array_equal(batches[1][0]["x"], SAMPLES[[4, 5, 5, 5]])


def test_nothing_but_single_numbers() -> None:
    batches = list(Dataset((np.float32(value) for value in range(3)), [SCALE]))
    assert [(feed["scale"].item(), count) for feed, count in batches] == [(0.0, 1), (1.0, 1), (2.0, 1)]


def test_bad_files(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="calibration data: no file '.*missing.npz'"):
        read(str(tmp_path / "missing.npz"))
    for content in (b"", b"PK\x03\x04 torn", b"some text"):
        path = tmp_path / "bad.npz"
        path.write_bytes(content)
        with pytest.raises(
            DataError, match=r"'.*bad.npz' is no readable .npz or .npy file .*; save it with numpy.savez"
        ):
            read(path)
    with pytest.raises(DataError, match="is no readable .npz or .npy file"):
        read(tmp_path)


def test_nothing_is_unpickled(tmp_path: Path) -> None:
    path = tmp_path / "objects.npy"
    np.save(path, np.array([{"a": 1}]), allow_pickle=True)
    with pytest.raises(DataError, match="is no readable .npz or .npy file .*allow_pickle"):
        read(path)
