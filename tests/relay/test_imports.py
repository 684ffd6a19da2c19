"""Import statements of TVM's quantizer tests, tutorials and internals (v0.10 to v0.19), by MIGRATING's rule: each runs,
or the statement itself says the way round."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
import tvm as today

from tests.relay.test_names import NAMES
from tvmq import relay

RUN = """
from tvm import relay
from tvm import autotvm, relay
from tvm import te
import tvm.testing
import tvm.topi.testing
import tvm.relay.testing
import tvm.relay.op as reg
import tvm.relay.transform as _transform
import tvm.contrib.graph_executor as runtime
from tvm.relay import analysis, transform
from tvm.relay import expr as _expr
from tvm.relay import testing
from tvm.relay import expr_functor
from tvm.relay.analysis import free_vars
from tvm.relay.backend import Executor, Runtime
from tvm.relay.build_module import bind_params_by_name
from tvm.relay.expr import Call, Constant, Function
from tvm.relay.expr_functor import ExprMutator, ExprVisitor
from tvm.relay.function import Function
from tvm.relay.op.annotation import compiler_begin, compiler_end
from tvm.relay.op import nn
from tvm.relay.op.nn import conv2d
from tvm.relay.op.op import Op, get
from tvm.relay import register_compute
from tvm.relay.op import register_compute, register_injective_schedule, register_pattern, OpPattern
from tvm.relay.op.op import register_compute, register_schedule, schedule_injective
from tvm.relay.param_dict import load_param_dict
from tvm.relay import qnn
import tvm.relay.qnn as qnn
from tvm.relay.qnn.op import conv2d, dense, quantize, dequantize, requantize
from tvm.relay.qnn.op import conv2d_transpose, leaky_relu, sigmoid, hardswish, simulated_quantize, simulated_dequantize
from tvm.relay.transform import FakeQuantizationToInteger
from tvm.relay.quantize import quantize
from tvm.relay.quantize.quantize import quantize_context, current_qconfig, QAnnotateKind
from tvm.relay.quantize._annotate import register_annotate_function, QAnnotateExpr
from tvm.relay.quantize._annotate import attach_simulated_quantize
from tvm.relay.quantize._calibrate import _find_scale_by_kl, collect_stats
from tvm.relay.quantize._partition import QPartitionExpr
from tvm.relay.quantize._partition_conversions import partition_conversions
from tvm.relay.quantize.kl_divergence import _find_scale_by_kl
from tvm.relay.scope_builder import ScopeBuilder
from tvm.relay.testing import create_workload, run_infer_type, run_opt_pass
from tvm.relay.testing import mlp, resnet
from tvm.relay.testing.mlp import get_workload
from tvm.relay.ty import TensorType
from tvm.topi.utils import get_const_tuple
from tvm.topi.testing import conv2d_nchw_python
from tvm.topi.nn.qnn import SQNN_DTYPE_TO_CODE
from tvm.ir import IRModule, structural_equal
from tvm.ir.transform import Sequential
from tvm.ir.instrument import pass_instrument
from tvm.target import Target
from tvm.transform import PassContext
from tvm.contrib import graph_executor, utils
from tvm.contrib.download import download_testdata
from tvm.contrib.debugger import debug_executor
from tvm.runtime.vm import VirtualMachine
import tvm.driver
import tvm.micro
import tvm.auto_scheduler as auto_scheduler
from tvm import meta_schedule as ms
""".strip().splitlines()

REFUSED = [line.split(" # ") for line in """
import tvm.relay.qnn.op.legalizations # chosen by tvmq.build
from tvm.relay.qnn.transform import CanonicalizeOps # relay.build compiles
from tvm.relay.qnn.op import requantize_config # give rounding=
from tvm.relay.qnn.op import register_qnn_legalize # chosen by tvmq.build
from tvm.relay.qnn.op import softmax # FakeQuantizationToInteger
from tvm.relay.transform.fake_quantization_to_integer import register_fake_quantization_to_integer # extension.Family
from tvm.relay import dataflow_pattern # tvm.relax.dpl
from tvm.relay.dataflow_pattern import * # tvm.relax.dpl
from tvm.relay.dataflow_pattern import is_op, wildcard # tvm.relax.dpl
from tvm.relay.op.op import register_alter_op_layout # chosen by tvmq.build
from tvm.relay.op import register_strategy # tvmq.extension.operator
from tvm.relay.op import strategy # docs/lowering.md
from tvm.relay.op import fixed_point_multiply_per_axis # mode='fixed_point'
from tvm.relay.op.strategy.generic import * # docs/lowering.md
from tvm.relay.op.contrib import get_pattern_table # tvmq.Backend
from tvm.relay.op.contrib.dnnl import partition_for_dnnl # tvmq.Backend
from tvm.relay.prelude import Prelude # straight lines
from tvm.relay.adt import TypeData # straight lines
from tvm.relay.loops import while_loop # write the loop out
from tvm.relay.frontend.common import infer_type # checked_type
from tvm.relay.testing.temp_op_attr import TempOpAttr # chosen by tvmq.build
from tvm.relay.backend.te_compiler import select_implementation # use tvmq.build
from tvm.relay.nn import bitserial_conv2d # nbit_weight=4
from tvm.relay.transform import PartitionGraph # FuseOpsByPattern
from tvm.relay.analysis import detect_feature # tvm.relax.analysis
from tvm.relay import If # relay.where
from tvm.relay.expr import If # relay.where
from tvm.relay.testing import tf # through ONNX
from tvm.driver import tvmc # tvmq quantize
import tvm.driver.tvmc # tvmq quantize
from tvm.autotvm.tuner import XGBTuner # tune=seconds
from tvm.auto_scheduler import SearchTask # tune=seconds
import tvm.micro.testing # tvmq.export_c
from tvm.contrib import cc # graph_executor and debugger
from tvm.contrib.cc import cross_compiler # graph_executor and debugger
from tvm.relay.quantize._annotate import conv2d_rewrite # passes/families
""".strip().splitlines()]


def rewritten(statement: str) -> str:
    """The statement by the first rule of MIGRATING.md that fits."""
    if re.search(r"\btvm\.relay\b", statement):
        return re.sub(r"\btvm\.relay\b", "tvmq.relay", statement)
    if statement == "from tvm import relay":
        return "from tvmq import relay"
    return re.sub(r"^(from|import) tvm\b", r"\1 tvmq.relay.tvm", statement)


@pytest.mark.parametrize("statement", RUN)
def test_runs(statement):
    names: dict[str, object] = {}
    exec(rewritten(statement), names)
    assert len(names) > 1


@pytest.mark.parametrize("statement, way", REFUSED, ids=[statement for statement, _ in REFUSED])
def test_the_statement_says_the_way_round(statement, way):
    with pytest.raises(ImportError) as refusal:
        exec(rewritten(statement), {})
    message = str(refusal.value)
    assert way in message and "No module named" not in message and "\n" not in message


def test_names_that_nobody_has_are_pythons_own_error():
    for statement in ("from tvmq.relay.expr import nothing", "import tvmq.relay.quantize.nothing"):
        with pytest.raises(ImportError, match="nothing"):
            exec(statement, {})


@pytest.mark.slow
def test_a_module_of_tvm_is_tvms_own_whichever_way_it_is_reached():
    script = (
        "import tvmq.relay.tvm.topi.testing, tvmq.relay.tvm.testing.utils, tvm.topi.testing\n"
        "from tvmq.relay import tvm as ours\n"
        "assert ours.topi is tvm.topi and ours.topi.testing is tvm.topi.testing and ours.testing is tvm.testing\n"
        "assert tvm.topi.__spec__.name == 'tvm.topi' and ours.testing.utils is tvm.testing.utils\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("name", [name for name in NAMES if "." not in name])
def test_every_name_can_be_imported(name):
    exec(f"from tvmq.relay import {name}", {})


@pytest.mark.parametrize("name", [
    "fixed_point_multiply_per_axis",
    "op.strategy", "op.register_strategy", "op.register_alter_op_layout", "dataflow_pattern", "op.contrib",
])  # fmt: skip
def test_attributes_say_the_way_round_too(name):
    from functools import reduce

    with pytest.raises(AttributeError, match=r"tvmq\.|tvm\.relax"):
        reduce(getattr, name.split("."), relay)


def test_equality_of_structures_is_where_it_is_today():
    import tvm_ffi

    assert relay.tvm.ir.structural_equal is tvm_ffi.structural_equal and relay.tvm.ir.Op is today.ir.Op
