"""`tvmq.testing`: golden results written once, then compared bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmq
from tests.support.models.saved_files import small
from tvmq.errors import DataError


@pytest.fixture(scope="module")
def exe() -> tvmq.Executable:
    return small()


@pytest.fixture
def golden_file(exe: tvmq.Executable, tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    (info,) = exe.input_info
    samples = [{info.name: rng.standard_normal(info.shape).astype(info.dtype)} for _ in range(2)]
    tvmq.testing.save_golden(exe, tmp_path / "golden.npz", samples)
    return tmp_path / "golden.npz"


def change(path: Path, **arrays: Any) -> None:
    """Write a golden file anew with some arrays replaced; None takes one out."""
    with np.load(path) as file:
        values = {**{name: file[name] for name in file.files}, **arrays}
    np.savez(path, **{name: value for name, value in values.items() if value is not None})


def outputs(path: Path) -> dict[str, np.ndarray]:
    with np.load(path) as file:
        return {name: file[name] for name in file.files if name.startswith("output/")}


def test_equal_results_pass(exe: tvmq.Executable, golden_file: Path, tmp_path: Path) -> None:
    tvmq.testing.assert_same_codes(exe, golden_file)
    exe.save(tmp_path / "m.tvmq")
    tvmq.testing.assert_same_codes(tmp_path / "m.tvmq", golden_file)
    assert len(outputs(golden_file)) == 2 * len(exe.output_info)


def test_single_bit_is_a_difference(exe: tvmq.Executable, golden_file: Path) -> None:
    name, array = list(outputs(golden_file).items())[-1]
    changed = array.copy()
    changed.flat[-1] = np.nextafter(changed.flat[-1], np.inf)
    change(golden_file, **{name: changed})
    with pytest.raises(AssertionError, match=rf"sample 1 .* 1 of {array.size} values differ, the first at \["):
        tvmq.testing.assert_same_codes(exe, golden_file)


def test_other_shape_is_a_difference(exe: tvmq.Executable, golden_file: Path) -> None:
    name, array = next(iter(outputs(golden_file).items()))
    change(golden_file, **{name: array[..., :-1]})
    with pytest.raises(AssertionError, match=r"it is float32\[.*\], golden is float32\["):
        tvmq.testing.assert_same_codes(exe, golden_file)


def test_outputs_of_another_model(exe: tvmq.Executable, golden_file: Path) -> None:
    change(golden_file, **{"output/0/other": np.zeros(1)})
    with pytest.raises(AssertionError, match="those of another one: .*other"):
        tvmq.testing.assert_same_codes(exe, golden_file)


def test_no_samples(exe: tvmq.Executable, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="save_golden: there are no samples; give a few inputs of the model"):
        tvmq.testing.save_golden(exe, tmp_path / "golden.npz", [])
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "arrays, message",
    [({}, "has no samples"), ({"x": np.zeros(1)}, "has an array 'x'"), (None, "cannot be read")],
    ids=["empty", "foreign", "text"],
)
def test_foreign_file(exe: tvmq.Executable, tmp_path: Path, arrays: dict[str, Any] | None, message: str) -> None:
    path = tmp_path / "golden.npz"
    if arrays is None:
        path.write_text("no archive")
    else:
        np.savez(path, **arrays)
    with pytest.raises(DataError, match=f"assert_same_codes: .*{message}.*save_golden writes such files"):
        tvmq.testing.assert_same_codes(exe, path)


def test_boxes_and_their_mean_precision():
    """A picture of three forms of outputs: an array, a list, by a function of one's own."""
    rows = np.zeros((1, 9, 6))
    rows[0, 0] = [10, 20, 18, 36, 0.9, 3]
    labels = [[[3, 10, 20, 18, 34]]]
    ((boxes, scores, classes),) = tvmq.testing.decode_boxes(rows)
    assert (boxes.tolist(), scores.tolist(), classes.tolist()) == ([[10, 20, 18, 36]], [0.9], [3])
    assert tvmq.testing.mean_precision([rows], labels) == 1.0
    assert tvmq.testing.mean_precision([rows], labels, overlap=0.9) == 0.0
    own = tvmq.testing.mean_precision(rows, labels, lambda outputs: [(outputs[0][0, :1, :4], [0.5], [3])])
    assert own == 1.0
