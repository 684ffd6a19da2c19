"""Every model of the zoo imports, silently and with its layers' names, and equals onnxruntime in float32."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import onnx
import pytest
import tvm
from frontend_models import assert_close, run_float, run_onnxruntime
from tvm import relax

from tvmq.formats.onnx.importer.from_onnx import from_onnx
from tvmq.graph.names import get_names

NAMES = [
    "cell_detector", "compact_sr_x2", "crepe_tiny", "dscnn_digits", "efficientnet_lite0", "mbconv_se_cifar10",
    "minilm_l6", "ppocr_cls", "resnet8_cifar10", "squeezenet1_1", "unet_membrane", "vit_cifar10",
]  # fmt: skip
QUICK = ("compact_sr_x2", "dscnn_digits", "resnet8_cifar10")


def layers(mod: tvm.IRModule) -> set[str]:
    return {source for sources in get_names(mod["main"]).values() for source in sources}


@pytest.mark.slow_cases("resnet8_cifar10")
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else [pytest.mark.slow]) for name in NAMES]
)
def test_equals_onnxruntime(zoo_task: Callable[[str], Any], name: str) -> None:
    """Compare a single sample: the naive kernels of TVM's pipeline take seconds for the larger networks."""
    task = zoo_task(name)
    feed = next(task.calibration())
    mod, params = from_onnx(task.model_path, shape={key: value.shape for key, value in feed.items()})
    relax.analysis.well_formed(mod)
    func = mod["main"]
    assert json.loads(func.attrs["tvmq.inputs"]) == list(feed)
    assert [f.name_hint for f in mod.functions] == ["main"], "a converter lowered something to TIR"
    named = {p.name: value for p, value in zip(func.params, feed.values(), strict=False)}
    assert_close(run_float(mod, params, named), run_onnxruntime(task.model_path, feed))


@pytest.mark.parametrize("name", NAMES)
def test_imports_with_a_symbolic_batch(
    zoo_task: Callable[[str], Any], name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    task = zoo_task(name)
    mod, _ = from_onnx(task.model_path)
    relax.analysis.well_formed(mod)
    assert capfd.readouterr() == ("", "")
    assert not isinstance(mod["main"].params[0].ty.shape.values[0], tvm.tirx.IntImm)
    variables = [binding.var.name for binding in mod["main"].body.blocks[0].bindings]
    assert list(get_names(mod["main"])) == variables
    nodes = {node.name for node in onnx.load(task.model_path).graph.node}
    assert layers(mod) <= nodes
    fixed, _ = from_onnx(
        task.model_path,
        shape={json.loads(mod["main"].attrs["tvmq.inputs"])[0]: (1, *[None] * (rank(mod) - 1))},
    )
    assert layers(fixed) <= nodes and len(layers(fixed)) > 0.5 * len(nodes)


def rank(mod: tvm.IRModule) -> int:
    return mod["main"].params[0].ty.ndim
