"""Models that take multiples of a dynamic dimension only: what is proved, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from tvm import tirx

import tvmq
from tests.support.models.dynamic_models import Nodes
from tvmq.errors import ConfigError, DataError, UnsupportedOpError
from tvmq.graph.analysis.limits import size_limits
from tvmq.graph.multiples import cut_size, find_multiple, unequal_sizes
from tvmq.reference import Reference
from tvmq.runtime.inputs import describe_refusal

ROWS, COLUMNS = tirx.Var("rows", "int64"), tirx.Var("columns", "int64")


def down_and_up(join: str = "Add", **attributes: object) -> onnx.ModelProto:
    """x [batch, 4, rows, columns], halved by two convolutions; the second is doubled again and joined with the first."""
    g = Nodes(0)
    one = g.add("Relu", g.add("Conv", "x", g.weight(4, 4, 3, 3), pads=[1] * 4, strides=[2, 2]))
    two = g.add("Relu", g.add("Conv", one, g.weight(4, 4, 3, 3), pads=[1] * 4, strides=[2, 2]))
    two = g.add("Resize", two, "", g.constant(np.float32([1, 1, 2, 2])), mode="nearest", nearest_mode="floor",
                coordinate_transformation_mode="asymmetric")  # fmt: skip
    y = g.add("Conv", g.add(join, one, two, **attributes), g.weight(2, 8 if join == "Concat" else 4, 1, 1))
    return g.model([helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 4, "rows", "columns"])], y)


def picture(rows: int, columns: int) -> dict[str, np.ndarray]:
    return {"x": np.random.default_rng(0).standard_normal((1, 4, rows, columns)).astype(np.float32)}


@pytest.fixture(scope="module")
def quantized() -> object:
    return tvmq.quantize(*tvmq.from_onnx(down_and_up()), [picture(8, 8)], guard=None)


def test_the_least_multiple_is_found() -> None:
    assert find_multiple((ROWS + 1) // 2, (ROWS + 3) // 4 * 2) == ("rows", 4)
    assert find_multiple(ROWS // 3 * 3, ROWS) == ("rows", 3)
    assert find_multiple(cut_size(ROWS, 4) // 4, (ROWS + 7) // 8 * 2) == ("rows", 8)
    assert find_multiple(ROWS, ROWS + 1) is None and find_multiple(ROWS, COLUMNS) is None


def test_sizes_that_need_to_be_equal() -> None:
    shapes = [[1, 4, ROWS, 5], [4, ROWS + 1, 1]]
    assert [str(a) for a, _ in unequal_sizes(shapes)] == ["rows"]
    assert not list(unequal_sizes(shapes, skipped=2))


@pytest.mark.parametrize(("join", "attributes"), [("Add", {}), ("Concat", {"axis": 1})])
def test_the_importer_cuts_to_multiples(join: str, attributes: dict[str, int]) -> None:
    mod, _ = tvmq.from_onnx(down_and_up(join, **attributes))
    assert {name: limit.multiple for name, limit in size_limits(mod).items()} == {"batch": 1, "rows": 4, "columns": 4}


@pytest.mark.slow
def test_results_are_those_of_the_definition(quantized: object) -> None:
    exe = tvmq.build(quantized)
    for rows, columns in ((4, 8), (12, 4), (20, 28)):
        feed = picture(rows, columns)
        (found,), (expected,) = exe.run(feed), Reference(quantized).run(feed)
        np.testing.assert_array_equal(found, expected)
        (fixed,) = tvmq.build(quantized, sizes={"rows": rows, "columns": columns}).run(feed)
        np.testing.assert_array_equal(found, fixed)


def test_other_sizes_are_refused(quantized: object, tmp_path: Path) -> None:
    exe = tvmq.build(quantized)
    exe.save(tmp_path / "m.tvmq")
    for one in (exe, tvmq.load(tmp_path / "m.tvmq")):
        with pytest.raises(DataError, match="run: input 'x' has 10 for 'rows' .* takes multiples of 4; pad or resize"):
            one.run(picture(10, 8))
    with pytest.raises(ConfigError, match="sizes: 'rows' cannot be 6, the model takes multiples of 4; pad or resize"):
        tvmq.quantize(*tvmq.from_onnx(down_and_up()), [picture(6, 8)])
    with pytest.raises(DataError, match="reference: 'columns' is 6, the model takes multiples of 4"):
        Reference(quantized).run(picture(8, 6))
    for sizes in (6, [6, 8]):
        with pytest.raises(ConfigError, match="sizes: 'rows' cannot be 6, the model takes multiples of 4"):
            tvmq.build(quantized, sizes={"rows": sizes})
    assert describe_refusal(None, 3) == ""


@pytest.mark.parametrize(("stride", "multiple"), [(1, 1), (2, 2)])
def test_same_padding_of_free_sizes(stride: int, multiple: int) -> None:
    g = Nodes(0)
    y = g.add("Conv", "x", g.weight(4, 4, 3, 3), auto_pad="SAME_UPPER", strides=[stride] * 2)
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 4, "rows", "columns"])
    model = g.model([given], y)
    mod, params = tvmq.from_onnx(model)
    assert size_limits(mod)["rows"].multiple == multiple
    pytest.importorskip("onnxruntime")
    import onnxruntime

    feed = picture(6, 8)
    (expected,) = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feed)
    np.testing.assert_allclose(tvmq.build(mod, params=params).run(feed)[0], expected, atol=1e-5)


def test_sizes_that_no_multiple_makes_equal() -> None:
    g = Nodes(0)
    y = g.add("Add", "x", g.add("Conv", "x", g.weight(4, 4, 2, 2)))
    given = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 4, "rows", "columns"])
    with pytest.raises(UnsupportedOpError, match="Add: sizes columns and columns - 1 of its inputs are not proved to be equal"):
        tvmq.from_onnx(g.model([given], y))


def test_same_padding_of_a_size_that_two_dimensions_make() -> None:
    g = Nodes(0)
    joined = g.add("Concat", "x", "z", axis=2)
    y = g.add("Conv", joined, g.weight(4, 4, 3, 3), auto_pad="SAME_UPPER", strides=[2, 2])
    given = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", 4, rows, 8])
        for name, rows in (("x", "rows"), ("z", "others"))
    ]
    with pytest.raises(UnsupportedOpError, match="auto_pad SAME_UPPER needs fixed height and width; fix the input shapes"):
        tvmq.from_onnx(g.model(given, y))
