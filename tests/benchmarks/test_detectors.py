"""benchmarks/detectors.py: its decoders, its network by formula, its bounds, and a quick run of all stages."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def scripts() -> Iterator[Any]:
    """Imports a benchmark by name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(FOLDER))
        yield importlib.import_module


def test_decoders_find_the_boxes_that_outputs_say(scripts: Any) -> None:
    networks = scripts("harness.detector_networks")
    rows = np.array([[[1, 2, 3, 4, 0.9, 2], [5, 6, 7, 8, 0.1, 0]]], np.float32)
    assert networks.decode_rows([rows])[0].boxes.tolist() == [[1, 2, 3, 4]]
    places = np.array([[[10, 10, 4, 4, 0.9, 0], [10, 10, 4, 5, 0.8, 0], [40, 40, 4, 4, 0, 0.1]]]).transpose(0, 2, 1)
    assert networks.decode_yolo([places])[0].boxes.tolist() == [[8, 8, 12, 12]]
    heat, zeros = np.zeros((1, 1, 8, 8)), np.zeros((1, 2, 8, 8))
    heat[0, 0, 2, 3] = 0.9
    faces = networks.decode_faces([heat, zeros + np.log(2), zeros, np.zeros((1, 10, 8, 8))])[0]
    np.testing.assert_allclose(faces.boxes, [[10, 6, 18, 14]])
    lines = np.zeros((1, 1, 20, 20))
    lines[..., 2:6, 3:9] = 0.8
    lines[..., 15, 15] = 0.9  # ten places are too few
    assert networks.decode_lines([lines])[0].boxes.tolist() == [[3, 2, 9, 6]]
    grid = np.full((1, 8, 4, 4), -9.0)
    grid[0, :, 1, 2] = [9, *[np.log(np.e - 1)] * 4, 0, 9, 0]
    cells = networks.decode_cells([grid])[0]
    np.testing.assert_allclose(cells.boxes, [[12, 4, 28, 20]])
    assert cells.labels.tolist() == [1]
    offsets = np.zeros((1, 21, 6))  # places of 4x4, 2x2 and 1x1, strides 8, 16 and 32
    offsets[0, 4 * 1 + 2] = [0.5, 0.25, np.log(2), 0, 0.8, 0.5]
    captchas = networks.decode_yolox([offsets])[0]
    np.testing.assert_allclose(captchas.boxes, [[12, 6, 28, 14]])
    assert captchas.scores[0] == pytest.approx(0.4)
    scores, bins = [np.zeros((1, n, 2)) for n in (76, 19)], [np.zeros((1, n, 32)) for n in (76, 19)]
    scores[1][0, 1, 1] = 0.9  # the second place of stride 16
    bins[1][0, 1, [2, 8 + 1, 16 + 3, 24 + 1]] = 99
    layout = networks.decode_layout([*scores, *bins])[0]
    np.testing.assert_allclose(layout.boxes, [[24 - 32, 8 - 16, 24 + 48, 8 + 16]])
    assert layout.labels.tolist() == [1]


def test_mean_precision_ranks_boxes_by_their_scores(scripts: Any) -> None:
    """A box whose score falls below the threshold is found all the same; a false one before it costs, behind it not."""
    networks, script = scripts("harness.detector_networks"), scripts("detectors")

    def boxes(*rows: tuple[float, float]) -> list[Any]:
        table = np.array([[x, 0, x + 4, 4, score, 0] for x, score in rows]).reshape(1, -1, 6)
        return networks.decode_rows([table], 0.05)

    wanted = boxes((0, 0.9), (10, 0.31))
    assert script.mean_precision(wanted, boxes((0, 0.8), (10, 0.2), (20, 0.19))) == 1.0
    assert script.mean_precision(wanted, boxes((0, 0.8), (20, 0.3), (10, 0.2))) == pytest.approx(
        0.505 + 0.495 * 2 / 3, abs=1e-3
    )
    assert script.mean_precision(wanted, boxes((10, 0.8))) == pytest.approx(0.505, abs=1e-3)
    assert script.mean_precision(boxes(), boxes((0, 0.9))) == 1.0


def test_networks_without_a_file_are_left_out_and_unknown_ones_refused(
    scripts: Any, tmp_path: Path, capsys: Any
) -> None:
    networks = scripts("harness.detector_networks")
    assert list(networks.find_detectors(["isbnx"], tmp_path, tmp_path, (1, 1))) == []
    assert "isbnx: best.onnx is not in" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="no detector yolo; there are isbnx, centerface"):
        list(networks.find_detectors(["yolo"], tmp_path, tmp_path, (1, 1)))
    assert networks.drawn_pages(2, 320, 0).shape == networks.drawn_captchas(2, 320, 0).shape == (2, 320, 320, 3)


def row(setting: str, **change: Any) -> dict[str, Any]:
    return {
        "name": "net",
        "setting": setting,
        "f1_50": 1.0,
        "precision": 1.0,
        "share": 0.9,
        "milliseconds": 1.0,
        **change,
    }


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({}, None),
        ({"f1_50": 0.98}, None),
        ({"precision": 0.98}, None),
        ({"f1_50": 0.98, "precision": 0.991}, "net: box F1 0.9800, at least 0.99 asked, or mAP50 0.992, it has 0.9910"),
        ({"share": 0.5}, "net: 50.0% in int8, at least 85% asked"),
        ({"milliseconds": 3.0}, "net: 3.00 ms, float 2.00 ms"),
    ],
)
def test_bounds(scripts: Any, change: dict[str, Any], text: str | None) -> None:
    rows = [row("float", milliseconds=2.0), row("default", **change)]
    assert scripts("detectors").missed(rows, None) == ([text] if text else [])


@pytest.mark.slow
def test_quick_form(
    scripts: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The network by formula: boxes are kept, since what decodes them stays float, by the guard the last product too.
    A peer that refuses a network has a row with the reason."""

    def refuse(*_: Any) -> None:
        raise ValueError("no\nshape")

    script = scripts("detectors")
    monkeypatch.setattr(script, "PEERS", {"nncf": refuse})
    result = tmp_path / "out.json"
    arguments = ("--networks", "squares", "--cache", str(tmp_path), "--json", str(result), "--quick")
    script.main(arguments)
    assert "| squares |" in (text := capsys.readouterr().out) and "nncf refuses: no shape |" in text
    rows = {one["setting"]: one for one in json.loads(result.read_text(encoding="utf-8"))["rows"]}
    assert min(rows["unguarded"]["f1_75"], rows["default"]["f1_75"]) > 0.9 and rows["float"]["boxes"] > 20
    assert rows["default"]["share"] > 0.9
