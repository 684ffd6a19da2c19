"""Surroundings of samples: each is a permutation of them all, cut into batches, padded, run by one thread or two."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from harness.zoo import Feed

from vectors.samples import Case

MOST_ROWS, MOST_PADDING = 8, 16
LEVELS = ("this CPU", "AVX2", "SSE4")
Run = Callable[[Feed, int, int], np.ndarray]  # inputs, threads, level of instructions -> the first output


@dataclass
class Results:
    """Results of all runs.

    alone    [samples, ...] of samples run alone, which may be more than were run in surroundings
    hashes   all results of each sample
    digests  sha256 of all samples, one of each run
    """

    alone: np.ndarray
    hashes: list[set[bytes]]
    digests: set[bytes]


def level_of(number: int, levels: int) -> int:
    """The instructions of a run: one in 5 of AVX2, one in 50 of SSE4, and one of each among the first."""
    if number in (1, 2):
        wanted = number
    else:
        wanted = 1 if number % 5 == 4 else 2 if number % 50 == 25 else 0
    return min(wanted, levels - 1)


def batches(count: int, random: np.random.Generator) -> Iterator[np.ndarray]:
    """A permutation of so many samples, cut into batches."""
    order, begin = random.permutation(count), 0
    while begin < count:
        end = begin + int(random.integers(1, MOST_ROWS + 1))
        yield order[begin:end]
        begin = end


def join(case: Case, rows: Sequence[int], random: np.random.Generator) -> Feed:
    """Join samples to a batch; positions that the mask leaves out hold values of other samples."""
    samples = [case.samples[row] for row in rows]
    if case.mask is None:
        return {name: np.concatenate([sample[name] for sample in samples]) for name in samples[0]}
    longest = max(sample[case.mask].shape[1] for sample in samples) + int(random.integers(0, MOST_PADDING + 1))
    mask = np.zeros((len(samples), longest), np.int64)
    feed: Feed = {}
    for name, first in samples[0].items():
        if name != case.mask:
            feed[name] = random.choice(first[0], (len(samples), longest))
    for row, sample in enumerate(samples):
        length = sample[case.mask].shape[1]
        begin = int(random.integers(0, longest - length + 1)) if case.pads_left else 0
        mask[row, begin : begin + length] = sample[case.mask][0]
        for name in feed:
            feed[name][row, begin : begin + length] = sample[name][0]
    return {**feed, case.mask: mask}


def run_alone(case: Case, run: Run, count: int) -> np.ndarray:
    """Results of the first samples, one by one."""
    return np.concatenate([run(sample, 1, 0) for sample in case.samples[:count]])


def count_results(
    case: Case, run: Run, count: int, runs: Sequence[int] | range, levels: int = 1, alone: np.ndarray | None = None
) -> Results:
    """All results of the first `count` samples, alone and in so many surroundings."""
    random = np.random.default_rng(0)
    alone = run_alone(case, run, count) if alone is None else alone
    assert len(alone) >= count
    hashes = [{hash_bits(result)} for result in alone[:count]]
    digests = {hash_bits(alone[:count])}
    together = alone[:count].copy()
    for number in runs:
        level = level_of(number, levels)
        for rows in batches(count, random):
            together[rows] = run(join(case, rows, random), int(random.integers(1, 3)), level)
        for found, result in zip(hashes, together, strict=True):
            found.add(hash_bits(result))
        digests.add(hash_bits(together))
    return Results(alone, hashes, digests)


def hash_bits(array: np.ndarray) -> bytes:
    """sha256 of an array's bytes."""
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).digest()
