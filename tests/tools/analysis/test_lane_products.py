"""Shares of products in 16 bits: those that the notes of AVX2 kernels say, and the sentence about weights."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tvmq
from tests.support.models.networks import Net, feeds_of
from tvmq.tools.analysis.lane_products import describe_weights, layer_share, share_in_16_bits

HASWELL = "llvm -mcpu=haswell"


def quantized(target=None, **options):
    n = Net((1, 16, 8, 8))
    y = n.op("Relu", n.conv("x", 16, 16, groups=16))
    y = n.op("Relu", n.conv(y, 16, 16, 1))
    model = n.model(n.dense(n.op("Flatten", n.op("GlobalAveragePool", y)), 16, 8))
    with tvmq.qconfig(calibrate_mode="minmax", **options):
        return tvmq.quantize(*tvmq.from_onnx(model), feeds_of(model), target=target, guard=None)


def test_shares_by_hand():
    weight = np.full((8, 4, 1, 4), 64, np.int8)  # two neighbours are 128, in runs of 16
    assert layer_share(weight, 0) == 0.0
    weight[3, :2, 0, 0] = 65  # of one filter: a pair for all of its vector, three groups, and a pair that is left
    assert layer_share(weight, 0) == 4 / 16
    weight[:, :, :, 1:] = 65
    assert layer_share(weight, 0) == 1.0
    assert layer_share(np.full((64, 8), 64, np.int8), 1) == 0.0


def test_sentences_about_weights():
    lanes = describe_weights(quantized(weight_scale="lanes"))
    assert lanes == "8 bits, for every CPU; CPUs without VNNI make 0% of the products in 16 bits"
    assert describe_weights(quantized(HASWELL)).startswith("7 bits, for CPUs without VNNI; ")
    usual = describe_weights(quantized(weight_scale="max"))
    assert re.search(r"make \d+% of the products in 16 bits, which is slower: there --weight-scale lanes or", usual)
    n = Net((1, 16, 8, 8))
    mod, params = tvmq.from_onnx(n.model(n.conv("x", 16, 16, 3)))
    portable, own = (tvmq.inspect(mod, params, cpu, clock=3e9).weights for cpu in ("avx512-vnni", "llvm -mcpu=znver4"))
    assert portable == lanes and "which is slower" in own  # what `tvmq quantize --target` makes for each
    with tvmq.qconfig(activations=None):
        n = Net((1, 4))
        model = n.model(n.dense("x", 4, 3))
        assert describe_weights(tvmq.quantize(*tvmq.from_onnx(model))) == ""


@pytest.mark.isa("avx2")
def test_shares_are_those_of_the_kernels():
    module = quantized(weight_scale="max")
    notes = [note for note in tvmq.build(module, target=HASWELL).notes.values() if note.startswith("int16")]
    none_proved = all("lanes proved" not in note for note in notes)
    assert notes and (share_in_16_bits(module) == 1.0) == none_proved
    assert share_in_16_bits(quantized(weight_scale="lanes")) < 0.1
