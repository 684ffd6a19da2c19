"""How near vectors are to those of the float model, and how fast they are made."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from vectors.samples import Case
from vectors.surroundings import Run

TOP = 10


def cosines(some: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Cosine of the angle between each two vectors."""
    return np.sum(directions(some) * directions(others), axis=1)


def directions(vectors: np.ndarray) -> np.ndarray:
    """Vectors of length one."""
    flat = np.float64(vectors.reshape(len(vectors), -1))
    return np.asarray(flat / np.linalg.norm(flat, axis=1, keepdims=True))


def compare_rankings(vectors: np.ndarray, floats: np.ndarray) -> tuple[float, float]:
    """Shares of equal first documents, and of the first ten that both have: the first fifth are the queries."""
    queries = len(vectors) // 5
    found, wanted = (rank(directions(one), queries) for one in (vectors, floats))
    common = [len(set(a) & set(b)) / len(a) for a, b in zip(found, wanted, strict=True)]
    return float(np.mean(found[:, 0] == wanted[:, 0])), float(np.mean(common))


def rank(vectors: np.ndarray, queries: int) -> np.ndarray:
    """Numbers of the documents nearest to each query, [queries, TOP]."""
    return np.argsort(-vectors[:queries] @ vectors[queries:].T, axis=1, kind="stable")[:, :TOP]


def time_alone(case: Case, runs: Sequence[Run], count: int, rounds: int) -> list[float]:
    """Milliseconds a sample of each contestant, one thread: the best of rounds in which all take turns."""
    best = [float("inf")] * len(runs)
    for _ in range(rounds):
        for number, run in enumerate(runs):
            start = time.perf_counter()
            for sample in case.samples[:count]:
                run(sample, 1, 0)
            best[number] = min(best[number], 1e3 * (time.perf_counter() - start) / count)
    return best
