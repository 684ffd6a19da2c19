"""Streams of the benchmark: sound, chunks, the streaming DS-CNN, and the bound."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import tvmq


def test_sound_is_one_for_each_seed(script: Any) -> None:
    streams = script("harness.streams")
    sound = streams.audio(1.0, 3)
    assert sound.shape == (16000,) and np.abs(sound).max() <= 1 and sound.std() > 0.01
    assert np.array_equal(sound, streams.audio(1.0, 3)) and not np.array_equal(sound, streams.audio(1.0, 4))
    parts = streams.frames(sound)
    assert parts.shape == (31, 576)
    assert np.array_equal(parts[1][:64], sound[448:512]) and not parts[0][:64].any()


def offline_dscnn() -> onnx.ModelProto:
    """The weights that the zoo's network has, by formula; its nodes are not read."""
    random, sizes = np.random.default_rng(0), {"conv.0": (64, 1, 10, 4)}
    for block in range(4):
        sizes |= {f"blocks.{block}.0": (64, 1, 3, 3), f"blocks.{block}.3": (64, 64, 1, 1)}
    weights = {f"{name}.weight": random.normal(size=size) / np.sqrt(np.prod(size[1:])) for name, size in sizes.items()}
    weights |= {f"{name}.weight_bias": random.normal(size=64) / 9 for name in sizes}
    weights |= {"fc.weight": random.normal(size=(10, 64)), "fc.bias": random.normal(size=10)}
    constants = [numpy_helper.from_array(value.astype(np.float32), name) for name, value in weights.items()]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 10])
    node = helper.make_node("Identity", ["x"], ["y"])
    return helper.make_model(helper.make_graph([node], "weights", [x], [helper.make_tensor_value_info("y", 1, [1, 10])], constants))


def test_the_streaming_network_is_the_same_in_any_chunks(script: Any) -> None:
    model = script("harness.streams").streaming_dscnn(offline_dscnn())
    mod, params = tvmq.from_onnx(model)
    exe = tvmq.build(mod, params=params)
    assert len(exe.states.tensors) == 6 and exe.states.batch == "batch"
    x = np.random.default_rng(1).normal(size=(1, 5, 160)).astype(np.float32)
    whole, state = exe.run({"x": x}, exe.new_state())[0], exe.new_state()
    steps = [exe.run({"x": x[:, n : n + 1]}, state)[0] for n in range(5)]
    assert whole.shape == (1, 5, 10) and np.array_equal(np.concatenate(steps, axis=1), whole)


def test_several_results_are_missed(script: Any) -> None:
    missed = script("streaming").missed
    rows = [{"stream": "s", "contestant": name, "results": 2} for name in ("tvmq int8", "onnxruntime float")]
    assert missed(rows, Namespace()) == ["s: tvmq int8 gives one sound 2 different results"]
