"""`verify(backend=)`, `compare` with a chip, `compare_dumps`: the first layer that differs, and all causes."""

import json
from functools import partial

import numpy as np
import pytest

import tvmq
from tvmq.chips.comparison.divergence import layer_names
from tvmq.chips.comparison.dumps import Dumps, key
from tvmq.errors import DataError, ModelError
from tvmq.graph.view import View
from tvmq.numerics.requantize_rule import RequantizeRule

FLOOR = tvmq.Backend("floor", requantize_rule=RequantizeRule(roundings=("floor",)))
NARROW = tvmq.Backend("narrow", accumulator_bits=14, overflow="saturate")


@pytest.fixture(scope="module")
def dumped(digits):
    """{variable: its value for two pictures, one after the other}, and the names of layers."""
    names = layer_names(View(digits.quantized))
    values = {name: [] for name in names}
    for picture in digits.example.test[:2]:
        seen = {}
        tvmq.reference.run(digits.quantized, {"image": picture[None]}, watch=seen.__setitem__)
        for name in names:
            values[name].append(seen[name])
    return {name: np.concatenate(arrays) for name, arrays in values.items()}, names


def test_equal(digits):
    found = tvmq.verify(digits.exe, digits.pictures(2), backend="cpu")
    assert found.exact and found.first is None and found.values == 20
    assert str(found).startswith("  accumulators of 32 bits: proved, no sum of ")
    assert "agree bit for bit" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["exact"]


def test_a_rule_differs_from_its_first_layer_on(digits):
    found = tvmq.verify(digits.exe, digits.pictures(2), backend=FLOOR)
    names = list(layer_names(View(digits.quantized)).values())
    assert not found.exact and found.first.names[0] == "/stem/conv"
    assert [layer.names for layer in found.layers] == names
    requantized = {layer.operator for layer in found.layers if layer.own}
    assert "conv2d" in requantized and not requantized & {"max_pool", "table", "concat"}
    pooled = next(layer for layer in found.layers if layer.operator == "max_pool")
    assert pooled.differing and not pooled.own
    assert all(layer.largest == 1 for layer in found.layers[1:2])
    assert "equal: no (" in str(found) and "by themselves differ: /stem" in str(found)


def test_sums_that_can_leave_their_accumulators_are_named(digits):
    found = tvmq.compare(digits.quantized, tvmq.emulate(digits.quantized, NARROW), digits.pictures(1))
    loose = [layer for layer in found.layers if not layer.proved]
    assert loose and all(layer.reach > 2**13 for layer in loose)
    assert any(layer.overflows for layer in loose)
    assert f"the sums of {len(loose)} of" in found.sentences[0] and str(loose[0].reach) in found.sentences[0]


@pytest.mark.slow
def test_dumps_equal(digits, dumped, tmp_path):
    values, names = dumped
    np.savez(tmp_path / "all.npz", **{names[name][-1]: array for name, array in values.items()})
    found = tvmq.compare_dumps(digits.exe, tmp_path / "all.npz", digits.pictures(2))
    assert found.exact and len(found.layers) == len(names)
    assert f"{len(names)} layers have a dump, 0 have none" in str(found)


@pytest.mark.slow
def test_the_layer_that_computes_otherwise_is_the_only_one(digits, dumped, tmp_path):
    """A wrong code of a layer in the middle, in a picture that is NHWC; later layers are computed from it."""
    values, names = dumped
    changed = next(name for name in names if names[name][0] == "/block2/wide/conv")
    at = list(names).index(changed)
    device = {name: array.copy() for name, array in values.items()}
    device[changed][1, 3, 2, 1] ^= 1
    for index, picture in enumerate(digits.example.test[:2]):
        chip = tvmq.emulate(digits.quantized, "cpu")
        given = {changed: device[changed][index : index + 1]}
        seen = {}
        chip.run({"image": picture[None]}, watch=seen.__setitem__, beside=partial(_replaced, given))
        for name in list(names)[at + 1 :]:
            device[name][index : index + 1] = seen[name]
    assert any((device[name] != values[name]).any() for name in list(names)[at + 1 :])
    for name, array in device.items():
        array = np.moveaxis(array, 1, -1) if array.ndim == 4 else array
        np.save(tmp_path / f"{key(names[name][-1])}.npy", array)
    found = tvmq.compare_dumps(digits.quantized, tmp_path, digits.pictures(2))
    assert [(layer.names, layer.differing) for layer in found.layers if layer.differing] == [(names[changed], 1)]
    assert found.first.names == names[changed] and not found.exact


def _replaced(given, name, *_rest):
    return given.get(name)


def test_dumps_of_some_layers_beside_a_described_chip(digits, tmp_path):
    chip, seen = tvmq.emulate(digits.quantized, FLOOR), {}
    chip.run({"image": digits.example.test[:1]}, watch=seen.__setitem__)
    names = layer_names(View(digits.quantized))
    kept = list(names)[3:6]
    (tmp_path / "block").mkdir()
    for name in kept:
        np.save(tmp_path / "block" / f"{name}.npy", seen[name].astype(np.int32))
    for backend, exact in ((FLOOR, True), (None, False)):
        with pytest.raises(DataError, match="none of 3 dumps"):
            tvmq.compare_dumps(digits.quantized, tmp_path, digits.pictures(1), backend=backend)
        found = tvmq.compare_dumps(digits.quantized, tmp_path / "block", digits.pictures(1), backend=backend)
        assert found.exact is exact and len(found.layers) == 3


@pytest.mark.parametrize("array, message", [
    (np.zeros((2, 3), np.int8), "its shape is"), (np.zeros((2, 16, 16, 16), np.float32), "it holds float32"),
    (np.full((2, 16, 16, 16), 999, np.int16), "it holds 999..999"),
])  # fmt: skip
def test_dumps_that_do_not_fit_are_refused(digits, tmp_path, array, message):
    shape = next(iter(layer_names(View(digits.quantized))))
    np.save(tmp_path / "stem_act.npy", array)
    assert shape
    with pytest.raises(DataError, match=message):
        tvmq.compare_dumps(digits.quantized, tmp_path, digits.pictures(2))


def test_refused(digits, tmp_path):
    with pytest.raises(DataError, match="there are no dumps at"):
        Dumps(tmp_path)
    (tmp_path / "x.npz").write_bytes(b"no archive")
    with pytest.raises(DataError, match="x.npz' cannot be read .*; give .npz or .npy files of plain arrays"):
        Dumps(tmp_path / "x.npz")
    np.save(tmp_path / "a_b.npy", np.zeros(1))
    np.save(tmp_path / "a.b.npy", np.zeros(1))
    (tmp_path / "x.npz").unlink()
    with pytest.raises(DataError, match="two dumps at .* are called 'a_b'"):
        Dumps(tmp_path)
    with pytest.raises(ModelError, match="a chip runs integer modules"):
        tvmq.compare((digits.mod, digits.params), tvmq.emulate(digits.quantized, "cpu"), digits.pictures(1))
