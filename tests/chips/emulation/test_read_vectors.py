"""Vectors and answers that are damaged, or of another form: one sentence each."""

from __future__ import annotations

import copy
import io
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tvmq
from tvmq.backends import BACKENDS
from tvmq.chips.emulation.read_vectors import NEEDS, read_vectors
from tvmq.chips.emulation.single import OPERATORS
from tvmq.errors import DataError


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Vectors with one case of each operator, and right answers beside them."""
    folder = tmp_path_factory.mktemp("whole")
    tvmq.conformance(tvmq.Backend("chip", activations=("int8",)), folder / "vectors")
    manifest = json.loads((folder / "vectors" / "manifest.json").read_text())
    manifest["cases"] = list({case["operator"]: case for case in manifest["cases"]}.values())
    (folder / "vectors" / "manifest.json").write_text(json.dumps(manifest))
    for case, wanted in read_vectors(folder / "vectors")[1]:
        (folder / "answers" / case.operator).mkdir(parents=True)
        np.save(folder / "answers" / case.operator / f"{case.name}.npy", wanted)
    return folder


@pytest.fixture
def place(whole: Path, tmp_path: Path) -> Path:
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    return tmp_path


def refusal(place: Path, answers: str = "answers") -> str:
    """The sentence about this folder."""
    with pytest.raises(DataError) as caught:
        tvmq.check_conformance(place / "vectors", place / answers)
    text = str(caught.value)
    assert text.startswith("conformance: ") and "\n" not in text and text.isprintable()
    return text


def test_every_operator_is_read(whole: Path) -> None:
    assert set(NEEDS) == set(OPERATORS)
    found = tvmq.check_conformance(whole / "vectors", whole / "answers")
    assert found.conforms and {check.operator for check in found.operators} == set(OPERATORS)


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
def test_vectors_of_every_description_are_read(tmp_path: Path, backend: str) -> None:
    written = tvmq.conformance(backend, tmp_path)
    assert len(read_vectors(tmp_path)[1]) == sum(written.cases.values())


def case_of(manifest: dict[str, Any], operator: str) -> dict[str, Any]:
    return next(case for case in manifest["cases"] if case["operator"] == operator)


def change(operator: str, field: str, value: Any) -> Callable[[dict[str, Any]], None]:
    """Another value in an entry of the manifest."""
    return lambda manifest: case_of(manifest, operator).update({field: value})


def change_attribute(operator: str, field: str, value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda manifest: case_of(manifest, operator)["attributes"].update({field: value})


def change_chip(**fields: Any) -> Callable[[dict[str, Any]], None]:
    return lambda manifest: manifest["chips"]["conv2d"].update(fields)


DAMAGES: dict[str, tuple[Callable[[dict[str, Any]], Any], str]] = {
    "a list": (lambda manifest: [], "must be an object"),
    "cases are numbers": (lambda manifest: manifest.update(cases=[1]), r"cases\[0\]: must be an object"),
    "no list of cases": (lambda manifest: manifest.update(cases={}), "cases: must be a list"),
    "no cases": (lambda manifest: manifest.update(cases=[]), "cases: must be a list of at least one case"),
    "chips are a list": (lambda manifest: manifest.update(chips=[]), "chips: must be an object"),
    "no chips": (lambda manifest: manifest.update(chips={}), "operator: '.*' is none of them"),
    "unknown chip": (lambda manifest: manifest["chips"].update(nope={}), "chips.nope: unknown field"),
    "version": (lambda manifest: manifest.update(version="\x1b[31m"), "vectors of version .*, this tvmq reads 1"),
    "missing": (lambda manifest: manifest.pop("chips") and None, "chips: is missing"),
    "more": (lambda manifest: manifest.update(more=1), "more: unknown field"),
    "name": (change("dense", "name", 5), "name: must be a text"),
    "name of others": (change("dense", "name", "conv2d/usual_int8"), "name: must be 'dense/'"),
    "name with a folder": (change("dense", "name", "dense/../../x"), "name: must be 'dense/'"),
    "name with a null": (change("dense", "name", "dense/a\0b"), "name: must be 'dense/'"),
    "operator": (change("dense", "operator", "nope"), "operator: 'nope' is none of them"),
    "branch": (change("dense", "branch", []), "branch: must be a text"),
    "file": (change("dense", "file", "/etc/passwd"), "file: must be 'dense/"),
    "attributes": (change("dense", "attributes", []), "attributes: must be an object"),
    "no attributes": (change("dense", "attributes", {}), "attributes.x_dtype: is missing"),
    "arrays": (change("dense", "arrays", {}), "arrays: must be what"),
    "scale 0": (change_attribute("dense", "x_scale", 0), "x_scale: must be a positive float32"),
    "scale NaN": (change_attribute("dense", "x_scale", float("nan")), "x_scale: must be a finite number"),
    "scale beyond": (change_attribute("dense", "x_scale", 1e39), "x_scale: must be a positive float32"),
    "another scale": (change_attribute("dense", "x_scale", 1.5), "wants another answer than its chip makes"),
    "zero point": (change_attribute("dense", "x_zero", 1e9), "x_zero: must be a whole number"),
    "zero point beyond": (change_attribute("add", "y_zero", 2**31 - 1), "another answer|cannot be computed"),
    "type": (change_attribute("dense", "dtype", "object"), "dtype: 'object' is none of them"),
    "another type": (change_attribute("quantize", "dtype", "int32"), "another answer|cannot be computed"),
    "strides 0": (change_attribute("conv2d", "strides", [0, 0]), r"strides\[0\]: must be a whole number in 1\.\."),
    "strides": (change_attribute("conv2d", "strides", [1]), "strides: must be 2 numbers"),
    "kernel": (change_attribute("maximum", "kernel", [200, 200]), "another answer|cannot be computed"),
    "padding": (change_attribute("pad", "padding", [0, 0, 0, 2**40]), r"padding\[3\]: must be a whole number in 0\.\."),
    "groups": (change_attribute("conv2d", "groups", 3), "another answer|cannot be computed"),
    "chip": (change_chip(rule=5), "rule: must be an object"),
    "chip without": (lambda manifest: manifest["chips"].update(conv2d={"accumulator": "x"}), "rule: is missing"),
    "accumulator": (change_chip(accumulator={"bits": 99, "overflow": "wrap"}), "bits: must be a whole number in 2..32"),
    "overflow": (change_chip(accumulator={"bits": 9, "overflow": "x"}), "overflow: 'x' is none of them"),
    "floats": (change_chip(floats="x"), "floats: 'x' is none of them"),
    "bias": (change_chip(bias_bits=None), "bias_bits: must be a whole number"),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGES)
def test_manifests_of_another_form(place: Path, name: str) -> None:
    damage, words = DAMAGES[name]
    file = place / "vectors" / "manifest.json"
    manifest = json.loads(file.read_text())
    before = copy.deepcopy(manifest)
    changed = damage(manifest)
    assert changed == [] or manifest != before
    file.write_text(json.dumps(manifest if changed is None else changed))
    assert re.search(words, refusal(place)), refusal(place)


def saved(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()


BYTES = {"nothing": b"", "text": b"x" * 50, "no zip": b"PK\x03\x04" + b"y" * 50, "objects": saved(np.array([{"a": 1}], object)),
         "head": saved(np.zeros(9))[:60], "far too many": b"\x93NUMPY\x01\x00v\x00" + b"{'descr': '<f8', 'fortran_order': "
         b"False, 'shape': (99999999999,), }".ljust(117) + b"\n"}  # fmt: skip


@pytest.mark.parametrize("content", BYTES)
def test_files_that_are_none(place: Path, content: str) -> None:
    (answer,) = (place / "answers" / "dense").iterdir()
    vector = place / "vectors" / "dense" / f"{answer.stem}.npz"
    half = vector.read_bytes()
    for data in (BYTES[content], half[: len(half) // 2]):
        vector.write_bytes(data)
        assert re.search("holds no vectors that can be read|arrays: must be what", refusal(place))
    vector.write_bytes(half)
    manifest = place / "vectors" / "manifest.json"
    kept = manifest.read_bytes()
    for data in (BYTES[content], kept[: len(kept) // 2], b"[" * 100_000, b"\xff\xfe"):
        manifest.write_bytes(data)
        assert "holds no vectors that can be read" in refusal(place)
    manifest.write_bytes(kept)
    answer.write_bytes(BYTES[content])
    assert f"the answer to dense/{answer.stem} cannot be read" in refusal(place)
    (place / "answers.npz").write_bytes(BYTES[content])
    wanted = "has no answer to any" if content == "objects" else "cannot be read"  # one array, which belongs to no vector
    assert f"answers.npz' {wanted}" in refusal(place, "answers.npz")


@pytest.mark.parametrize("answer, words", [
    (lambda y: y.astype(np.int32) + 1000, "holds .*, which is no int8"), (lambda y: y.astype(np.complex64), "answer codes"),
    (lambda y: y[..., None][..., :0], "has shape"), (lambda y: y.astype(str), "answer codes"), (lambda y: y > 0, "answer codes"),
    (lambda y: y.astype([("a", "i1")]), "answer codes"), (lambda y: y.astype(np.float32), "answer codes"),
])  # fmt: skip
def test_answers_of_another_type(place: Path, answer: Callable[[np.ndarray], np.ndarray], words: str) -> None:
    (file,) = (place / "answers" / "dense").iterdir()
    np.save(file, answer(np.load(file)))
    assert re.search(f"conformance: the answer to dense/.*{words}", refusal(place))
