"""`BuildOptions`: how a module is compiled, apart from what is compiled and for which target.

They go down from `build` as an argument: `tiles` by the Isa to the templates, `is_brief` to what makes machine code.

Tests: tests/codegen/compile
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tvmq.codegen.compile.native_samples import SampleAxes
from tvmq.codegen.kernels.parts.kernel_types import Tiles


@dataclass(frozen=True)
class BuildOptions:
    """Options of a build that change its time and that of runs, never a bit of a result.

    tiles     measured tiles of products, by parts/tiling.product_key
    is_brief  the model runs a few samples and is never saved, as those of calibration: main gets no native code, which
              takes longer to compile than it saves, and loops without a template share object files
    long_kernels  products compute functions such as exp behind their sums, which takes a second to compile for each;
              if not, loops do. Those of calibration run too seldom for that
    has_blocks  common sizes are blocks of samples (sample_blocks.py), which share packed weights with main
    samples   where inputs and outputs have samples that main computes one by one (native_samples.py)
    """

    tiles: Tiles = field(default_factory=dict)
    is_brief: bool = False
    long_kernels: bool = True
    has_blocks: bool = False
    samples: SampleAxes | None = None


PLAIN, BRIEF = BuildOptions(), BuildOptions(is_brief=True, long_kernels=False)
KERNELS_OF_BUILD = BuildOptions(is_brief=True)  # brief, but for the kernels of products
