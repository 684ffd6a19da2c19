"""Our own device functions, put before the CUDA C++ that TVM generates (compile/cuda/source.py); all assembly is here.

TVM 0.27 knows neither dp4a of mixed signs nor mma of integers nor asynchronous copies for CUDA; kernels call the
functions below by name. Where TVMQ_EMULATED is defined none of them is: the one who compiles the source for
something else than a GPU defines them.

    int  tvmq_dp4a_AB(int a, int b, int c)              c + the dot product of 4 bytes of a and b; wraps
    void tvmq_mma_AB(int *c, const int *a, const int *b)
                                                        c += a b, 16 x 32 times 32 x 8, for the whole warp. The lane
                                                        holds, with row = lane / 4 and t = lane % 4,
                                                            c[0..1]: row, columns 2t..2t+1; c[2..3]: row + 8
                                                            a[0]: row, depth 4t..4t+3; a[1]: row + 8;
                                                            a[2..3]: the same 16 deeper
                                                            b[0]: column `row`, depth 4t..4t+3; b[1]: 16 deeper
    void tvmq_matrices(int *words, const void *line)    four matrices of 8 lines of 16 bytes of shared memory for the
                                                        whole warp: lane 8 i + j gives the address of line j of matrix
                                                        i and gets in words[i] bytes 4t..4t+3 of its line lane / 4
    void tvmq_copyN(void *shared, const void *source)   N = 4, 8 or 16 bytes, aligned to N, there after a wait
    void tvmq_copyN_or(..., bool inside, int fill)      the same, but `fill` in each word where not inside
    void tvmq_copy_commit()                             closes a group of copies
    void tvmq_copy_wait_N()                             waits until all groups but the last N of this thread are there
    int  tvmq_warp_sum(int value)                       sum over the warp, in every lane; wraps
    int  tvmq_bytes(int a, int b, int selector)         __byte_perm of (a, b)

A and B are u8 or s8. m16n8k32 is one instruction on sm_80 and later; sm_75 has m8n8k16, whose fragments are the
quarters of the larger one, so four of them do the same. Asynchronous copies are plain ones before sm_80.

Tests: tests/codegen/kernels/cuda
"""

from __future__ import annotations

_DOT = r"""
#define TVMQ_DOT(A, B, NAME)                                                                      \
  __device__ __forceinline__ int tvmq_dp4a_##NAME(int a, int b, int c) {                          \
    int d;                                                                                        \
    asm("dp4a." A "." B " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));                   \
    return d;                                                                                     \
  }
TVMQ_DOT("u32", "u32", u8u8)
TVMQ_DOT("u32", "s32", u8s8)
TVMQ_DOT("s32", "u32", s8u8)
TVMQ_DOT("s32", "s32", s8s8)
"""

_MMA = r"""
#if __CUDA_ARCH__ >= 800
#define TVMQ_MMA(A, B, NAME)                                                                      \
  __device__ __forceinline__ void tvmq_mma_##NAME(int *c, const int *a, const int *b) {           \
    asm("mma.sync.aligned.m16n8k32.row.col.s32." A "." B ".s32 "                                  \
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                         \
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])                                          \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                      \
  }
#elif __CUDA_ARCH__ >= 750
#define TVMQ_MMA(A, B, NAME)                                                                      \
  __device__ __forceinline__ void tvmq_mma_eighth_##NAME(int *c, int a, int b) {                  \
    asm("mma.sync.aligned.m8n8k16.row.col.s32." A "." B ".s32 {%0, %1}, {%2}, {%3}, {%0, %1};"    \
        : "+r"(c[0]), "+r"(c[1]) : "r"(a), "r"(b));                                               \
  }                                                                                               \
  __device__ __forceinline__ void tvmq_mma_##NAME(int *c, const int *a, const int *b) {           \
    tvmq_mma_eighth_##NAME(c, a[0], b[0]);                                                        \
    tvmq_mma_eighth_##NAME(c + 2, a[1], b[0]);                                                    \
    tvmq_mma_eighth_##NAME(c, a[2], b[1]);                                                        \
    tvmq_mma_eighth_##NAME(c + 2, a[3], b[1]);                                                    \
  }
#endif
#if __CUDA_ARCH__ >= 750
TVMQ_MMA("u8", "u8", u8u8)
TVMQ_MMA("u8", "s8", u8s8)
TVMQ_MMA("s8", "u8", s8u8)
TVMQ_MMA("s8", "s8", s8s8)
__device__ __forceinline__ void tvmq_matrices(int *words, const void *line) {
  unsigned int address = static_cast<unsigned int>(__cvta_generic_to_shared(line));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(address) : "memory");
}
#endif
"""

_COPY = r"""
#if __CUDA_ARCH__ >= 800
#define TVMQ_COPY(BYTES, WORD, CACHE)                                                             \
  __device__ __forceinline__ void tvmq_copy##BYTES(void *shared, const void *source) {            \
    unsigned int address = static_cast<unsigned int>(__cvta_generic_to_shared(shared));           \
    asm volatile("cp.async." CACHE ".shared.global [%0], [%1], " #BYTES ";"                       \
                 :: "r"(address), "l"(source) : "memory");                                        \
  }
#define TVMQ_WAIT(N)                                                                              \
  __device__ __forceinline__ void tvmq_copy_wait_##N() {                                          \
    asm volatile("cp.async.wait_group " #N ";" ::: "memory");                                     \
  }
__device__ __forceinline__ void tvmq_copy_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
#else
#define TVMQ_COPY(BYTES, WORD, CACHE)                                                             \
  __device__ __forceinline__ void tvmq_copy##BYTES(void *shared, const void *source) {            \
    *static_cast<WORD *>(shared) = *static_cast<const WORD *>(source);                            \
  }
#define TVMQ_WAIT(N) __device__ __forceinline__ void tvmq_copy_wait_##N() {}
__device__ __forceinline__ void tvmq_copy_commit() {}
#endif
#define TVMQ_COPY_OR(BYTES, WORD, FILL)                                                           \
  __device__ __forceinline__ void tvmq_copy##BYTES##_or(void *shared, const void *source,         \
                                                        bool inside, int fill) {                  \
    if (inside) tvmq_copy##BYTES(shared, source);                                                 \
    else *static_cast<WORD *>(shared) = FILL;                                                     \
  }
TVMQ_COPY(4, int, "ca")
TVMQ_COPY(8, int2, "ca")
TVMQ_COPY(16, int4, "cg")
TVMQ_COPY_OR(4, int, fill)
TVMQ_COPY_OR(8, int2, make_int2(fill, fill))
TVMQ_COPY_OR(16, int4, make_int4(fill, fill, fill, fill))
TVMQ_WAIT(0)
TVMQ_WAIT(1)
TVMQ_WAIT(2)
TVMQ_WAIT(3)
"""

_REST = r"""
__device__ __forceinline__ int tvmq_warp_sum(int value) {
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
  return value;
}
__device__ __forceinline__ int tvmq_bytes(int a, int b, int selector) {
  return static_cast<int>(__byte_perm(static_cast<unsigned int>(a), static_cast<unsigned int>(b), selector));
}
"""

HEADER = f"#ifndef TVMQ_EMULATED{_DOT}{_MMA}{_COPY}{_REST}#endif\n"
