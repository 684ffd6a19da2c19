"""Run cases with two threads on memory that ends at an unreadable page: what goes beyond it is a fault.

Run by test_tiling.py in a process of its own, which survives only without faults. Prints how many results are wrong.
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

from tests.codegen.kernels.cases import conv_cases  # noqa: E402
from tests.codegen.kernels.harness import FLAGS, compile_function  # noqa: E402
from tests.codegen.kernels.table import large_cases  # noqa: E402
from tests.conftest import cpu_flags  # noqa: E402
from tvmq.codegen.kernels.isa import isa_named  # noqa: E402
from tvmq.codegen.kernels.parts.kernel_types import Conv2d  # noqa: E402
from tvmq.codegen.kernels.winograd.winograd import winograd  # noqa: E402

PAGE = mmap.PAGESIZE
# 8 x 8 and 16 x 16 pictures fill whole cache lines, so their buffers end at a page
CONVOLUTIONS = [
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
    """A copy that ends, or nearly so, at a page that may not be touched; 64 bytes aligned."""
    length = -(-array.nbytes // PAGE) * PAGE + PAGE
    memory = mmap.mmap(-1, length)
    _alive.append(memory)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mprotect(ctypes.c_void_p(address + length - PAGE), ctypes.c_size_t(PAGE), 0):
        raise OSError(ctypes.get_errno(), "mprotect failed")
    begin = (length - PAGE - array.nbytes) // 64 * 64
    view = np.frombuffer(memory, array.dtype, array.size, begin).reshape(array.shape)
    view[...] = array
    return view


def main() -> None:
    """Convolutions on all levels of this CPU, the others on the lowest and highest and AVX2."""
    names = ["generic", *(name for name, flag in FLAGS.items() if flag in cpu_flags())]
    wrong = faultless = 0
    for level in names:
        cases = [*conv_cases(CONVOLUTIONS), *(large_cases() if level in ("generic", "avx2", names[-1]) else ())]
        cases += conv_cases(WINOGRAD, winograd) if level == "avx512vnni" else ()
        for case in cases:
            kernel = case.make(isa_named(level))
            output = np.full_like(case.expected, 77)
            views = [guarded(array) for array in (*case.inputs, *kernel.constants, output)]
            function = compile_function(kernel.name, kernel.func, level)
            function(*(tvm_ffi.from_dlpack(view, require_alignment=1) for view in views))
            faultless += 1
            if not np.array_equal(views[-1], case.expected, equal_nan=case.expected.dtype.kind == "f"):
                print("differs:", level, case.name)
                wrong += 1
    print(f"{wrong} of {faultless} results differ, 0 faults")
    sys.exit(wrong)


main()
