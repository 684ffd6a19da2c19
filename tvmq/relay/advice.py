"""Advice what to do instead of a name of Relay that has no counterpart here: a table from names to texts.

Tests: tests/relay/test_names.py
"""

from __future__ import annotations

import fnmatch

_BUILDER = "write it with tvm.relax.BlockBuilder"
_GRADIENTS = "tvmq.training trains with the deployed integers (docs/training.md); in Relax: relax.transform.Gradient"
OWN_CODE = (
    "tvmq.Lowering(pattern, function) computes operators of the integer module by your code (docs/lowering.md), "
    "tvmq.extension.operator makes an operator of your own (docs/extending.md)"
)
_LAYOUTS = "layouts and kernels are chosen by tvmq.build; code of your own is a tvmq.Lowering (docs/lowering.md)"

# Pattern of names -> what to do; the first that fits counts
ADVICE = {
    # control flow and algebraic data types
    "*If": "keep one branch, or compute both and choose with relay.where; in Relax: tvm.relax.If",
    "*Match": "models here are straight lines; write the loop out, step by step",
    "*Ref[CRWT]*": "models here have no memory of their own; hand the state over as an input and an output",
    "GlobalVar": "put the called function into the caller: relay.bind, or call the relay.Function itself",
    "prelude*": "models here are straight lines of tensors; there are no lists, trees or other data types",
    "adt*": "models here are straight lines of tensors; there are no lists, trees or other data types",
    "loops*": "models here are straight lines; write the loop out, step by step",
    # code for operators
    "*register_strategy": OWN_CODE,
    "*register_*schedule": OWN_CODE,
    "*register_gradient": _GRADIENTS,
    "*register_alter_op_layout": _LAYOUTS,
    "*register_convert_op_layout": _LAYOUTS,
    "*register_*legalize": _LAYOUTS,
    "*register_external_compiler": "use tvmq.Lowering with a tvmq.extension.Codegen",
    "*alter_op_layout": _LAYOUTS,
    "op.strategy*": OWN_CODE,
    "strategy": OWN_CODE,
    "op.contrib*": "a chip or library is described by tvmq.Backend, its functions by tvmq.Lowering (docs/backends.md)",
    "contrib": "a chip or library is described by tvmq.Backend, its functions by tvmq.Lowering (docs/backends.md)",
    "*fixed_point_multiply_per_axis": "relay.fixed_point_multiply has one multiplier; one for each channel has "
    "tvmq.extension.ops.requantize(mode='fixed_point', axis=...)",
    "op.op.*": "operators are made by calls: relay.add(x, y); one of your own by tvmq.extension.operator",
    "frontend.common*": "read node.checked_type, which has shape and dtype, and relay.create_executor().evaluate(node)",
    "testing.temp_op_attr*": _LAYOUTS,
    "testing.py_converter*": "use relay.create_executor, or tvmq.reference.run",
    # quantized models of frameworks
    "qnn.*contrib_dense_pack": "use relay.qnn.op.dense; weights are packed when relay.build compiles them",
    "qnn.*requantize_config*": "give rounding= to relay.qnn.op.requantize",
    "qnn.op.legalizations*": _LAYOUTS,
    "qnn.transform*": "nothing is to do: relay.build compiles the operators of relay.qnn",
    "qnn*": "write the operator between relay.qnn.op.dequantize and quantize, which relay.transform."
    "FakeQuantizationToInteger makes integers; tvmq.from_onnx imports QuantizeLinear and DequantizeLinear so",
    "transform.fake*uantization*": "an operator of your own becomes integers by a tvmq.extension.Family "
    "(docs/extending.md)",
    # external code and hardware
    "vision.*": "use tvm.relax.op.vision behind the network; quantize the network without it",
    "nn.contrib_*": "use the operator without contrib_; layouts and Winograd are chosen by tvmq.build",
    "nn.sparse_*": "use the dense operator; tvmq packs weights when it builds",
    "nn.bitserial_*": "quantize with fewer bits: tvmq.qconfig(nbit_weight=4)",
    "nn.*_grad": _GRADIENTS,
    "nn.adaptive_max_pool*": "use relay.nn.max_pool2d where the size divides, else tvm.relax.op",
    "nn.fifo_buffer": "hand the state over as an input and an output",
    "nn.fast_softmax": "use relay.nn.softmax; its kernel is fast here",
    "nn.cross_entropy*": "a loss is for training; use tvm.relax.op.nn.cross_entropy_with_logits",
    "nn.nll_loss": "a loss is for training; use tvm.relax.op.nn.nll_loss",
    "nn.global_*_pool*d": "use relay.mean or relay.max over the spatial axes",
    "nn.adaptive_*": "use relay.mean over windows, or tvm.relax.op.nn",
    "nn.*_to_batch*": "use relay.reshape and relay.transpose",
    "nn.batch_to_*": "use relay.reshape and relay.transpose",
    "nn.depth_to_space": "use tvm.relax.op.nn.pixel_shuffle, or relay.reshape and relay.transpose",
    "nn.space_to_depth": "use relay.reshape and relay.transpose",
    "nn.upsampling3d": "use tvm.relax.op.image.resize3d",
    "nn.fast_*": "use the function without fast_; kernels are chosen by tvmq.build",
    "nn.mirror_pad": "use relay.nn.pad with pad_mode='reflect'",
    "nn.correlation": _BUILDER,
    "nn.deformable_conv2d": _BUILDER,
    "nn.dilate": "use relay.nn.conv2d_transpose, which has strides",
    "image.*": "use tvm.relax.op.image",
    "fast_*": "use the function without fast_; kernels are chosen by tvmq.build",
    "trunc_divide": "use relay.trunc(relay.divide(...)), or relay.floor_divide for numbers that are not negative",
    "trunc_mod": "use tvm.relax.op.mod",
    "log2": "use relay.log(x) * relay.const(1 / math.log(2))",
    "log10": "use relay.log(x) * relay.const(1 / math.log(10))",
    "logsumexp": "use relay.log(relay.sum(relay.exp(...)))",
    "all": "use relay.min of the mask as int8",
    "any": "use relay.max of the mask as int8",
    # indices and order
    "adv_index": "use tvm.relax.op.index_tensor",
    "gather*": "use tvm.relax.op.gather_elements or gather_nd",
    "scatter*": "use tvm.relax.op.scatter_elements or scatter_nd",
    "sequence_mask": "use relay.where with a mask from relay.arange",
    "reverse_sequence": "use tvm.relax.op.reverse_sequence",
    "sort": "use tvm.relax.op.sort",
    "argsort": "use tvm.relax.op.argsort",
    "topk": "use tvm.relax.op.topk",
    "cumsum": "use tvm.relax.op.cumsum",
    "cumprod": "use tvm.relax.op.cumprod",
    "one_hot": "use tvm.relax.op.one_hot",
    "einsum": "use tvm.relax.op.einsum",
    "meshgrid": "use tvm.relax.op.meshgrid",
    "unique": "use tvm.relax.op.unique",
    "slice_like": "use relay.strided_slice with the sizes of the other tensor",
    "collapse_sum_*": "use tvm.relax.op.collapse_sum_like",
    "matrix_set_diag": "use relay.where with a constant mask",
    "invert_permutation": "the order is a constant: use numpy.argsort",
    "shape_of": "sizes are known here: read node.checked_type.shape",
    "ndarray_size": "sizes are known here: read node.checked_type.shape",
    "unravel_index": "use relay.floor_divide and relay.floor_mod",
    "memory.*": "memory is planned by tvmq.build",
    "device_copy": "the target of tvmq.build decides where things run",
    "dyn.*": "give fixed shapes, or dynamic sizes in the model: docs/sizes.md",
    # passes, frontends, building
    "transform.MergeComposite": "use tvm.relax.transform.FuseOpsByPattern",
    "transform.PartitionGraph": "use tvm.relax.transform.FuseOpsByPattern and RunCodegen",
    "transform.AnnotateTarget": "use tvm.relax.transform.FuseOpsByPattern",
    "transform.MergeCompilerRegions": "use tvm.relax.transform.MergeCompositeFunctions",
    "transform.CombineParallelConv2D": "nothing is to do: tvmq.build chooses kernels for each convolution",
    "transform.AnnotateSpans": "operators have names, which messages and tvmq.explain use; there are no spans",
    "transform.FirstOrderGradient": _GRADIENTS,
    "transform.gradient": _GRADIENTS,
    "transform.*": "look for it in tvm.relax.transform",
    "analysis.*": "look for it in tvm.relax.analysis",
    "dataflow_pattern*": "use tvm.relax.dpl, whose patterns tvmq.Lowering takes",
    "collage*": "use tvm.relax.transform.FuseOpsByPattern",
    "nn.*": "look for it in tvm.relax.op.nn",
    "backend*": "nothing of Relay's back ends is left; use tvmq.build",
    "debug*": "use exe.profile(inputs) of tvmq.build's result",
}


def advice(name: str) -> str:
    """Advice what to do instead of a name ("nn.x", "transform.X", "x").

    >>> advice("nn.bitserial_conv2d")
    'quantize with fewer bits: tvmq.qconfig(nbit_weight=4)'
    >>> advice("nothing_of_the_kind")
    'it is not here; docs: MIGRATING.md'
    """
    return way_round(name) or "it is not here; docs: MIGRATING.md"


def way_round(name: str) -> str | None:
    """The entry of the table for a name or a module's path, None without one.

    >>> way_round("nothing_of_the_kind") is way_round("op.op") is None
    True
    """
    return next((text for pattern, text in ADVICE.items() if fnmatch.fnmatchcase(name, pattern)), None)
