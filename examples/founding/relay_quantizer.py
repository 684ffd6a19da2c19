"""TVM's quantizer, as a text about it goes: annotate, calibrate, realize, simulate, search, an integer core.

    python examples/founding/relay_quantizer.py

All names are Relay's, with import lines by the rules of MIGRATING.md. A network of two convolutions goes through the
passes; the embedded one is deployed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import tvmq
from tvmq import relay  # was: from tvm import relay
from tvmq.demo import load_demo
from tvmq.relay import tvm  # was: import tvm
from tvmq.relay.op import op as _reg  # was: from tvm.relay.op import op as _reg
from tvmq.relay.quantize import QAnnotateKind  # was: from tvm.relay.quantize import QAnnotateKind
from tvmq.relay.tvm import topi  # was: from tvm import topi
from tvmq.relay.tvm.contrib import graph_executor  # was: from tvm.contrib import graph_executor

SIMULATED = "relay.op.annotation.simulated_quantize"
RANDOM = np.random.default_rng(0)
DATASET = [{"data": RANDOM.normal(size=(1, 3, 16, 16)).astype("float32")} for _ in range(16)]
INPUTS = [{"data": RANDOM.normal(size=(1, 3, 16, 16)).astype("float32")} for _ in range(16)]


def results_of(mod: Any) -> np.ndarray:
    """Results for the inputs, by compiled code."""
    exe = tvmq.build(mod, "llvm -opt-level=0")
    return np.concatenate([exe.run(inputs)[0] for inputs in INPUTS])


def decibels(exact: np.ndarray, rounded: np.ndarray) -> float:
    """Signal to error."""
    return float(10 * np.log10((exact**2).sum() / ((exact - rounded) ** 2).sum()))


def load_float() -> tuple[Any, dict[str, Any]]:
    """Two convolutions and a product with a gate, with Relay's names."""
    out = relay.var("data", shape=(1, 3, 16, 16))
    for number in range(2):
        weight = relay.var(f"conv{number}_weight")
        out = relay.nn.relu(relay.nn.conv2d(out, weight, kernel_size=(3, 3), padding=(1, 1), channels=16))
    out = out * relay.sigmoid(relay.nn.global_avg_pool2d(out))
    return relay.testing.create_workload(relay.Function(relay.analysis.free_vars(out), out))


# ---- the script that the text prints


def quantize_and_build(out: Any) -> Any:
    """A network of one expression, quantized and compiled."""
    mod, params = relay.testing.create_workload(relay.Function(relay.analysis.free_vars(out), out))
    with relay.quantize.qconfig(skip_conv_layers=[]):
        qmod = relay.quantize.quantize(mod, params)
    relay.build(qmod, "llvm", params=params)
    return qmod


def run_the_printed_script() -> None:
    """test_mul_rewrite: a product of two quantized tensors, and one with a float tensor."""
    data = relay.var("data", shape=(1, 16, 16, 16))
    act = relay.nn.relu(relay.nn.conv2d(data, relay.var("weight"), kernel_size=(3, 3), padding=(1, 1), channels=16))
    quantize_and_build(act * relay.sigmoid(relay.var("data", shape=(1, 16, 1, 1))))
    quantize_and_build(act * relay.nn.global_avg_pool2d(act))
    print("the printed script: both networks quantized and built")


# ---- pass by pass


def quantize_by_passes() -> None:
    """Annotate, calibrate and realize, with a look at the module behind each."""
    qtz = relay.quantize
    mod, params = load_float()
    with tvm.transform.PassContext(opt_level=3), qtz.qconfig(
        calibrate_mode="kl_divergence", weight_scale="max", skip_conv_layers=[], skip_dense_layer=False
    ), qtz.quantize_context():
        prepared = qtz.prerequisite_optimize(mod, params)
        annotated = tvm.transform.Sequential([qtz.partition(), qtz.annotate()])(prepared)
        watched = annotated.astext().count("simulated_quantize(")
        calibrated = tvm.transform.module_pass(qtz.calibrate(DATASET), opt_level=1, name="Calibrate")(annotated)
        quantized = tvm.transform.Sequential([qtz.realize(), relay.transform.FoldConstant()])(calibrated)
        at_once = qtz.quantize(mod, params, DATASET)
    assert watched and "simulated_quantize(" not in quantized.astext()
    assert np.array_equal(results_of(quantized), results_of(at_once))
    print(f"annotate: {watched} simulated_quantize; realized by passes: the integers of quantize(), 0 results differ")


# ---- simulation, and the two losses


@_reg.register_compute(SIMULATED)
def simulated_quantize_compute(attrs: Any, inputs: Any, out_type: Any, target: Any) -> list[Any]:
    """The compute that the text prints: a rounding error and a clipping error."""
    assert len(inputs) == 4 and attrs.sign and attrs.rounding == "round"
    data, scale, clip_min, clip_max = inputs
    if attrs.kind == QAnnotateKind.IDENTITY:
        return [topi.identity(data)]
    scaled_data = topi.divide(data, scale)
    clipped_data = topi.maximum(topi.minimum(scaled_data, clip_max), clip_min)
    return [topi.multiply(topi.round(clipped_data), scale)]


def round_alone(attrs: Any, inputs: Any, out_type: Any) -> list[Any]:
    """The rounding error without the clipping error."""
    data, scale, *_ = inputs
    return [topi.multiply(topi.round(topi.divide(data, scale)), scale)]


def clip_alone(attrs: Any, inputs: Any, out_type: Any) -> list[Any]:
    """The clipping error without the rounding error."""
    data, scale, clip_min, clip_max = inputs
    return [topi.multiply(topi.maximum(topi.minimum(topi.divide(data, scale), clip_max), clip_min), scale)]


def simulate(threshold: float) -> Any:
    """The annotated and calibrated network, with one threshold for all tensors."""
    mod, params = load_float()
    with relay.quantize.qconfig(do_simulation=True, skip_conv_layers=[], global_scale=threshold, weight_scale="max"):
        return relay.quantize.quantize(mod, params)


def separate_losses() -> None:
    """The simulation by code of one's own: rounding alone, clipping alone, both, for a low and a high threshold."""
    mod, params = load_float()
    exact = results_of(relay.IRModule.from_expr(relay.build_module.bind_params_by_name(mod["main"], params)))
    larger_loss = []
    for threshold in (2.0, 8.0):
        loss = {}
        for compute in (round_alone, clip_alone, simulated_quantize_compute):
            _reg.register_compute(SIMULATED, compute)
            loss[compute.__name__] = decibels(exact, own := results_of(simulate(threshold)))
        assert np.array_equal(own[:1], tvmq.reference.run(simulate(threshold).relax, INPUTS[0])[0])
        relay.op.get(SIMULATED).reset_attr("FTVMCompute")
        assert np.array_equal(own, results_of(simulate(threshold)))  # tvmq's own simulation rounds the same
        print(f"threshold {threshold}: " + ", ".join(f"{name} {value:.1f} dB" for name, value in loss.items()))
        larger_loss.append(min(loss, key=lambda name: (name == "simulated_quantize_compute", loss[name])))
    assert larger_loss == ["clip_alone", "round_alone"]


# ---- thresholds, schemes, the search


def compare_thresholds() -> None:
    """Ways to choose ranges, with TVM's symmetric codes and with TensorFlow's asymmetric ones."""
    mod, params = load_float()
    floats = relay.IRModule.from_expr(relay.build_module.bind_params_by_name(mod["main"], params))
    exact = results_of(floats)
    for scheme in ("symmetric", "asymmetric"):
        for mode, momentum in (("minmax", None), ("moving_average", 0.99), ("kl_divergence", None)):
            config = tvmq.qconfig(scheme=scheme, dtype_input="int8", calibrate_mode=mode, momentum=momentum)
            qmod = tvmq.quantize(*tvmq.from_relax(floats.relax, {}), DATASET, config=config, guard=None)
            print(f"  {scheme}, {mode}: {decibels(exact, results_of(qmod)):.1f} dB")


def search() -> None:
    """Thresholds, bits and which operators are integers: proposed, built and measured, the best of them last."""
    mod, params = load_float()
    floats = relay.IRModule.from_expr(relay.build_module.bind_params_by_name(mod["main"], params))
    model = tvmq.from_relax(floats.relax, {})
    outcome = tvmq.search(*model, DATASET, sqnr=25, minimize="size", rounds=1, measure=False)
    best, usual = outcome.best, outcome.points[0]
    print(f"search: {best.bytes} bytes at {best.sqnr:.1f} dB by {best.recipe.layers}, {usual.bytes} bytes before")
    assert best.sqnr >= 25 and best.bytes < usual.bytes


# ---- deployed


def cut_off_the_integers() -> None:
    """Prefix, integer core and suffix as functions of their own."""
    mod, params = relay.testing.resnet.get_workload(num_layers=8, image_shape=(3, 16, 16), num_classes=10)
    with relay.quantize.qconfig(
        skip_conv_layers=[], skip_dense_layer=False, partition_conversions="enabled", global_scale=4.0
    ):
        qmod = relay.quantize.quantize(mod, params)
    functions = sorted(var.name_hint for var in qmod.get_global_vars() if "quantize" in var.name_hint)
    print("functions:", ", ".join(functions))
    assert functions == ["dequantize_outputs", "quantize_inputs", "quantized_main"]


def deploy() -> None:
    """A trained network: relay.build, the graph executor, digits read right, a comparison with the definition."""
    demo = load_demo()  # one scale for a whole weight, as in Relay, loses most of its digits: tutorial 07
    mod, params = relay.frontend.from_onnx(demo.model, shape={"image": (1, 1, 16, 16)})
    lib = relay.build(tvmq.quantize(*tvmq.from_relax(mod.relax, params), demo.calibration[:32], guard=None), "llvm")
    runtime = graph_executor.GraphModule(lib["default"](tvm.cpu()))
    scores = []
    for picture in demo.test[:200]:
        runtime.set_input("image", picture[None])
        runtime.run()
        scores.append(runtime.get_output(0).numpy())
    correct = (np.concatenate(scores).argmax(1) == demo.labels[:200]).mean()
    verification = tvmq.verify(lib.executable, {"image": demo.test[:2]})
    print(f"int8: {correct:.1%} of the digits; {str(verification).strip()}")
    assert verification.exact and correct > 0.9


def main() -> None:
    """The steps of the text, in its order."""
    run_the_printed_script()
    quantize_by_passes()
    separate_losses()
    compare_thresholds()
    search()
    cut_off_the_integers()
    deploy()


if __name__ == "__main__":
    main()
