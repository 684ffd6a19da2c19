"""Models and their samples: texts, pictures of the zoo, series for an LSTM."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import onnx
from harness.zoo import QUICK_CALIBRATION, Feed, Feeds, first_inputs, load_zoo
from onnx import TensorProto, helper

from vectors.bert import Bert, read_bert

CALIBRATED, WORDS, LENGTHS = 64, 30000, (4, 48)
LSTM, FEATURES, HIDDEN, WIDTH = "lstm", 16, 64, 32


@dataclass(frozen=True)
class Case:
    """A model, what it is calibrated with, and the samples that are run, each with a batch of one."""

    name: str
    model_path: Path
    calibration: list[Feed]
    samples: list[Feed]

    @cached_property
    def mask(self) -> str | None:
        """Name of the second input, a mask [batch, length]; None of a model with one input."""
        names = list(self.samples[0])
        return names[1] if len(names) > 1 else None

    @cached_property
    def pads_left(self) -> bool:
        """True where positions are counted by the mask, so that a sample may begin later."""
        return any(node.op_type == "CumSum" for node in onnx.load(self.model_path).graph.node)

    @cached_property
    def bert(self) -> Bert | None:
        """Weights for runtimes that read no ONNX; None where it is no encoder with the names that we know."""
        return read_bert(self.model_path)


def cases(options: Namespace, folder: Path) -> Iterator[Case]:
    """The texts, then the tasks."""
    if options.texts is not None or options.quick:
        yield text_case(options, folder)
    names = [name for name in options.tasks.split(",") if name]
    if LSTM in names:
        yield lstm_case(options.samples, folder)
    for task in load_zoo(options.zoo, ",".join(name for name in names if name != LSTM)).values():
        pictures = more_pictures(first_inputs(task, options.samples), options.samples)
        yield Case(task.name, Path(task.model_path), list(Feeds(task, QUICK_CALIBRATION)), pictures)


def text_case(options: Namespace, folder: Path) -> Case:
    """The model of --texts with its words; a small one without it."""
    path, words = options.texts, WORDS
    if path is None:
        from tests.support.models.dynamic_models import WORDS as FEW
        from tests.support.models.dynamic_models import encoder

        path, words = folder / "encoder.onnx", FEW
        onnx.save(encoder(2), path)
    names = [given.name for given in onnx.load(path, load_external_data=False).graph.input]
    texts = read_texts(options.words, names, words, CALIBRATED + options.samples)
    return Case(Path(path).stem, Path(path), texts[:CALIBRATED], texts[CALIBRATED:])


def read_texts(paths: Sequence[Path], names: list[str], words: int, count: int) -> list[Feed]:
    """Texts of their own lengths, each with one row of ids and a mask of ones.

    paths  of arrays [samples, length]; texts beyond theirs are the begin of one and the end of another
    """
    random = np.random.default_rng(0)
    if not paths:
        rows = [random.integers(1, words, random.integers(*LENGTHS)) for _ in range(count)]
    else:
        rows = []
        for path in paths:
            with np.load(path) as file:
                rows += [row[: np.count_nonzero(row)].astype(np.int64) for row in file[file.files[0]]]
        given = len(rows)
        while len(rows) < count:
            first, last = (rows[number] for number in random.integers(0, given, 2))
            cut, other = random.integers(1, len(first)), random.integers(1, len(last))
            rows.append(np.concatenate([first[:cut], last[other:]]))
    return [{names[0]: row[None], names[1]: np.ones((1, len(row)), np.int64)} for row in rows[:count]]


def more_pictures(pictures: list[Feed], count: int) -> list[Feed]:
    """So many pictures: those given, then flipped and moved ones."""
    random, result = np.random.default_rng(0), list(pictures)
    while len(result) < count:
        (name, picture), *_ = pictures[int(random.integers(len(pictures)))].items()
        moved = np.roll(picture, random.integers(-6, 7, 2), axis=(2, 3))
        result.append({name: np.ascontiguousarray(moved[..., ::-1] if random.integers(2) else moved)})
    return result


def lstm_case(count: int, folder: Path) -> Case:
    """Series of random walks for an LSTM with random weights."""
    random = np.random.default_rng(0)
    onnx.save(lstm_model(), folder / "lstm.onnx")
    samples = []
    for _ in range(CALIBRATED + count):
        length = int(random.integers(*LENGTHS))
        walk = np.cumsum(random.standard_normal((1, length, FEATURES)), axis=1) / 4
        samples.append({"x": walk.astype(np.float32), "mask": np.ones((1, length), np.int64)})
    return Case(LSTM, folder / "lstm.onnx", samples[:CALIBRATED], samples[CALIBRATED:])


def lstm_model() -> onnx.ModelProto:
    """x [batch, length, FEATURES], mask [batch, length] -> means of the states that the mask keeps, [batch, WIDTH]."""
    from tests.support.models.dynamic_models import Nodes

    g = Nodes(0)
    weights = g.weight(1, 4 * HIDDEN, FEATURES), g.weight(1, 4 * HIDDEN, HIDDEN)
    states = g.add("LSTM", g.add("Transpose", "x", perm=[1, 0, 2]), *weights, hidden_size=HIDDEN)
    states = g.add("Transpose", g.add("Squeeze", states, g.constant(np.int64([1]))), perm=[1, 0, 2])
    mask = g.add("Cast", "mask", to=TensorProto.FLOAT)
    kept = g.add("Mul", states, g.add("Unsqueeze", mask, g.constant(np.int64([2]))))
    count = g.add("ReduceSum", mask, g.constant(np.int64([1])), keepdims=1)
    means = g.add("Div", g.add("ReduceSum", kept, g.constant(np.int64([1])), keepdims=0), count)
    series = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", "length", FEATURES])
    given = helper.make_tensor_value_info("mask", TensorProto.INT64, ["batch", "length"])
    return g.model([series, given], g.dense(means, HIDDEN, WIDTH))
