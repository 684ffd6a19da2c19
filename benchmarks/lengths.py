"""What a free length costs: a text encoder quantized once, built for any length and for each length by itself.

    python benchmarks/lengths.py --zoo ../shared/zoo [--lengths 7,40,128] [--rounds 7] [--threads 1] [--quick]

The network is `Encoder` of the zoo's make_latency_models.py (the shape of MiniLM-L6, random weights; needs torch).
Blocks of the two builds alternate, round after round; a figure is the median of all runs in milliseconds, batch 1.

Columns   words; any: the build of free batch and length; fixed: that of this length alone; any / fixed
Bound     results of both builds are equal, bit for bit. Exit code 1 where they are not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from common import Feed, finish, machine, parser, print_table, set_threads, write_json, zoo_module
from latency import blocks

VOCABULARY = 30522
COLUMNS = (("words", "{words}"), ("any", "{any:.2f}"), ("fixed", "{fixed:.2f}"), ("any / fixed", "{ratio:.2f}"))


def text(words: int, seed: int) -> Feed:
    """Random words, all of them real."""
    ids = np.random.default_rng(seed).integers(0, VOCABULARY, (1, words))
    return {"ids": ids, "mask": np.ones((1, words), np.int64)}


def quantized(options: Any, lengths: list[int]) -> Any:
    """The integer module, its batch and length free."""
    import torch

    import tvmq

    torch.manual_seed(0)
    network = zoo_module(options.zoo, "make_latency_models").Encoder(depth=1 if options.quick else 6).eval()
    batch, length = torch.export.Dim("batch"), torch.export.Dim("length", min=2, max=512)
    example = (torch.full((2, 40), 2000), torch.ones(2, 40, dtype=torch.int64))
    free = {"ids": {0: batch, 1: length}, "mask": {0: batch, 1: length}}
    mod, params = tvmq.from_torch(network, example, dynamic_shapes=free)
    return tvmq.quantize(mod, params, [text(words, 1 + i) for i, words in enumerate(lengths)])


def measured(module: Any, anything: Any, words: int, rounds: int) -> dict[str, Any]:
    """One row, and whether both builds agree."""
    import tvmq

    fixed = tvmq.build(module, sizes=dict(zip(anything.input_info[0].shape, (1, words), strict=True)))
    feed = text(words, 0)
    variants = {"any": lambda: anything.run(feed), "fixed": lambda: fixed.run(feed)}
    equal = all(
        np.array_equal(a.view(np.uint8), b.view(np.uint8))
        for a, b in zip(variants["any"](), variants["fixed"](), strict=True)
    )
    times = {name: 1000 * float(np.median(np.concatenate(runs))) for name, runs in blocks(variants, rounds).items()}
    return {"words": words, **times, "ratio": times["any"] / times["fixed"], "equal": equal}


def main() -> None:
    """Command line; see the head of this file."""
    commands = parser("What a free length costs.")
    commands.add_argument("--lengths", default="7,40,128", help="words, separated by commas")
    commands.add_argument("--rounds", type=int, default=7)
    commands.add_argument("--threads", type=int, default=1)
    options = commands.parse_args()
    set_threads(options.threads)
    import tvmq

    print(machine(), flush=True)
    lengths = [int(words) for words in options.lengths.split(",")]
    module = quantized(options, lengths)
    anything = tvmq.build(module)
    rows = [measured(module, anything, words, options.rounds) for words in lengths]
    print_table([title for title, _ in COLUMNS], [[form.format(**row) for _, form in COLUMNS] for row in rows])
    write_json(options.json, {"rows": rows})
    finish([f"{row['words']} words: the two builds differ" for row in rows if not row["equal"]])


if __name__ == "__main__":
    main()
