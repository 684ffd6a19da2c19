"""Speed of a free batch: blocks of samples in one call beside samples one by one.

    python benchmarks/batches.py [--networks mlp,table] [--batches 1,8,32] [--threads 1] [--rounds 5] [--quick]

Networks  dense layers 784-512-512-10; a table model with embeddings; an LSTM over the rows of a picture; networks of
          pictures of the zoo, which stay sample by sample (harness/batch_networks.py)
Columns   milliseconds of our int8, medians, blocks of runs by turns: one by one: build(module, sizes={batch: [1]});
          free: build(module); fixed: build(module, sizes={batch: n}), which takes this batch alone. Then one by one /
          free, fixed / free, and onnxruntime's int8 of a free batch / free; the bytes of the free and one-by-one files
Bound     results of the three are equal, bit for bit, and free takes at most 1.10 of one by one and 10 us.
          Exit code 1 where that is missed
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence
from typing import Any

from harness import set_threads
from harness.batch_networks import NETWORKS, BatchNetwork
from harness.command import Command, argument
from harness.report import columns
from harness.timing import median_milliseconds, time_blocks, timer_of

MOST, CALL = 1.10, 0.01  # a ratio; milliseconds
COLUMNS = columns(
    "network {network} | batch {batch} | one by one {single:.3f} | free {free:.3f} | fixed {fixed:.3f}",
    "one by one / free {gain:.2f} | fixed / free {fixed_ratio:.2f} | ort int8 / free {ort_ratio:.2f}",
    "bytes, free {bytes} | bytes, one by one {single_bytes}",
)


def measure(options: Namespace) -> Iterator[dict[str, Any]]:
    """A row of each network and batch."""
    names = options.networks.split(",") if options.networks else NETWORKS
    batches = [int(size) for size in options.batches.split(",")]
    for name in list(names)[: 1 if options.quick else None]:
        yield from rows(NETWORKS[name](name, options), batches[: 2 if options.quick else None], options)


def rows(network: BatchNetwork, batches: Sequence[int], options: Namespace) -> Iterator[dict[str, Any]]:
    """Rows of a network, one for each batch."""
    from harness import onnxruntime_peer
    from harness.model import file_bytes

    import tvmq

    module = tvmq.quantize(*tvmq.from_onnx(network.path), network.feeds, guard=None)
    free = tvmq.build(module)
    batch = str(free.input_info[0].shape[0])
    single = tvmq.build(module, sizes={batch: [1]})
    peer = onnxruntime_peer.session(
        onnxruntime_peer.int8_model(network.path, network.feeds, options.cache)[0], options.threads
    )
    for count in batches:
        feed, fixed = network.feed(count), tvmq.build(module, sizes={batch: count})
        ours = {"single": single.run, "free": free.run, "fixed": fixed.run}
        results = [run(feed) for run in ours.values()]
        equal = all(len({array.tobytes() for array in arrays}) == 1 for arrays in zip(*results, strict=True))
        timers = {name: timer_of(lambda run=run: run(feed)) for name, run in {**ours, "ort": peer}.items()}  # noqa: B023
        times = median_milliseconds(time_blocks(timers, 1 if options.quick else options.rounds))
        yield {
            "network": network.name, "batch": count, **times, "gain": times["single"] / times["free"],
            "fixed_ratio": times["fixed"] / times["free"], "ort_ratio": times["ort"] / times["free"], "equal": equal,
            "bytes": file_bytes(free), "single_bytes": file_bytes(single),
        }  # fmt: skip


def missed(rows: Sequence[dict[str, Any]], _options: Any = None) -> list[str]:
    """Bounds that do not hold."""
    slow = [
        f"{row['network']} {row['batch']}: {row['free']:.3f} ms, samples one by one {row['single']:.3f}"
        for row in rows
        if row["free"] > MOST * row["single"] + CALL
    ]
    return slow + [f"{row['network']} {row['batch']}: results differ" for row in rows if not row["equal"]]


main = Command(
    __doc__ or "", COLUMNS, measure, missed, (), judges_quick=False,
    head=lambda options: set_threads(options.threads) or (),
    arguments=[
        argument("--networks", default="", help="names separated by commas; all without it"),
        argument("--batches", default="1,8,32,128", help="numbers of samples, separated by commas"),
        argument("--threads", type=int, default=1),
        argument("--rounds", type=int, default=3),
    ],
)  # fmt: skip

if __name__ == "__main__":
    main()
