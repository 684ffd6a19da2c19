"""Run kernels with two threads on memory that ends at an unreadable page: what goes beyond it is a fault.

Run by test_conv2d.py in a process of its own, which survives only without faults.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import sys
from pathlib import Path

os.environ["TVM_NUM_THREADS"] = "2"
ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402
import tvm_ffi  # noqa: E402

from tests.codegen.kernels.harness import (  # noqa: E402
    FLAGS,
    compile_function,
    conv_operands,
    epilogue_for,
    expected_conv,
)
from tests.conftest import cpu_flags  # noqa: E402
from tvmq.codegen.kernels.conv.conv2d import conv2d  # noqa: E402
from tvmq.codegen.kernels.isa import isa_named  # noqa: E402
from tvmq.codegen.kernels.parts.kernel_types import Conv2d  # noqa: E402
from tvmq.codegen.kernels.winograd.winograd import winograd  # noqa: E402

PAGE = mmap.PAGESIZE
# 8 x 8 and 16 x 16 pictures fill whole cache lines, so buffers that end at a page are aligned
CASES = [
    (Conv2d(1, 8, 8, 3, 5), "codes"),
    (Conv2d(1, 8, 8, 17, 72), "all"),
    (Conv2d(1, 8, 8, 16, 16), "sums"),
    (Conv2d(1, 16, 16, 3, 24, (3, 3), (2, 2), (1, 1, 1, 1)), "table"),
    (Conv2d(1, 8, 8, 20, 33, (3, 3), (1, 1), (1, 1, 1, 1)), "add"),
    (Conv2d(1, 16, 16, 96, 200, (3, 3), (1, 1), (1, 1, 1, 1)), "all"),
    (Conv2d(4, 16, 16, 64, 90), "add"),
]
# by Winograd: chunks of tiles, chunks of panels
WINOGRAD = [
    (Conv2d(2, 32, 32, 64, 64, (3, 3), (1, 1), (1, 1, 1, 1)), "add"),
    (Conv2d(1, 8, 16, 96, 456, (3, 3), (1, 1), (1, 1, 1, 1)), "codes"),
]

_alive: list[mmap.mmap] = []


def guarded(array: np.ndarray) -> np.ndarray:
    """A copy that ends at a page which may not be touched."""
    size = array.nbytes
    length = -(-size // PAGE) * PAGE + PAGE
    memory = mmap.mmap(-1, length)
    _alive.append(memory)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mprotect(ctypes.c_void_p(address + length - PAGE), ctypes.c_size_t(PAGE), 0):
        raise OSError(ctypes.get_errno(), "mprotect failed")
    view = np.frombuffer(memory, array.dtype, array.size, length - PAGE - size).reshape(array.shape)
    view[...] = array
    return view


def main() -> None:
    """All cases on all levels of this CPU."""
    wrong = 0
    for level in ["generic", *(name for name, flag in FLAGS.items() if flag in cpu_flags())]:
        transformed = WINOGRAD if level == "avx512vnni" else []
        for conv, kind in CASES + transformed:
            operands = conv_operands(conv)
            epilogue, others = epilogue_for(conv, kind)
            make = winograd if (conv, kind) in transformed else conv2d
            kernel = make(conv, *operands[1:], 5, epilogue, isa_named(level))
            expected = expected_conv(conv, operands, 5, epilogue, others)
            arrays = [operands[0], *others, *kernel.constants, np.zeros_like(expected)]
            views = [guarded(np.ascontiguousarray(array)) for array in arrays]
            assert all(view.ctypes.data % 64 == 0 for view in views[: 1 + len(others)])
            function = compile_function(kernel.name, kernel.func, level)
            function(*(tvm_ffi.from_dlpack(view, require_alignment=1) for view in views))
            if not np.array_equal(views[-1], expected):
                print("differs:", level, conv, kind)
                wrong += 1
    print(f"{wrong} results differ, 0 faults")
    sys.exit(wrong)


main()
