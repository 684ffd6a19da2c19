"""The bound on memory, and the output of models and of other libraries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from onnx import helper

import tvmq
from tests.support.models.onnx_models import make_model
from tvmq.base.foreign_errors import explain_exceptions, reason
from tvmq.base.memory import check_size, is_shortage, parse_bytes, usable_memory
from tvmq.base.text import printable, printable_name
from tvmq.errors import ConfigError, MemoryLimitError


@pytest.mark.parametrize("text", ["", "GB", "-1GB", "0", "1e9", "8 apples", "9" * 30 + "GB"])
def test_no_number_of_bytes(text: str) -> None:
    with pytest.raises(ConfigError, match="is no number of bytes; write 500MB"):
        parse_bytes(text)


def test_the_limit_of_the_process_counts() -> None:
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (1 << 38, before[1]))
    try:
        assert 0 < usable_memory() <= 1 << 38
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def test_dynamic_sizes_and_large_numbers() -> None:
    check_size(("batch", 10), "int8", 10, "here")
    with pytest.raises(
        MemoryLimitError, match=r"^here: int8\[batch, 11\] takes 11 B, the bound is 10 B; make it smaller"
    ):
        check_size(("batch", 11), "int8", 10, "here")
    with pytest.raises(MemoryLimitError, match="takes 4.0e[+]30 B"):
        check_size((10**15, 10**15), "float32", 2**63 - 1, "here")


def test_a_run_without_memory_is_one_sentence() -> None:
    """Both NumPy's message and that of TVM's memory pool become one sentence."""
    mod, params = tvmq.from_onnx(make_model([helper.make_node("Relu", ["x"], ["y"])], {"x": (1, 4)}, ["y"]))
    main = tvmq.build(mod, params=params)["main"]

    def raising(error: Exception) -> Callable[..., Any]:
        def code(*_tensors: Any) -> None:
            raise error

        return main.with_code(code).run

    feed = {"x": np.ones((1, 4), np.float32)}
    for shortage in (RuntimeError("trace\nstd::bad_alloc"), MemoryError()):
        with pytest.raises(
            MemoryLimitError, match=r"^run: memory ran out for inputs of the shapes x \(1, 4\); use smaller"
        ):
            raising(shortage)(feed)
    with pytest.raises(RuntimeError, match="^another$"):
        raising(RuntimeError("another"))(feed)


def test_what_is_a_shortage() -> None:
    assert is_shortage(MemoryError()) and is_shortage(RuntimeError("std::bad_alloc"))
    assert not is_shortage(RuntimeError("shapes")) and not is_shortage(ValueError("cannot allocate"))


def test_printable_text() -> None:
    assert printable("conv/größe 相加 [bold]") == "conv/größe 相加 [bold]"
    assert printable("a\r\n\t\x07\x1b[2J\x9b\u202e\u2066\u200b\u2028") == (
        r"a\r\n\t\x07\x1b[2J\x9b\u202e\u2066\u200b\u2028"
    )
    long = [printable_name(name * 1000) for name in ("a", "b", "ab")]
    assert len(set(long)) == 3 and all(printable_name(name) == name for name in long)


TVM = 'Traceback\n  File "/project/src/relax/op/nn/conv.cc", line 3\n'


@pytest.mark.parametrize("error, words", [
    (RuntimeError(TVM + "Check failed: groups > 0 (-1 vs. 0) : The number of groups is -1"), "The number of groups is -1"),
    (RuntimeError(TVM + "InternalError: Check failed: (n == 2) is false: it has 3 axes."), "it has 3 axes"),
    (RuntimeError(TVM + 'In ir.Op(span=None, ty=ir.Type(span=None), name="relax.concat"): axis'), ""),
    (RuntimeError("Check failed: (small.has_value() && (bits == 64)) is false: Literal value 4 exceeds a->b"), ""),
    (ValueError("the shape is T.int64(4)"), ""),
    (KeyError("x"), ""), (IndexError("list index out of range"), ""), (ValueError(), ""),
    (RecursionError("maximum recursion depth exceeded"), "it is nested too deeply"),
    (MemoryError("Unable to allocate 4 TiB"), "memory ran out"),
    (ValueError("a\x1b[31m" + "b" * 500), "a\\x1b[31m" + "b" * 194 + " ..."),
])  # fmt: skip
def test_reasons_of_other_libraries(error: Exception, words: str) -> None:
    assert reason(error) == words


def test_a_front_end_raises_errors_of_ours_alone() -> None:
    @explain_exceptions("from_x")
    def fail(error: BaseException) -> None:
        raise error

    with pytest.raises(tvmq.errors.ModelError, match=r"^from_x: the model cannot be imported \(no\); check it"):
        fail(OSError("no"))
    with pytest.raises(MemoryLimitError, match="^from_x: memory ran out during the import; give max_bytes="):
        fail(MemoryError())
    with pytest.raises(ConfigError, match="^own$"):
        fail(ConfigError("own"))
    with pytest.raises(KeyboardInterrupt):
        fail(KeyboardInterrupt())
