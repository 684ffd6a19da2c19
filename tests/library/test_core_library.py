"""The integer core as a library: quantize, core, dequantize give the bits of the definition; what is no core."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import numpy as np
import pytest
import tvm

import tvmq
from tests.library.conftest import quantize_digits
from tests.library.test_export_library import STRICT, needs_gcc
from tests.library.test_selftest import SelfTest
from tests.support.models.networks import parse, text_of
from tvmq.errors import IntegralError, StageError
from tvmq.graph.view import View
from tvmq.library.core_module import check_ends
from tvmq.library.library_export import LibraryExport
from tvmq.passes.partition_conversions import partition_conversions
from tvmq.runtime.artifact.native_library import runs_linux_x86

pytestmark = pytest.mark.skipif(not runs_linux_x86(), reason="libraries are opened on Linux on x86-64 only")


@pytest.fixture(scope="module")
def core(digits, tmp_path_factory) -> LibraryExport:
    """The core of the embedded network."""
    return tvmq.export_library(digits.module, tmp_path_factory.mktemp("core") / "digits", core=True)


@pytest.mark.slow
def test_the_core_between_the_conversions_gives_the_bits_of_the_definition(core, digits):
    model, parts = tvmq.load(core.library.parent), partition_conversions(digits.module)
    for picture, expected in zip(digits.pictures, digits.expected, strict=True):
        (codes,) = tvmq.reference.run(parts, {"image": picture[None]}, function="quantize_inputs")
        sums = model(codes)
        np.testing.assert_array_equal(sums, tvmq.reference.run(parts, [codes], function="quantized_main")[0])
        (scores,) = tvmq.reference.run(parts, [sums], function="dequantize_outputs")
        np.testing.assert_array_equal(scores, expected)


def test_its_description_has_what_converts_the_ends(core, digits):
    model = tvmq.load(core.library.parent)
    parts = tvmq.build(partition_conversions(digits.module))["quantized_main"]
    assert (model.input_info, model.output_info) == (parts.input_info, parts.output_info)
    ((taken,), (given,)) = model.input_info, model.output_info
    picture = digits.pictures[:1]
    codes = np.clip(np.rint(picture / np.float32(taken.scale)) + taken.zero_point, 0, 255).astype(taken.dtype)
    scores = model(codes).astype("float32") * np.asarray(given.scale, "float32")
    np.testing.assert_array_equal(scores, digits.expected[0])
    assert json.loads(core.facts.read_text())["core"] is True


def test_its_self_test_compares_layers(core):
    test = SelfTest(core.library, "digits")
    assert test.init() == 0
    status, compared, number, layer = test.run()
    assert (status, number, layer) == (0, compared, None) and compared > 5


def test_a_library_alone_tells_the_scale_of_its_codes(core, tmp_path):
    shutil.copy(core.library, tmp_path / "deploy.so")
    alone, beside = tvmq.load(tmp_path / "deploy.so"), tvmq.load(core.library.parent)
    assert alone.input_info == beside.input_info


@needs_gcc
def test_the_header_has_scales_of_channels(core, tmp_path):
    (tmp_path / "use.c").write_text(
        '#include <stdio.h>\n#include "digits.h"\n'
        "static const float scales[] = DIGITS_OUTPUT_0_SCALES;\n"
        "int main(void)\n{\n"
        "    fwrite(scales, 1, sizeof scales, stdout);\n    return DIGITS_OUTPUT_0_ZERO_POINT;\n}\n"
    )
    flags = ["-std=c99", *STRICT, "-I", core.library.parent]
    subprocess.run(["gcc", *flags, tmp_path / "use.c", "-o", tmp_path / "use"], check=True)
    scales = subprocess.run([tmp_path / "use"], check=True, capture_output=True).stdout
    np.testing.assert_array_equal(np.frombuffer(scales, "float32"), np.float32(tvmq.load(core.library.parent).output_info[0].scale))


@pytest.mark.slow
def test_a_fully_integral_executable(tmp_path):
    with tvmq.qconfig(requantize="fixed_point", partition_conversions="fully_integral"):
        module = quantize_digits()
    export = tvmq.export_library(tvmq.build(module), tmp_path / "digits", core=True)
    assert "float" not in json.dumps(json.loads(export.facts.read_text())["outputs"])
    codes = np.random.default_rng(0).integers(0, 256, (1, 1, 16, 16), "uint8")
    expected = tvmq.reference.run(module, [codes], function="quantized_main")
    np.testing.assert_array_equal(tvmq.load(export.library)(codes), expected[0])



def quantize_convolutions(body: str, **options: Any) -> tvm.IRModule:
    """A network of convolutions, 4 channels each, with weights w."""
    rng = np.random.default_rng(0)
    mod = parse(text_of('x: R.Tensor((1, 4, 6, 6), "float32"), w: R.Tensor((4, 4, 3, 3), "float32")', body, inputs=1))
    params = {"w": rng.normal(size=(4, 4, 3, 3)).astype("float32")}
    with tvmq.qconfig(calibrate_mode="minmax", weight_rounding="nearest", bias_correction=False, **options):
        return tvmq.quantize(mod, params, [{"x": rng.normal(size=(1, 4, 6, 6)).astype("float32")}], guard=None)


def test_ends_that_are_no_codes_are_refused(tmp_path):
    module = quantize_convolutions("a = R.nn.conv2d(x, w, padding=1)\ny = R.add(a, x)")
    with pytest.raises(IntegralError, match="export_library: the core takes 'x' as float32, for layer 'y'; quantize with"):
        tvmq.export_library(module, tmp_path / "m", core=True)
    two = "a = R.nn.conv2d(x, w, padding=1)\nb = R.nn.relu(a)\ny = R.nn.conv2d(b, w, padding=1)"
    module = quantize_convolutions(two, skip_conv_layers=[1])
    with pytest.raises(IntegralError, match="the core would end before layer 'y' behind the core: nn.conv2d in float32"):
        tvmq.export_library(module, tmp_path / "m", core=True)
    codes = text_of('x: R.Tensor((2, 3), "uint8")', 'y = R.astype(x, "float32")', inputs=1)
    with pytest.raises(IntegralError, match="export_library: the core gives float32, the result of layer 'y'; quantize"):
        check_ends(View(parse(codes)))
    floats = parse(text_of('x: R.Tensor((2, 3), "float32")', "y = R.nn.relu(x)", inputs=1))
    with pytest.raises(StageError, match="export_library: core=True takes a quantized model, this one is in floats"):
        tvmq.export_library(floats, tmp_path / "m", core=True)
    assert list(tmp_path.iterdir()) == []
