"""The cost model: the machine's parameters, and its growth with operations, bytes and threads."""

import pytest

from tvmq.codegen.cost import START, Machine, Work, read_caches, seconds, with_caches

ZEN4 = Machine("znver4", 3.7e9, cores=4)


def test_arithmetic_and_memory_add_up_to_the_longer_one_at_least():
    small = seconds(Work("conv2d", 37_000, 1000), ZEN4)
    assert small.bottleneck == "compute" and small.total > small.arithmetic == pytest.approx(10e-6)
    large = seconds(Work("add", 1000, 64_000_000), ZEN4)
    assert large.bottleneck == "memory" and large.total >= large.memory
    assert seconds(Work("table", 10, 64), ZEN4).bottleneck == "call"


def test_weights_come_from_the_cache_that_holds_those_of_the_whole_model():
    work = Work("matmul", 10, 1000, weights=100_000)
    alone, among = (seconds(work, ZEN4, model_weights=size).memory for size in (0, 100_000_000))
    assert among > 4 * alone


def test_threads_share_what_is_long():
    long, short = Work("conv2d", 4e6, 1000), Work("conv2d", 4e3, 1000)
    assert seconds(long, ZEN4, threads=2).total < 0.6 * seconds(long, ZEN4).total
    assert seconds(long, ZEN4, threads=64) == seconds(long, ZEN4, threads=4)
    assert seconds(short, ZEN4, threads=4) == seconds(short, ZEN4)
    assert seconds(short, ZEN4).total > START


def test_caches_are_read(tmp_path):
    for index, (kind, level, size) in enumerate(
        [("Data", 1, "48K"), ("Instruction", 1, "32K"), ("Unified", 2, "2048K"), ("Unified", 3, "65536K")]
    ):
        folder = tmp_path / f"index{index}"
        folder.mkdir()
        for name, text in (("type", kind), ("level", level), ("size", size)):
            (folder / name).write_text(f"{text}\n")
    (tmp_path / "index9").mkdir()  # tells nothing
    found = with_caches(ZEN4, read_caches(tmp_path))
    assert (found.l1, found.l2, found.l3) == (48 << 10, 2 << 20, 64 << 20)
    assert read_caches(tmp_path / "absent") == {}
