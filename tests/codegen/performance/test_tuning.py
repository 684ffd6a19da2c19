"""Tuning: equal bits, kept in the cache folder, used by later builds, safe with several writers and interrupts.

What the cost model and the tuner see of kernels in int16 lanes.
"""

from __future__ import annotations

import json
import threading

import numpy as np
import pytest

import tvmq
from tests.support.models.networks import Net, feeds_of
from tvmq.base.cache import cache_folder, replace_file
from tvmq.codegen.cost import Machine
from tvmq.codegen.kernels.conv.choose import choose_convolution
from tvmq.codegen.kernels.conv.shape import ConvShape
from tvmq.codegen.kernels.isa import instructions, isa_named, level
from tvmq.codegen.kernels.parts.kernel_types import Conv2d
from tvmq.codegen.kernels.parts.tiling import Product, best_tilings, choose_tiling, fits, product_key
from tvmq.codegen.performance import tuning
from tvmq.codegen.performance.tuning_table import add_entries, machine_key, read_entries, tiles_for
from tvmq.codegen.target.cpu import resolve_target
from tvmq.errors import ConfigError, TargetError

HERE = resolve_target()


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A cache of its own for each test."""
    monkeypatch.setenv("TVMQ_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(scope="module")
def model():
    """Two pointwise convolutions, which Winograd leaves alone, and a classifier, in integers, and data."""
    n = Net((1, 8, 14, 14))
    y = n.op("Relu", n.conv(n.op("Relu", n.conv("x", 8, 64, 1)), 64, 32, 1))
    made = n.model(n.dense(n.op("Flatten", n.op("GlobalAveragePool", y)), 32, 10))
    feeds = feeds_of(made)
    return tvmq.quantize(*tvmq.from_onnx(made), feeds, guard=None), feeds[0]


def one_tile_faster(monkeypatch, rank):
    """Instead of the clock: the tile of that rank is twice as fast."""
    monkeypatch.setattr(tuning, "_gains", lambda runs, _: {t: 2.0 if i == rank else 1.0 for i, t in enumerate(runs)})


@pytest.mark.slow
def test_what_is_measured_is_taken_by_later_builds(model, folder, monkeypatch):
    mod, feed = model
    before = tvmq.build(mod)
    one_tile_faster(monkeypatch, 2)
    tuned = tvmq.build(mod, tune=3600)
    table = json.loads((folder / "tiles.json").read_text())[machine_key(HERE)]
    # the classifier is a product too on CPUs without VNNI, with few tiles to choose from
    assert len(table) >= 2 and sum(entry["gain"] == 2.0 for entry in table.values()) >= 2
    assert tuned.kernels != before.kernels and tvmq.build(mod).kernels == tuned.kernels
    for one, other in zip(before.run(feed), tuned.run(feed), strict=True):
        np.testing.assert_array_equal(one, other)
    assert tvmq.verify(tuned, [feed]).exact


@pytest.mark.slow
def test_a_real_measurement_ends(model):
    mod, _ = model
    result = tuning.tune(mod, HERE, 3600)
    count = result.products
    assert count in (2, 3) and result.left == result.measured == count
    assert f"{count} of {count} products measured" in str(result)
    again = tuning.tune(mod, HERE, 3600)
    assert (again.left, again.measured) == (0, 0) and f"({count} were known)" in str(again)


@pytest.mark.slow
def test_no_time_measures_nothing(model, folder):
    assert tuning.tune(model[0], HERE, 0).measured == 0
    assert not folder.exists()


@pytest.mark.slow
def test_an_interrupt_keeps_what_is_there(model, monkeypatch):
    one_tile_faster(monkeypatch, 1)

    def interrupt(done):
        if done.measured == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        tuning.tune(model[0], HERE, 3600, interrupt)
    assert len(read_entries(HERE)) == 1


@pytest.mark.slow
def test_tiles_of_other_bits_are_never_taken(model, monkeypatch):
    one_tile_faster(monkeypatch, 1)
    original, count = tuning._Run.result, iter(range(1000))
    monkeypatch.setattr(tuning._Run, "result", lambda run: original(run) * 0 + next(count) % 2)
    tuning.tune(model[0], HERE, 3600)
    chosen = {key: tuple(entry["tile"]) for key, entry in read_entries(HERE).items()}
    # of ranks 0, 1, 2, ... the odd ones differ; of those that are left, rank 2 is "faster"
    for key, tile in chosen.items():
        name, _, *sizes = key.split()
        tilings = best_tilings(Product(*map(int, sizes)), level(name), 3)
        assert len(tilings) < 3 or tile == (tilings[2].rows, tilings[2].columns)
    assert len(chosen) >= 2


def test_writers_add_to_each_other():
    def write(index):
        add_entries(HERE, {f"product {index}": {"tile": [index, 1], "gain": 1.0}})

    threads = [threading.Thread(target=write, args=(index,)) for index in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert tiles_for(HERE) == {f"product {index}": (index, 1) for index in range(16)}


@pytest.mark.parametrize("text", ["", "no json", "[]", '{"x": 1}'])
def test_a_damaged_table_is_empty(folder, text):
    replace_file(folder / "tiles.json", text.encode())
    assert tiles_for(HERE) == {}
    replace_file(folder / "tiles.json", json.dumps({machine_key(HERE): {"a": 1, "b": {"tile": [1]}}}).encode())
    assert tiles_for(HERE) == {}


def test_tables_of_other_cpus_are_left_alone(folder):
    other = resolve_target("llvm -mcpu=" + ("skylake" if HERE.mcpu == "haswell" else "haswell"))
    add_entries(other, {"a": {"tile": [1, 1]}})
    assert tiles_for(HERE) == {} and tiles_for(other) == {"a": (1, 1)}


def test_tiles_that_do_not_fit_are_not_taken():
    ins = instructions(HERE.isa)
    product = ConvShape(Conv2d(1, 8, 8, 64, 64), ins, 0).product
    usual = choose_tiling(product, ins)
    assert choose_tiling(product, ins, {product_key(product, ins): (99, 99)}) == usual
    other = best_tilings(product, ins, 2)[1]
    assert choose_tiling(product, ins, {product_key(product, ins): (other.rows, other.columns)}) == other != usual
    assert fits(product, other.rows, other.columns, ins) and not fits(product, 0, 1, ins)


@pytest.mark.slow
def test_no_cache_keeps_nothing(monkeypatch, model):
    monkeypatch.setenv("TVMQ_CACHE", "")
    assert cache_folder() is None
    add_entries(HERE, {"a": {"tile": [1, 1]}})
    assert read_entries(HERE) == {}


def test_refusals(model):
    with pytest.raises(ConfigError, match="tune: seconds must be a number of at least 0. Got -1"):
        tvmq.build(model[0], tune=-1)
    with pytest.raises(ConfigError, match="build: tune= measures kernels of CPUs"):
        tvmq.build(model[0], {"kind": "cuda", "arch": "sm_80"}, tune=1)
    with pytest.raises(TargetError, match="tune: kernels for .* which this CPU lacks"):
        tvmq.build(model[0], "llvm -mcpu=diamondrapids", tune=1)


AVX2 = isa_named("avx2")


def test_kernels_in_lanes_are_estimated_by_what_was_proved() -> None:
    conv, random = Conv2d(1, 6, 6, 64, 32), np.random.default_rng(0)
    cycles = {}
    for limit in (16, 64, 80, 128):
        weight = random.integers(-limit, limit, (32, 64, 1, 1)).astype(np.int8)
        kernel = choose_convolution(conv, weight, None, 0, (), AVX2)
        assert kernel is not None and kernel.work is not None and kernel.work.family == "conv2d"
        # the tile of kernels in lanes is not one to be tuned
        assert (kernel.work.tiled is None) == ("lanes" in kernel.name) == (limit < 128)
        cycles[limit] = kernel.work.cycles(Machine("haswell", 3e9), 2.0)
    assert cycles[16] < cycles[64] < cycles[80] < cycles[128] < 2 * cycles[16]
