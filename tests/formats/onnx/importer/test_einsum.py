"""Einsum as products of matrices: equal to NumPy's, and in integers where its weight is constant."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from frontend_models import normal_floats
from onnx import helper

import tvmq
from tests.support.models.onnx_models import make_model
from tvmq.errors import UnsupportedOpError
from tvmq.formats.onnx.importer.from_onnx import from_onnx

floats = normal_floats(0)


def model(equation: str, shapes: list[tuple[int, ...]], constants: str = "", dynamic: bool = False) -> tuple:
    """A model of one Einsum with inputs x0, x1, ..., those at the positions `constants` being weights; its values."""
    values = [floats(*shape) for shape in shapes]
    names = [f"x{position}" for position in range(len(values))]
    fed = {name: value for name, value in zip(names, values, strict=True) if name[1:] not in constants}
    inputs = {n: ["b", *v.shape[1:]] if dynamic else v.shape for n, v in fed.items()}
    weights = {n: v for n, v in zip(names, values, strict=True) if n not in fed}
    nodes = [helper.make_node("Einsum", names, ["y"], name="layer", equation=equation)]
    return make_model(nodes, inputs, ["y"], weights, 13), fed, np.einsum(equation.replace(" ", ""), *values, dtype=np.float64)


CASES: list[tuple[str, list[tuple[int, ...]], str]] = [
    ("bgi,gio->bgo", [(4, 3, 5), (3, 5, 6)], "1"),
    ("bgi,gio->bgo", [(4, 3, 5), (3, 5, 6)], ""),
    ("btgi,gio->btgo", [(1, 7, 2, 4), (2, 4, 3)], "1"),
    ("bthi,hio->btho", [(2, 3, 4, 5), (4, 5, 6)], "1"),
    ("bi,io->bo", [(4, 3), (3, 5)], "1"),
    ("oi,bi->bo", [(4, 3), (5, 3)], "0"),
    ("nchw,cd->ndhw", [(2, 3, 4, 5), (3, 6)], "1"),
    ("b n d , d h -> b n h", [(2, 3, 4), (4, 5)], "1"),
    ("ij,j->i", [(3, 4), (4,)], "1"),
    ("...ij,jk->...ik", [(2, 3, 4), (4, 5)], "1"),
    ("...ij,...jk->...ik", [(2, 3, 4), (2, 4, 5)], ""),
    ("...ij,...jk", [(1, 3, 4), (2, 4, 5)], ""),
    ("...ij,...jk->...ik", [(3, 4), (2, 4, 5)], ""),
    ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)], ""),
    ("abij,jk->ik", [(2, 3, 4, 5), (5, 6)], ""),
    ("abij,jk->ik", [(2, 3, 4, 5), (5, 6)], "0"),
    ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)], ""),
    ("ij,jk", [(2, 3), (3, 4)], ""),
    ("ij,ij->ij", [(2, 3), (2, 3)], ""),
    ("ij,ij->", [(2, 3), (2, 3)], ""),
    ("i,i->", [(3,), (3,)], ""),
    ("i,j->ij", [(2,), (3,)], ""),
    ("ab,cd->abcd", [(2, 3), (4, 5)], ""),
    ("ij->ji", [(2, 3)], ""),
    ("ij->i", [(2, 3)], ""),
    ("ij->", [(2, 3)], ""),
    ("ii->i", [(3, 3)], ""),
]


@pytest.mark.thinned(2)
@pytest.mark.parametrize(("equation", "shapes", "constants"), CASES, ids=[f"{c[0]}-{c[2]}" for c in CASES])
def test_einsum_is_that_of_numpy(equation: str, shapes: list[tuple[int, ...]], constants: str) -> None:
    proto, feed, wanted = model(equation, shapes, constants)
    mod, params = from_onnx(proto)
    result = np.asarray(tvmq.build(mod, params=params)(*feed.values()))
    assert result.shape == wanted.shape
    np.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dynamic", [False, True], ids=["fixed", "dynamic"])
@pytest.mark.parametrize("equation", ["btgi,gio->btgo", "bgti,gio->bgto", "btgi,gio->bgto"])
def test_grouped_linear_layers_are_integers(equation: str, dynamic: bool) -> None:
    shape = (8, 2, 5, 16) if equation.startswith("bgt") else (8, 5, 2, 16)
    proto, feed, _ = model(equation, [shape, (2, 16, 12)], "1", dynamic)
    mod, params = from_onnx(proto)
    module = tvmq.quantize(mod, params, feed, guard=None)
    executable = tvmq.build(module)
    assert tvmq.verify(executable, feed).exact
    explanation = tvmq.explain(module)
    assert explanation.int8_share() == 1
    assert explanation.macs() > 0 if dynamic else explanation.macs() == 8 * 5 * 2 * 16 * 12


def test_equations_that_do_not_fit_are_refused() -> None:
    proto, _, _ = model("ij,jk->ik", [(2, 3), (3, 4)])
    attribute = proto.graph.node[0].attribute[0]
    for equation, words in (("ij->ij", "has 1 operands, but it has 2"), ("ijk,jk->ik", "'ijk,jk->ik' does not fit"), ("ij,jk->iz", "unknown output")):
        attribute.s = equation.encode()
        with pytest.raises(UnsupportedOpError, match="layer 'layer': Einsum: its equation .*" + words):
            from_onnx(onnx.load_model_from_string(proto.SerializeToString()))
