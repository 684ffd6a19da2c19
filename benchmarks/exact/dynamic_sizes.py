"""Models of dynamic sizes for exactness.py: quantized once, then run with several sizes.

Tasks     the zoo's, their batch dynamic: batches of 1 and 3 samples
Encoder   a text encoder of any batch and length (tests/support/models/dynamic_models.py): 1 x 1 .. 3 x 64 words
Pictures  a convolutional network for pictures of any batch and size: 2 x 2 .. 90 x 130
Reader    convolutions and an LSTM in two directions for lines of any batch and length
Random    graphs of tests/support/random/graphs.py, their batch dynamic; every second one by code for a dynamic number
          of samples, the others sample by sample
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from harness.zoo import QUICK_CALIBRATION, Feed, Feeds, first_inputs, load_zoo

BATCHES = (1, 3)
PICTURE_SIDES = ((2, 2), (20, 14), (6, 30), (64, 48), (34, 18), (90, 130))

Parts = tuple[str, Any, Any, list[Feed], bool]


def dynamic_models(options: Any) -> Iterator[Parts]:
    """(name, float model, calibration data, inputs, built sample by sample where samples are apart) of each model."""
    for task in load_zoo(options.zoo, options.tasks).values():
        feeds = Feeds(task, QUICK_CALIBRATION if options.quick else None)
        yield f"{task.name}-dynamic", task.model_path, feeds, batches(first_inputs(task, sum(BATCHES))), True
    yield from texts_and_pictures()
    yield from random_models(2 if options.quick else options.dynamic)


def texts_and_pictures() -> Iterator[Parts]:
    """The two networks of which more than the batch is dynamic."""
    from tests.support.models.dynamic_models import LONGEST, encoder, pictures, reader, texts

    lengths = (4, 9, 16, 33)
    sizes = ((1, 1), (2, 7), (1, 40), (3, LONGEST))
    calibration = [texts(2, length, length) for length in lengths]
    yield "encoder-dynamic", encoder(2), calibration, [texts(*size) for size in sizes], True
    random = np.random.default_rng(0)
    yield (
        "reader-dynamic",
        reader(),
        [{"x": random.random((2, 1, 8, columns), np.float32)} for columns in (8, 24)],
        [{"x": random.random(shape, np.float32)} for shape in ((1, 1, 8, 2), (3, 1, 8, 22), (2, 1, 8, 60))],
        True,
    )
    yield (
        "pictures-dynamic",
        pictures(),
        [{"x": random.random((2, 3, rows, 16), np.float32)} for rows in (8, 16)],
        [
            {"x": random.random((n, 3, *sides), np.float32)}
            for n, sides in zip((1, 2, 1, 1, 3, 1), PICTURE_SIDES, strict=True)
        ],
        True,
    )


def random_models(count: int) -> Iterator[Parts]:
    """Random graphs; those that write down their batch or cannot be imported with a dynamic one are left out."""
    import tvmq
    from tests.support.models.dynamic_models import random_batches
    from tests.support.random.graphs import random_inputs, random_model
    from tvmq.errors import UnsupportedOpError
    from tvmq.graph.symbolic import dynamic_dimensions
    from tvmq.passes.prepare import prepare

    seed = found = 0
    while found < count:
        feeds, model = random_inputs(random_model(seed), 1, 4), random_batches(seed)
        seed += 1
        try:
            dynamic = dynamic_dimensions(prepare(*tvmq.from_onnx(model)))
        except UnsupportedOpError:
            continue
        if not dynamic:
            continue
        found += 1
        yield f"dynamic_random_{seed - 1}", model, feeds, batches([_one(feed) for feed in feeds]), found % 2 == 1


def _one(feed: Feed) -> Feed:
    return {name: value[:1] for name, value in feed.items()}


def batches(feeds: Sequence[Feed]) -> list[Feed]:
    """Samples joined to batches of BATCHES."""
    ends = np.cumsum(BATCHES)
    groups = [feeds[end - size : end] for end, size in zip(ends, BATCHES, strict=True)]
    return [{name: np.concatenate([feed[name] for feed in group]) for name in group[0]} for group in groups]
