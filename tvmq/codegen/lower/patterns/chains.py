"""Which bindings become one kernel: a head, what comes before it (padding) and what follows it (bias, requantize, ...).

    [pad ->] conv2d -> add constant -> requantize -> tvmq.add of another tensor -> table          integer
    matmul or conv2d -> add constant -> dequantize [-> floats, element by element [-> quantize]]   integer to float
    conv2d -> add constant -> relu / clip                                                          float
    multiply / sum / sum_pool -> requantize
    tvmq.matmul -> requantize or dequantize -> permute_dims of all but the last axis               attention
    matmul of two float tensors -> permute_dims of all but the last axis                           attention in float
    tvmq.matmul -> dequantize -> [add ->] softmax -> quantize -> such a chain                      attention as a whole
    [add of two tensors ->] layer_norm or rms_norm -> [quantize]                                   residual streams
    reshape -> permute_dims -> reshape of codes                                                    depth-to-space
    [sums -> dynamic_dequantize -> floats ->] dynamic_scale -> dynamic_quantize                    scales of a run
    tvmq.matmul -> ... softmax -> ... dynamic_quantize -> tvmq.matmul -> dynamic_dequantize        attention of a run

Only a tensor with one reader disappears inside a kernel. A sum of two convolutions goes to the later one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from tvm import relax

from tvmq.codegen.lower.patterns.float_chain import chain_behind
from tvmq.codegen.lower.patterns.run_time_codes import DEQUANTIZE, SCALE, codes_of_rows, floats_of_rows
from tvmq.codegen.lower.patterns.subgraphs import NORMS, around_norm, attention_before, shuffle_at
from tvmq.codegen.lower.patterns.token_attention_parts import token_attention_at
from tvmq.graph.operators import where
from tvmq.graph.operators.record import CONVOLUTION, PRODUCT, TRANSPOSED
from tvmq.graph.view import View, const_value, dtype_of, is_const, op_name, rank_of, shape_of, sizes_of
from tvmq.numerics.code_type import CODES_8

CONVOLUTIONS = where(kind=CONVOLUTION)
PLANAR = ("nn.conv1d", "nn.conv2d")
HEADS = CONVOLUTIONS | where(kind=TRANSPOSED) | where(kind=PRODUCT, is_own=False)
REDUCERS = ("tvmq.multiply", "tvmq.sum", "tvmq.sum_pool")
ATTENTION = "tvmq.matmul"
Floats = Callable[[str, int], list[str]]


@dataclass
class Chain:
    """Bindings that become one kernel.

    head     the binding whose operator chooses the rule
    members  all bindings in order; the last one is the result
    """

    head: str
    members: list[str]

    @property
    def result(self) -> str:
        """The variable that exists afterwards."""
        return self.members[-1]

    def after_head(self) -> list[str]:
        """Members behind the head."""
        return self.members[self.members.index(self.head) + 1 :]


def find_chains(
    view: View, *, gpu: bool = False, fused_kernels: bool = False, long_kernels: bool = True
) -> dict[str, Chain]:
    """All chains of more than one binding, keyed by their result.

    gpu            convolutions end in codes alone, grouped ones in those of 8 bits
    fused_kernels  there are kernels for all of an attention (its second product is then the head), for norms with what
                   is around them, and for floats behind the sums of a product
    long_kernels   functions such as exp may be among these: code for each vector of a tile, a second to compile
    """
    owned: set[str] = set()
    chains: dict[str, Chain] = {}
    if fused_kernels:
        _add_token_attention(view, owned, chains)
    encoders: dict[str, list[str]] = {}
    floats = partial(chain_behind, view, owned=owned, long_kernels=long_kernels) if fused_kernels else None
    for var, value in reversed(view.bindings):
        name = op_name(value)
        shuffle = shuffle_at(view, var.name) if name == "reshape" and var.name not in owned else None
        if shuffle is not None:
            owned.update(shuffle.members)
            chains[var.name] = Chain(shuffle.members[0], shuffle.members)
        if fused_kernels and name in NORMS:
            members = around_norm(view, var.name, owned)
            owned.update(members)
            chains[members[-1]] = Chain(var.name, members)
        if fused_kernels and name in (SCALE, DEQUANTIZE) and var.name not in owned:
            _add_row_codes(view, var.name, owned, chains, encoders)
        if var.name in owned or name not in (*HEADS, *REDUCERS, ATTENTION):
            continue
        members = _before(view, var.name) + [var.name]
        if _of_two_floats(value):
            _follow(view, members, owned, partial(_moves_rows, last=rank_of(var) - 1))
        elif name in HEADS:
            _after_product(view, members, owned, adds=name not in where(kind=TRANSPOSED), gpu=gpu, floats=floats)
        elif name == ATTENTION:
            _after_attention(view, members, owned)
            members = (_whole_attention(view, members) if fused_kernels else []) + members
        else:
            _follow(view, members, owned, _to_codes)
        owned.update(members)
        if len(members) > 1:
            chains[members[-1]] = Chain(var.name, members)
    return chains


def _add_token_attention(view: View, owned: set[str], chains: dict[str, Chain]) -> None:
    """Add each attention with scales for single tokens."""
    for var, value in view.bindings:
        parts = token_attention_at(view, var.name) if op_name(value) == ATTENTION else None
        if parts is not None:
            owned.update(parts.members)
            chains[parts.members[-1]] = Chain(var.name, parts.members)


def _add_row_codes(
    view: View, name: str, owned: set[str], chains: dict[str, Chain], encoders: dict[str, list[str]]
) -> None:
    """Add the chain of a dynamic_scale, or of a dynamic_dequantize, which takes in that of the scale behind it."""
    if op_name(view.value[name]) == SCALE:
        members = codes_of_rows(view, name)
        if members:
            encoders[view.value[name].args[0].name] = members
    else:
        members = floats_of_rows(view, name, owned, encoders)
    if members:
        owned.update(members)
        chains[members[-1]] = Chain(name, members)


def _of_two_floats(value: relax.Expr) -> bool:
    """True for the product of two float tensors that are both computed."""
    if op_name(value) != "matmul" or any(is_const(arg) for arg in value.args):
        return False
    return all(dtype_of(arg) == "float32" for arg in value.args)


def _before(view: View, head: str) -> list[str]:
    """Constant padding of the picture that only a convolution without padding of its own reads."""
    value = view.value[head]
    source = value.args[0]
    producer = view.producer(source)
    if op_name(value) not in CONVOLUTIONS or producer is None or op_name(producer) != "nn.pad":
        return []
    if producer.attrs.pad_mode != "constant" or view.only_reader(source.name) is None:
        return []
    width = [int(w) for w in producer.attrs.pad_width]
    if any(width[:4]) or min(width) < 0 or any(int(p) for p in value.attrs.padding):
        return []
    if dtype_of(source) == "float32" and float(producer.attrs.pad_value) != 0.0:
        return []  # the templates for floats know a border of zeros only
    return [source.name]


def _after_product(
    view: View, members: list[str], owned: set[str], *, adds: bool, gpu: bool, floats: Floats | None
) -> None:
    """Bias and what follows.

    adds    the codes leave the kernel where those of another tensor could be added
    floats  (dequantize of sums, axis of channels) -> what kernels do behind it; None: nothing
    """
    head, follow = members[-1], partial(_follow, view, members, owned)
    integer = dtype_of(view.var[head]) == "int32"
    follow(lambda call: _is_bias(view, members[-1], call))
    if not integer:
        follow(lambda call: op_name(call) in ("nn.relu", "clip"))
        return
    axis = _channels_of_floats(view, head, gpu)
    if axis is not None and follow(lambda call: op_name(call) == "tvmq.dequantize" and _scales_sums(call, axis)):
        members += floats(members[-1], axis) if floats else []
        return
    if _widens(view, head, gpu) and follow(
        lambda call: _to_codes(call, "int16") and not (gpu and call.attrs.mode != "float")
    ):
        return
    if not follow(_to_codes):
        return
    if adds:
        follow(lambda call: _is_sum_of_known(view, members[-1], call))
    follow(_is_code_table)


def _channels_of_floats(view: View, head: str, gpu: bool) -> int | None:
    """Axis of the channels of a product whose kernels also write floats; None for others, and convolutions of GPUs."""
    value = view.value[head]
    if op_name(value) == "matmul":
        return rank_of(view.var[head]) - 1
    return 1 if op_name(value) in PLANAR and not gpu else None


def _to_codes(call: relax.Call, *dtypes: str) -> bool:
    """True for a requantize that the kernels have: to 8 bits or codes of these types."""
    if op_name(call) != "tvmq.requantize":
        return False
    return call.attrs.dtype in (dtypes or CODES_8) and (not dtypes or call.attrs.negative_slope == 1)


def _widens(view: View, head: str, gpu: bool) -> bool:
    """True for products whose kernels also write 16-bit codes: not transposed ones, nor grouped ones on GPUs."""
    value = view.value[head]
    if op_name(value) == "matmul":
        return True
    return op_name(value) in CONVOLUTIONS and not (gpu and int(value.attrs.groups) > 1)


def _after_attention(view: View, members: list[str], owned: set[str]) -> None:
    """The scale, one or one a column, and a transpose that leaves rows in one piece."""
    last = rank_of(view.var[members[0]]) - 1
    _follow(view, members, owned, lambda call: _scales_sums(call, last))
    if len(members) > 1:
        _follow(view, members, owned, lambda call: _moves_rows(call, last))


def _whole_attention(view: View, members: list[str]) -> list[str]:
    """Bindings before the second product of an attention whose result is codes or floats; none for others."""
    step = view.value[members[1]] if len(members) > 1 else None
    is_finished = step is not None and (op_name(step) == "tvmq.dequantize" or _to_codes(step))
    attention = attention_before(view, members[0]) if is_finished else None
    return [] if attention is None else attention.members


def _scales_sums(call: relax.Call, last: int) -> bool:
    """True for a requantize, or a dequantize without zero point, of one scale or one for each of the last axis."""
    if op_name(call) == "tvmq.requantize":
        return _to_codes(call) and call.attrs.axis in (-1, last)
    if op_name(call) != "tvmq.dequantize":
        return False
    return call.attrs.axis in (-1, last) and not const_value(call.args[2]).any()


def _moves_rows(call: relax.Call, last: int) -> bool:
    axes = call.attrs.axes if op_name(call) == "permute_dims" else None
    return axes is not None and int(axes[last]) in (-1, last)


def _follow(view: View, members: list[str], owned: set[str], accepts: Callable[[relax.Call], bool]) -> bool:
    """Extend a chain by the only reader of its end, if no other chain has it and it is accepted."""
    reader = view.only_reader(members[-1])
    if reader is None or reader in owned or not accepts(view.value[reader]):
        return False
    members.append(reader)
    return True


def _is_code_table(call: relax.Call) -> bool:
    """True for a table of 8-bit codes; tables of floats are looked up outside of the kernels."""
    return op_name(call) == "tvmq.table" and is_const(call.args[1]) and dtype_of(call) in CODES_8


def _is_bias(view: View, head: str, call: relax.Call) -> bool:
    """True for the sum of a product and a constant that varies along its channels only."""
    if op_name(call) != "add" or not is_const(call.args[1]):
        return False
    product = sizes_of(view.var[head])
    axis = len(product) - 1 if op_name(view.value[head]) == "matmul" else 1
    bias = shape_of(call.args[1])
    if len(bias) > len(product):
        return False
    full = (1,) * (len(product) - len(bias)) + bias
    return all(size == 1 or (at == axis and size == product[at]) for at, size in enumerate(full))


def _is_sum_of_known(view: View, name: str, call: relax.Call) -> bool:
    """True for tvmq.add of `name` and another tensor of its shape."""
    if op_name(call) != "tvmq.add":
        return False
    a, b = call.args
    if a.name == b.name or not {dtype_of(a), dtype_of(b), call.attrs.dtype} <= set(CODES_8):
        return False
    other = b if a.name == name else a
    return sizes_of(other) == sizes_of(view.var[name])
