"""How long a kernel takes: an estimate from what it does and what the machine is; nothing is compiled or measured.

    arithmetic   cycles with all operands in the nearest cache, / clock
    memory       bytes of activations at the rate of the cache that holds them, and bytes of weights at the rate of the
                 cache that holds those of the whole model, / clock
    kernel       the longer of the two, and OVERLAP of the shorter; divided by the threads that it uses
    call         the kernel and START: what a call costs from native code; the virtual machine, which runs models of
                 dynamic sizes, needs about 0.3 us more
    run          all calls and RUN: inputs copied in, results copied out

The cycles of products come from the model that chooses their tiles (kernels/parts/tiling.py); those of everything else
from the tables here, in cycles for 64 bytes of vector. All numbers were fitted to per-layer times of one machine, a
server of the Zen 4 generation with one thread (benchmarks/forecast.py prints how well). On other CPUs the order and the
ratios are right; for the microseconds too, `tvmq.measure_machine` compares a small network with its forecast once.

Of the machine    name, cores, vector_bytes, caches: as the system tells them; clock: measured in each process;
                  factors and run: measured once, kept in the cache folder, 1 and RUN before that
Of the model      rates, START, OVERLAP, SERIAL_SECONDS, PARALLEL_START, cycles of kernels: Zen 4's
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

KB = 1024
START = 0.1e-6  # seconds of a call
RUN = 8.0e-6  # seconds of a run
PARALLEL_START = 2.0e-6  # of a region with several threads
SERIAL_SECONDS = 20e-6  # kernels split work that takes longer
OVERLAP = 0.25  # share of the shorter one of arithmetic and memory that is not hidden
# CPUs that split an instruction on 64 bytes in two: twice the cycles of a product of AVX-512
SPLITTING = ("znver4",)
SYSTEM = Path("/sys/devices/system/cpu/cpu0/cache")


@dataclass(frozen=True)
class Machine:
    """Facts about a CPU that the estimate uses.

    name          LLVM's name
    clock         cycles a second while it computes
    cores         that may work at once
    vector_bytes  of its vectors
    l1, l2, l3    bytes of its caches; of the last one the share of a core that is alone
    rates         bytes a cycle and core from L1, L2, L3 and memory, reads and writes mixed
    factors       (kind of work, its measured time beside the model's); what is missing takes as long as the model says
    run           seconds of a run beside its calls

    >>> Machine("znver4", 3.7e9).level(3 * 1024 * 1024)
    2
    """

    name: str
    clock: float
    cores: int = 1
    vector_bytes: int = 64
    l1: int = 32 * KB
    l2: int = 1024 * KB
    l3: int = 32 * KB * KB
    rates: tuple[float, float, float, float] = (64.0, 28.0, 14.0, 5.0)
    factors: tuple[tuple[str, float], ...] = ()
    run: float = RUN

    @property
    def splits(self) -> bool:
        """True if an instruction on 64 bytes takes two turns."""
        return self.vector_bytes == 64 and self.name in SPLITTING

    def level(self, size: int) -> int:
        """The cache that holds so many bytes: 0, 1, 2, or 3 for memory."""
        return sum(size > capacity for capacity in (self.l1, self.l2, self.l3))

    def rate(self, size: int) -> float:
        """Bytes a cycle of a working set of so many bytes."""
        return self.rates[self.level(size)]


@dataclass(frozen=True)
class Work:
    """Work of a call.

    kind         family of the kernel, such as "conv2d", "depthwise", "softmax", "quantize"
    cycles       of arithmetic, with everything in the nearest cache
    bytes_moved  of activations that are read and written
    weights      bytes of constants that are read
    macs         multiply-accumulates
    int8         the operands of the products are 8-bit codes
    """

    kind: str
    cycles: float
    bytes_moved: int
    weights: int = 0
    macs: int = 0
    int8: bool = False


@dataclass(frozen=True)
class Seconds:
    """Estimated time of one call, and what it is spent on."""

    total: float
    arithmetic: float
    memory: float

    @property
    def bottleneck(self) -> str:
        """ "compute", "memory" or "call": what takes most of the time.

        >>> Seconds(3e-6, 0.4e-6, 1.8e-6).bottleneck
        'memory'
        """
        rest = self.total - max(self.arithmetic, self.memory)
        if rest > max(self.arithmetic, self.memory):
            return "call"
        return "compute" if self.arithmetic >= self.memory else "memory"


def seconds(work: Work, machine: Machine, *, model_weights: int = 0, threads: int = 1) -> Seconds:
    """Estimated time of a call.

    model_weights  bytes of all constants that a run reads: they decide which cache this call finds its own in
    threads        that the kernel may use
    """
    arithmetic = work.cycles / machine.clock
    near = machine.rate(work.bytes_moved)
    far = machine.rate(max(model_weights, work.weights))
    memory = (work.bytes_moved / near + work.weights / far) / machine.clock
    kernel = (max(arithmetic, memory) + OVERLAP * min(arithmetic, memory)) * dict(machine.factors).get(work.kind, 1.0)
    used = min(threads, machine.cores) if kernel > SERIAL_SECONDS else 1
    start = START + (PARALLEL_START if used > 1 else 0.0)
    return Seconds(kernel / used + start, arithmetic / used, memory / used)


def read_caches(system: Path = SYSTEM) -> dict[str, int]:
    """{"l1", "l2", "l3"} of this machine as Linux tells them; empty where it does not."""
    caches: dict[str, int] = {}
    for folder in sorted(system.glob("index*")):
        try:
            kind, depth, size = ((folder / name).read_text().strip() for name in ("type", "level", "size"))
        except OSError:
            continue
        if kind != "Instruction" and size[-1:] == "K" and depth in "123":
            caches[f"l{depth}"] = int(size[:-1]) * KB
    return caches


def with_caches(machine: Machine, sizes: dict[str, int]) -> Machine:
    """The machine with these caches."""
    return replace(machine, **sizes)  # type: ignore[arg-type]
