"""Functionals equal the layer of a network that was quantized and built: no code differs. What they refuse."""

import numpy as np
import pytest
from tvm import relax

import tvmq
import tvmq.functional as F
from tvmq.errors import AccumulatorError, ConfigError, RangeError
from tvmq.graph.ledger import get_ledger
from tvmq.numerics.spec import QParams, QuantSpec

PLAIN = {"calibrate_mode": "minmax", "weight_scale": "max", "weight_rounding": "nearest"}
PLAIN |= {"bias_correction": False, "outlier_channels": False}
FIXED = {"requantize": "fixed_point"}
INTEGRAL = FIXED | {"partition_conversions": "fully_integral"}  # nothing stays float between float operators
INT8 = {"dtype_input": "int8", "scheme": "symmetric"}
FILTERS = QuantSpec("int8", symmetric=True, per_channel=True)


def normal(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).normal(size=shape).astype(np.float32)


def network(layer, shapes):
    """The layer, and a product that reads its result as codes, so that it has a scale."""
    params = [relax.Var(f"x{i}", relax.TensorType(shape, "float32")) for i, shape in enumerate(shapes)]
    builder = relax.BlockBuilder()
    with builder.function("main", params):
        with builder.dataflow():
            y = layer(builder.emit, *params)
            head = builder.emit(relax.op.matmul(y, relax.const(normal(int(y.ty.shape[-1]), 2))))
            output = builder.emit_output(relax.Tuple([y, head]))
        builder.emit_func_output(output)
    return builder.get()


def compare(layer, functional, shapes, options):
    """The real values of the compiled network's codes, those of the functional, those of the functional compiled."""
    samples = [{f"x{i}": normal(*shape, seed=10 * n + i) for i, shape in enumerate(shapes)} for n in range(2)]
    with tvmq.qconfig(**PLAIN, **options) as config:
        qmod = tvmq.quantize(network(layer, shapes), None, samples, guard=None)
        entries = list(get_ledger(qmod).layers.values())
        assert all(entry["precision"] == "int8" for entry in entries), entries
        facts = zip(samples[0].values(), entries[0]["input"], strict=True)
        x = [tvmq.quantize_tensor(x, QParams(f["scale"], f["zero_point"], config.activation_spec)) for x, f in facts]
        result = {name: entries[-1]["input"][0][name] for name in ("scale", "zero_point")}
        y, compiled = functional(*x, **result), functional(*x, **result, target="llvm")
    expected = tvmq.build(qmod).run(samples[0])[0]
    assert len(np.unique(y.codes)) > min(16, y.size // 3)
    np.testing.assert_array_equal(np.asarray(y), expected)
    np.testing.assert_array_equal(compiled.codes, y.codes)


def product(operator, functional, w, *, bias=True, windows=None, spec=FILTERS, **options):
    """Layer and functional with the same weight; windows by the names of Relax, options by those of the functional."""
    weight, constant = normal(*w), normal(w[0])
    factor = np.ascontiguousarray(weight.T) if operator is relax.op.matmul else weight

    def layer(emit, x):
        y = emit(operator(x, relax.const(factor), **(windows or {})))
        return emit(relax.op.add(y, relax.const(constant.reshape(-1, *[1] * (len(w) - 2))))) if bias else y

    def apply(x, **result):
        q = tvmq.quantize_tensor(weight, "max", spec, axis=0 if spec.per_channel else None)
        return functional(x, q, constant if bias else None, **options, **result)

    return layer, apply


def plain(operator, functional, **options):
    return lambda emit, *x: emit(operator(*x, **options)), functional


WINDOWS = {"strides": (2, 1), "padding": (1, 0, 1, 0), "dilation": (1, 2), "groups": 2}
CASES = {
    "linear": (*product(relax.op.matmul, F.linear, (7, 12)), [(3, 12)], FIXED | INT8),
    "add": (*plain(relax.op.add, F.add), [(2, 3, 4), (3, 1)], INTEGRAL),
}  # fmt: skip
SLOW = {
    "conv2d": (*product(relax.op.nn.conv2d, F.conv2d, (3, 4, 3, 3), windows={"padding": 1}, padding=1), [(2, 4, 5, 6)], {}),
    "avg_pool": (
        *plain(relax.op.nn.avg_pool2d, lambda x, **result: F.avg_pool(x, 3, stride=2, padding=1, **result),
               pool_size=3, strides=2, padding=1, count_include_pad=True),
        [(1, 3, 7, 7)], INTEGRAL,
    ),
    "conv1d": (*product(relax.op.nn.conv1d, F.conv1d, (3, 4, 3), windows={"padding": 2}, padding=2), [(2, 4, 9)], FIXED),
    "conv3d": (*product(relax.op.nn.conv3d, F.conv3d, (3, 2, 2, 2, 2), bias=False), [(1, 2, 4, 5, 3)], {}),
    "conv2d windows": (
        *product(relax.op.nn.conv2d, F.conv2d, (6, 2, 3, 3), windows=WINDOWS, stride=(2, 1), padding=(1, 0),
                 dilation=(1, 2), groups=2),
        [(2, 4, 9, 8)], INT8,
    ),
    "depthwise": (
        *product(relax.op.nn.conv2d, F.conv2d, (8, 1, 3, 3), windows={"groups": 8}, groups=8), [(1, 8, 6, 6)], FIXED),
    "conv2d one scale": (
        *product(relax.op.nn.conv2d, F.conv2d, (5, 3, 2, 2), spec=QuantSpec("int8", symmetric=True)),
        [(1, 3, 6, 6)], {"per_channel": False},
    ),
    "conv2d 4 bits": (
        *product(relax.op.nn.conv2d, F.conv2d, (5, 3, 2, 2), spec=QuantSpec("int8", 4, symmetric=True, per_channel=True)),
        [(1, 3, 6, 6)], {"nbit_weight": 4},
    ),
    "conv2d 6 bit codes": (*product(relax.op.nn.conv2d, F.conv2d, (5, 3, 2, 2)), [(1, 3, 6, 6)], {"nbit_input": 6}),
    "linear 3d": (*product(relax.op.matmul, F.linear, (7, 12), bias=False), [(2, 3, 12)], {}),
    "linear power of two": (*product(relax.op.matmul, F.linear, (5, 9)), [(4, 9)], {"rounding": "TONEAREST"} | FIXED),
    "matmul": (*plain(relax.op.matmul, F.matmul), [(2, 3, 4), (2, 4, 5)], {}),
    "matmul int8": (*plain(relax.op.matmul, F.matmul), [(3, 4), (4, 5)], FIXED | INT8),
    "mul": (*plain(relax.op.multiply, F.mul), [(2, 3, 4), (2, 1, 4)], INTEGRAL),
    "add int8": (*plain(relax.op.add, F.add), [(5, 4), (5, 4)], INTEGRAL | INT8),
    "cat": (
        lambda emit, *x: emit(relax.op.concat(list(x), 1)), lambda *x, **result: F.cat(x, 1, **result),
        [(2, 3, 4), (2, 1, 4)], INTEGRAL,
    ),
    "max_pool": (
        *plain(relax.op.nn.max_pool2d, lambda x, **result: F.max_pool(x, (3, 2), stride=2, padding=(1, 0),
               target=result.get("target")), pool_size=(3, 2), strides=2, padding=(1, 0)),
        [(1, 3, 7, 6)], INTEGRAL,
    ),
    "relu behind": (
        lambda emit, *x: emit(relax.op.nn.relu(emit(relax.op.add(*x)))),
        lambda *x, **result: F.relu(F.add(*x, **result)),
        [(9, 12), (9, 12)], INTEGRAL,
    ),
    "avg_pool of the border": (
        *plain(relax.op.nn.avg_pool1d, lambda x, **result: F.avg_pool(x, 3, stride=1, padding=1, count_include_pad=False,
               **result), pool_size=3, strides=1, padding=1, count_include_pad=False),
        [(1, 3, 9)], INTEGRAL,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_functional_is_the_layer_of_a_network(name):
    compare(*CASES[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_functional_is_the_layer_of_a_network_in_all_forms(name):
    compare(*SLOW[name])


X = tvmq.quantize_tensor(normal(1, 2, 4, 4), "minmax")
W = tvmq.quantize_tensor(normal(3, 2, 3, 3), "max", FILTERS, axis=0)
TO = {"scale": 0.1, "zero_point": 128}


def test_type_and_scale_of_the_result():
    y = F.conv2d(X, W, scale=0.1, zero_point=-3, spec=QuantSpec("int8", 4))
    assert y.qparams == QParams(0.1, -3, QuantSpec("int8", 4)) and y.codes.min() == -8 and y.codes.max() == 7
    assert F.avg_pool(X, 2).qparams == F.max_pool(X, 2).qparams == X.qparams
    np.testing.assert_array_equal(F.cat([X, X[:, :1]], 1, scale=X.scale, zero_point=X.zero_point).codes[:, :2], X.codes)


@pytest.mark.parametrize(("call", "error", "message"), [
    (lambda: F.conv2d(normal(1, 2, 4, 4), W, **TO), ConfigError, "x must be a QTensor. Got ndarray instead; tvmq.quant"),
    (lambda: F.conv1d(X, W, **TO), ConfigError, r"functional.conv1d: x must have 3 axes. Got shape \(1, 2, 4, 4\)"),
    (lambda: F.conv2d(X, W.transpose(1, 0, 2, 3), **TO), ConfigError,
     "w must have one scale, or one for each channel of axis 0. Got 3 on axis 1 instead; quantize its .dequantize"),
    (lambda: F.add(W, X, **TO), ConfigError, "functional.add: a must have one scale. Got 3 on axis 0 instead"),
    (lambda: F.cat([X, X.codes], **TO), ConfigError, r"functional.cat: parts\[1\] must be a QTensor. Got ndarray"),
    (lambda: F.relu(X.codes), ConfigError, "functional.relu: x must be a QTensor. Got ndarray instead"),
    (lambda: F.cat([], **TO), ConfigError, "functional.cat: there are no parts; give one tensor or more"),
    (lambda: F.conv2d(X, W), ConfigError, "functional.conv2d: the scale of the result is missing; give scale= and zero"),
    (lambda: F.mul(X, X, scale=0.1), ConfigError, "functional.mul: the scale of the result is missing"),
    (lambda: F.avg_pool(X, 2, zero_point=3), ConfigError, "functional.avg_pool: the scale of the result is missing"),
    (lambda: F.conv2d(X, W, normal(2), **TO), ConfigError, r"bias must have shape \(3,\). Got \(2,\) instead"),
    (lambda: F.conv2d(X, W, stride=(1, 1, 1), **TO), ConfigError, r"stride must be an int or 2 of them. Got \(1, 1, 1\)"),
    (lambda: F.conv2d(X, W, stride=1.5, **TO), ConfigError, "stride must be an int or 2 of them. Got 1.5 instead"),
    (lambda: F.conv2d(X, W, groups=0, **TO), ConfigError, "functional.conv2d: groups must be at least 1. Got 0 instead"),
    (lambda: F.conv2d(X, W, groups=1.5, **TO), ConfigError, "functional.conv2d: groups must be an int. Got 1.5 instead"),
    (lambda: F.conv2d(X, W, ["a", "b", "c"], **TO), ConfigError, "conv2d: bias must be real numbers: could not convert"),
    (lambda: F.cat([X, X], 0.5, **TO), ConfigError, "functional.cat: axis must be an int. Got 0.5 instead"),
    (lambda: F.cat(X, **TO), ConfigError, "functional.cat: parts must be a list of QTensors. Got QTensor instead"),
    (lambda: F.avg_pool([1.0], 2), ConfigError, "functional.avg_pool: x must be a QTensor. Got list instead"),
    (lambda: F.conv2d(X, W, padding=-1, **TO), ConfigError, "functional.conv2d: padding must be at least 0. Got -1"),
    (lambda: F.max_pool(X, 0), ConfigError, "functional.max_pool: kernel must be at least 1. Got 0 instead"),
    (lambda: F.max_pool(X, 9), ConfigError, "functional.max_pool: a tensor without values"),
    (lambda: F.conv2d(X, W, np.float32([0, np.nan, 0]), **TO), RangeError, "the bias of channel 1 is nan steps of its sum"),
    (lambda: F.conv2d(X, W, np.float32([0, 0, 1e30]), **TO), RangeError, "the bias of channel 2 is .*int32 ends at"),
    (lambda: F.conv2d(X, W, np.float32([0, 0, 1e9]), **TO), AccumulatorError, "int32 ends at 2147483647"),
    (lambda: F.max_pool(X[0, 0], 2), ConfigError, r"x must have 3 to 5 axes \(N, C, ...\). Got shape \(4, 4\) instead"),
    (lambda: F.conv2d(X, W[:, :1], **TO), ConfigError, r"shapes \(1, 2, 4, 4\), \(3, 1, 3, 3\) do not fit each other"),
    (lambda: F.conv2d(X, tvmq.QTensor(np.uint8([[[[0]], [[255]]]]), QParams(0.1, 0, QuantSpec())), **TO), ConfigError,
     "functional.conv2d: its weight is not quantized, or its codes minus the zero point leave int8"),
    (lambda: F.mul(*[tvmq.quantize_tensor(normal(4), "minmax", QuantSpec("int16", 16))] * 2, **TO), ConfigError,
     "functional.mul: multiply reads codes of 8 bits, not of 16"),
    (lambda: F.add(X, X, scale=-1.0, zero_point=0), RangeError, "scale must be finite and at least"),
    (lambda: F.add(X, X, scale=1e-9, zero_point=0), RangeError, "the inputs' are too far above the output's for int32"),
    (lambda: F.linear(tvmq.QTensor(np.zeros((1, 2**17), np.uint8), X.qparams),
                      tvmq.QTensor(np.full((1, 2**17), 127, np.int8), QParams(0.1, 0, QuantSpec("int8"))), **TO),
     AccumulatorError, "int32 ends at 2147483647"),
])  # fmt: skip
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()
