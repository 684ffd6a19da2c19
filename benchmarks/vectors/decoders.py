"""Decoders among the models of benchmarks/invariance.py: texts of one length, cut into chunks that no two runs share.

Samples are windows of a text; results are the logits behind their last tokens. In each call the tokens of a batch go
through the model in random chunks, and caches from chunk to chunk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from harness.zoo import Feed
from language.decoder_contestants import TvmqText, load_contestant, model_file
from language.decoder_models import read_model, saved_model

from vectors.contestants import TARGETS, Contestant, Make
from vectors.samples import Case
from vectors.surroundings import LEVELS, Run

LENGTH, LONGEST_CHUNK = 64, 24
TOKENS = "input_ids"
Begin = Callable[[int], Any]


def decoder_case(name: str, count: int, cache: Path) -> Case:
    """Windows of the text of a language model, as many as there are at most."""
    tokens = read_model(name).tokens
    windows = tokens[: len(tokens) // LENGTH * LENGTH].reshape(-1, LENGTH)[:count]
    samples: list[Feed] = [{TOKENS: window[None]} for window in windows]
    return Case(f"{name}, a decoder", model_file(name, "onnxruntime float", cache), [], samples)


def decoder_contestants(name: str, cache: Path, only: Sequence[str] = ()) -> Iterator[Contestant]:
    """onnxruntime in float and in its dynamic int8, tvmq with scales at run time; or those of these names."""
    makes: dict[str, Make] = {
        "onnxruntime float": partial(_peer, name, "float", cache),
        "onnxruntime int8, scales at run time": partial(_peer, name, "int8", cache),
        "tvmq int8, scales at run time": partial(_tvmq, name, cache),
    }
    yield from (make() for title, make in makes.items() if not only or title in only)


def _peer(name: str, form: str, cache: Path) -> Contestant:
    title = "onnxruntime float" if form == "float" else "onnxruntime int8, scales at run time"
    begins = [load_contestant(f"onnxruntime {form}", name, cache, threads) for threads in (1, 2)]
    return Contestant(title, "onnxruntime float", run_in_chunks(lambda threads, _level: begins[threads - 1]))


def _tvmq(name: str, cache: Path) -> Contestant:
    import tvmq

    targets = [target if target == "llvm" else f"llvm -mcpu={target}" for target in TARGETS]
    paths = enumerate([saved_model(name, "W8A8", cache, target) for target in targets])
    models = {(threads, level): tvmq.load(path, num_threads=threads) for level, path in paths for threads in (1, 2)}

    def begin(threads: int, level: int) -> Begin:
        return lambda batch: TvmqText(models[threads, level], batch)

    return Contestant("tvmq int8, scales at run time", "onnxruntime float", run_in_chunks(begin), len(LEVELS))


def run_in_chunks(begin: Callable[[int, int], Begin]) -> Run:
    """Runs of texts in random chunks.

    begin  (threads, level of instructions) -> what begins so many texts
    """
    random = np.random.default_rng(0)

    def run(feed: Feed, threads: int, level: int) -> np.ndarray:
        tokens, place, logits = feed[TOKENS], 0, None
        text = begin(threads, level)(len(tokens))
        while place < tokens.shape[1]:
            end = place + int(random.integers(1, LONGEST_CHUNK + 1))
            logits, place = text.feed(tokens[:, place:end]), end
        assert logits is not None
        return np.asarray(logits[:, -1])

    return run
