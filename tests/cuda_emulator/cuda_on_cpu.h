// CUDA C++ as TVM writes it, for g++: what a GPU computes, on the CPU.
//
// float and double become classes, so that conversions to integers are those of PTX (towards zero, saturating, NaN
// gives 0) and not those of the CPU, and so that what C++ leaves open is a fault: a conversion to fewer than 32 bits
// that does not fit. Integers wrap (-fwrapv). Products and sums are IEEE's; whether g++ may contract them to one
// rounding, as nvcc does by default, is chosen when the library is compiled (-ffp-contract); __fmul_rn and its kind
// are never contracted.
#pragma once
#include <stdint.h>
#include <type_traits>
#include "threads_on_cpu.h"

#define __global__
#define __device__
#define __host__
#define __constant__ static const
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
#define threadIdx emulated::thread_index
#define blockIdx emulated::block_index
#define blockDim emulated::block_size
#define gridDim emulated::grid_size
#define warpSize emulated::WARP

using native_float = float;
using native_double = double;
struct half;  // not used by any kernel of ours: an incomplete type, so that one would not compile

namespace emulated {

template <class T> constexpr bool is_int = std::is_integral<T>::value;
template <class I> using if_int = std::enable_if_t<is_int<I>, int>;
template <class S, class T> using if_same = std::enable_if_t<std::is_same<S, T>::value, int>;
template <class S, class T> using if_narrower = std::enable_if_t<(sizeof(S) < sizeof(T)), int>;

// cvt.rzi of PTX; to fewer than 32 bits a value that does not fit is undefined in C++, and compilers differ.
template <class I, class T> inline I to_integer(T value) {
  if (std::is_same<I, bool>::value) return value != 0;
  constexpr bool is_signed = std::is_signed<I>::value;
  constexpr int bits = int(sizeof(I)) * 8 - is_signed;
  constexpr I highest = I(~(std::make_unsigned_t<std::conditional_t<std::is_same<I, bool>::value, int, I>>(0))
                          >> is_signed);
  constexpr I lowest = is_signed ? I(-highest - 1) : I(0);
  T above = T(uint64_t(1) << (bits - 1)) * 2;  // the first number that is too large
  bool low = is_signed ? value < -above && !(bits < 32 && value > -above - 1) : value <= T(-1);
  if (value != value || value >= above || low) {
    if (sizeof(I) < 4) fault("%g converted to an integer of %d bits, which C++ does not define", double(value),
                             int(sizeof(I)) * 8);
    return value != value ? I(0) : value < 0 ? lowest : highest;
  }
  return I(value);
}

template <class T> struct Real {
  T v;
  Real() = default;
  template <class S, if_same<S, T> = 0> constexpr Real(S x) : v(x) {}  // a double literal is no float
  template <class I, if_int<I> = 0> constexpr Real(I x) : v(static_cast<T>(x)) {}
  template <class S, if_narrower<S, T> = 0> constexpr Real(Real<S> x) : v(x.v) {}
  template <class S, if_narrower<T, S> = 0> constexpr explicit Real(Real<S> x) : v(static_cast<T>(x.v)) {}
  template <class I, if_int<I> = 0> explicit operator I() const { return to_integer<I>(v); }
  friend Real operator+(Real a, Real b) { return Real(a.v + b.v); }
  friend Real operator-(Real a, Real b) { return Real(a.v - b.v); }
  friend Real operator*(Real a, Real b) { return Real(a.v * b.v); }
  friend Real operator/(Real a, Real b) { return Real(a.v / b.v); }
  friend Real operator-(Real a) { return Real(-a.v); }
  friend bool operator<(Real a, Real b) { return a.v < b.v; }
  friend bool operator<=(Real a, Real b) { return a.v <= b.v; }
  friend bool operator>(Real a, Real b) { return a.v > b.v; }
  friend bool operator>=(Real a, Real b) { return a.v >= b.v; }
  friend bool operator==(Real a, Real b) { return a.v == b.v; }
  friend bool operator!=(Real a, Real b) { return a.v != b.v; }
  Real& operator+=(Real b) { return *this = *this + b; }
  Real& operator-=(Real b) { return *this = *this - b; }
  Real& operator*=(Real b) { return *this = *this * b; }
  Real& operator/=(Real b) { return *this = *this / b; }
};
using Float = Real<native_float>;
using Double = Real<native_double>;

// The value in a register, beyond the reach of contraction.
template <class T> inline T apart(T x) {
#ifdef __x86_64__
  asm("" : "+x"(x));
#else
  asm("" : "+w"(x));
#endif
  return x;
}

}  // namespace emulated

// ---- integers

template <class A, class B, emulated::if_int<A> = 0, emulated::if_int<B> = 0>
inline std::common_type_t<A, B> max(A a, B b) {
  using C = std::common_type_t<A, B>;
  return C(a) > C(b) ? C(a) : C(b);
}
template <class A, class B, emulated::if_int<A> = 0, emulated::if_int<B> = 0>
inline std::common_type_t<A, B> min(A a, B b) {
  using C = std::common_type_t<A, B>;
  return C(a) < C(b) ? C(a) : C(b);
}
template <class T> inline T __ldg(const T* address) { return *address; }
inline int __mulhi(int a, int b) { return int((int64_t(a) * b) >> 32); }
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned((uint64_t(a) * b) >> 32); }
inline long long __mul64hi(long long a, long long b) { return (long long)(((__int128)a * b) >> 64); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }

// ---- vectors

#define EMULATED_VECTORS(T, name, unit)                                                          \
  struct alignas(unit) name##1 { T x; };                                                         \
  struct alignas(2 * unit) name##2 { T x, y; };                                                  \
  struct name##3 { T x, y, z; };                                                                 \
  struct alignas(4 * unit > 16 ? 16 : 4 * unit) name##4 { T x, y, z, w; };                       \
  inline name##1 make_##name##1(T x) { return {x}; }                                             \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; }                                     \
  inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }                             \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
EMULATED_VECTORS(signed char, char, 1)
EMULATED_VECTORS(unsigned char, uchar, 1)
EMULATED_VECTORS(short, short, 2)
EMULATED_VECTORS(unsigned short, ushort, 2)
EMULATED_VECTORS(int, int, 4)
EMULATED_VECTORS(unsigned, uint, 4)
EMULATED_VECTORS(long, long, 8)
EMULATED_VECTORS(long long, longlong, 8)
EMULATED_VECTORS(unsigned long long, ulonglong, 8)
EMULATED_VECTORS(emulated::Float, float, 4)
EMULATED_VECTORS(emulated::Double, double, 8)

inline int __dp4a(char4 a, char4 b, int c) { return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
inline unsigned __dp4a(uchar4 a, uchar4 b, unsigned c) { return c + a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
inline int __dp4a(int a, int b, int c) { return __dp4a(*(char4*)&a, *(char4*)&b, c); }
inline unsigned __dp4a(unsigned a, unsigned b, unsigned c) { return __dp4a(*(uchar4*)&a, *(uchar4*)&b, c); }

// ---- float arithmetic

#define EMULATED_OPERATION(name, R, expression) \
  inline R name(R a, R b) {                     \
    auto x = emulated::apart(a.v), y = emulated::apart(b.v); \
    return R(emulated::apart(expression));      \
  }
EMULATED_OPERATION(__fmul_rn, emulated::Float, x * y)
EMULATED_OPERATION(__fadd_rn, emulated::Float, x + y)
EMULATED_OPERATION(__fsub_rn, emulated::Float, x - y)
EMULATED_OPERATION(__fdiv_rn, emulated::Float, x / y)
EMULATED_OPERATION(__dmul_rn, emulated::Double, x * y)
EMULATED_OPERATION(__dadd_rn, emulated::Double, x + y)
EMULATED_OPERATION(__dsub_rn, emulated::Double, x - y)
EMULATED_OPERATION(__ddiv_rn, emulated::Double, x / y)
inline emulated::Float __fmaf_rn(emulated::Float a, emulated::Float b, emulated::Float c) {
  return emulated::Float(__builtin_fmaf(a.v, b.v, c.v));
}
inline emulated::Float __fsqrt_rn(emulated::Float a) { return emulated::Float(__builtin_sqrtf(a.v)); }

namespace emulated {
// max.f32 and min.f32: a number wins over NaN, +0 is above -0.
template <class T> inline T greater(T a, T b) {
  if (a != a) return b;
  if (a == b) return __builtin_signbit(a) ? b : a;
  return b != b || a > b ? a : b;
}
}  // namespace emulated

#define EMULATED_EXTREMES(R)                                                                         \
  inline R max(R a, R b) { return R(emulated::greater(a.v, b.v)); }                                  \
  inline R min(R a, R b) { return R(-emulated::greater(-a.v, -b.v)); }                               \
  inline bool isnan(R a) { return a.v != a.v; }                                                      \
  inline bool isinf(R a) { return __builtin_isinf(a.v); }                                            \
  inline bool isfinite(R a) { return __builtin_isfinite(a.v); }
EMULATED_EXTREMES(emulated::Float)
EMULATED_EXTREMES(emulated::Double)
inline emulated::Float fmaxf(emulated::Float a, emulated::Float b) { return max(a, b); }
inline emulated::Float fminf(emulated::Float a, emulated::Float b) { return min(a, b); }
inline emulated::Double fmax(emulated::Double a, emulated::Double b) { return max(a, b); }
inline emulated::Double fmin(emulated::Double a, emulated::Double b) { return min(a, b); }

#define EMULATED_FUNCTION(name)                                                                      \
  inline emulated::Float name##f(emulated::Float a) { return emulated::Float(__builtin_##name##f(a.v)); } \
  inline emulated::Float name(emulated::Float a) { return name##f(a); }                              \
  inline emulated::Double name(emulated::Double a) { return emulated::Double(__builtin_##name(a.v)); }
EMULATED_FUNCTION(rint)
EMULATED_FUNCTION(nearbyint)
EMULATED_FUNCTION(round)
EMULATED_FUNCTION(floor)
EMULATED_FUNCTION(ceil)
EMULATED_FUNCTION(trunc)
EMULATED_FUNCTION(fabs)
EMULATED_FUNCTION(sqrt)
// The C library's, which differ from CUDA's in last bits: for float operators that have no definition of their own.
EMULATED_FUNCTION(exp)
EMULATED_FUNCTION(exp2)
EMULATED_FUNCTION(log)
EMULATED_FUNCTION(log2)
EMULATED_FUNCTION(log10)
EMULATED_FUNCTION(log1p)
EMULATED_FUNCTION(tanh)
EMULATED_FUNCTION(sinh)
EMULATED_FUNCTION(cosh)
EMULATED_FUNCTION(asinh)
EMULATED_FUNCTION(acosh)
EMULATED_FUNCTION(atanh)
EMULATED_FUNCTION(sin)
EMULATED_FUNCTION(cos)
EMULATED_FUNCTION(tan)
EMULATED_FUNCTION(asin)
EMULATED_FUNCTION(acos)
EMULATED_FUNCTION(atan)
EMULATED_FUNCTION(erf)
inline emulated::Float rsqrtf(emulated::Float a) { return emulated::Float(1.0f / __builtin_sqrtf(a.v)); }
inline emulated::Float __expf(emulated::Float a) { return expf(a); }
inline emulated::Float __logf(emulated::Float a) { return logf(a); }
inline emulated::Float powf(emulated::Float a, emulated::Float b) { return emulated::Float(__builtin_powf(a.v, b.v)); }
inline emulated::Double pow(emulated::Double a, emulated::Double b) { return emulated::Double(__builtin_pow(a.v, b.v)); }
inline emulated::Float fmodf(emulated::Float a, emulated::Float b) { return emulated::Float(__builtin_fmodf(a.v, b.v)); }
inline emulated::Float fmod(emulated::Float a, emulated::Float b) { return fmodf(a, b); }

// ---- conversions and bits

inline int __float2int_rn(emulated::Float a) { return emulated::to_integer<int>(__builtin_rintf(a.v)); }
inline int __float2int_rz(emulated::Float a) { return emulated::to_integer<int>(a.v); }
inline int __float2int_rd(emulated::Float a) { return emulated::to_integer<int>(__builtin_floorf(a.v)); }
inline unsigned __float2uint_rn(emulated::Float a) { return emulated::to_integer<unsigned>(__builtin_rintf(a.v)); }
inline unsigned __float2uint_rz(emulated::Float a) { return emulated::to_integer<unsigned>(a.v); }
inline long long __float2ll_rn(emulated::Float a) { return emulated::to_integer<long long>(__builtin_rintf(a.v)); }
inline int __double2int_rn(emulated::Double a) { return emulated::to_integer<int>(__builtin_rint(a.v)); }
inline long long __double2ll_rn(emulated::Double a) { return emulated::to_integer<long long>(__builtin_rint(a.v)); }
inline emulated::Float __int2float_rn(int a) { return emulated::Float(a); }
inline emulated::Float __uint2float_rn(unsigned a) { return emulated::Float(a); }
inline emulated::Float __double2float_rn(emulated::Double a) { return emulated::Float(a); }
inline int __float_as_int(emulated::Float a) { return __builtin_bit_cast(int, a.v); }
inline unsigned __float_as_uint(emulated::Float a) { return __builtin_bit_cast(unsigned, a.v); }
inline emulated::Float __int_as_float(int a) { return emulated::Float(__builtin_bit_cast(native_float, a)); }
inline emulated::Float __uint_as_float(unsigned a) { return emulated::Float(__builtin_bit_cast(native_float, a)); }
inline long long __double_as_longlong(emulated::Double a) { return __builtin_bit_cast(long long, a.v); }
inline emulated::Double __longlong_as_double(long long a) { return emulated::Double(__builtin_bit_cast(native_double, a)); }

#define CUDART_INF_F emulated::Float(__builtin_inff())
#define CUDART_NAN_F emulated::Float(__builtin_nanf(""))
#define CUDART_INF emulated::Double(__builtin_inf())
#define CUDART_NAN emulated::Double(__builtin_nan(""))

// ---- atomics: one thread runs at a time

template <class T, class V> inline T atomicAdd(T* address, V value) {
  T old = *address;
  *address = T(old + T(value));
  return old;
}
template <class T, class V> inline T atomicMax(T* address, V value) {
  T old = *address;
  *address = max(old, T(value));
  return old;
}
template <class T, class V> inline T atomicMin(T* address, V value) {
  T old = *address;
  *address = min(old, T(value));
  return old;
}
template <class T> inline T atomicCAS(T* address, T expected, T value) {
  T old = *address;
  if (old == expected) *address = value;
  return old;
}
#define __threadfence()
#define __threadfence_block()

// ---- barriers and warp operations

#define __syncthreads() emulated::barrier(__LINE__)
#define __syncwarp(...) emulated::sync_warp(__LINE__, ##__VA_ARGS__)
#define __activemask() emulated::living_lanes()

namespace emulated {

inline void sync_warp(int64_t site, unsigned mask = WHOLE_WARP) {
  in_warp(mask & living_lanes(), site, nullptr, [](void**, unsigned) {});
}

template <class T> struct Shuffle {
  T mine, result;
  int source;  // lane to read; its own where CUDA says so
};

template <class T> inline void resolve_shuffle(void** deposits, unsigned lanes) {
  for (int i = 0; i < WARP; ++i) {
    if (!(lanes >> i & 1)) continue;
    auto* shuffle = static_cast<Shuffle<T>*>(deposits[i]);
    if (lanes >> shuffle->source & 1)
      shuffle->result = static_cast<Shuffle<T>*>(deposits[shuffle->source])->mine;
    else
      memset(&shuffle->result, rubbish, sizeof(T));  // a lane that is not there: undefined
  }
}

template <class T> inline T shuffle(unsigned mask, int64_t site, T value, int source) {
  Shuffle<T> mine = {value, value, source};
  in_warp(mask, site, &mine, resolve_shuffle<T>);
  return mine.result;
}

inline int first_lane(int width) { return lane() & ~(width - 1); }
template <class T> inline T shuffle_to(unsigned mask, int64_t site, T value, int source, int width) {
  return shuffle(mask, site, value, first_lane(width) + (source & (width - 1)));
}
template <class T> inline T shuffle_down(unsigned mask, int64_t site, T value, unsigned delta, int width) {
  int source = lane() + int(delta);
  return shuffle(mask, site, value, source >= first_lane(width) + width ? lane() : source);
}
template <class T> inline T shuffle_up(unsigned mask, int64_t site, T value, unsigned delta, int width) {
  int source = lane() - int(delta);
  return shuffle(mask, site, value, source < first_lane(width) ? lane() : source);
}
template <class T> inline T shuffle_xor(unsigned mask, int64_t site, T value, int bits, int width) {
  int source = lane() ^ bits;
  return shuffle(mask, site, value, source >= first_lane(width) + width ? lane() : source);
}

struct Vote {
  bool mine;
  unsigned lanes;
};
inline unsigned ballot(unsigned mask, int64_t site, bool value) {
  Vote mine = {value, 0};
  in_warp(mask, site, &mine, [](void** deposits, unsigned lanes) {
    unsigned votes = 0;
    for (int i = 0; i < WARP; ++i)
      if (lanes >> i & 1) votes |= unsigned(static_cast<Vote*>(deposits[i])->mine) << i;
    for (int i = 0; i < WARP; ++i)
      if (lanes >> i & 1) static_cast<Vote*>(deposits[i])->lanes = votes;
  });
  return mine.lanes;
}

}  // namespace emulated

#define EMULATED_WIDTH(call, mask, value, lane, width, ...) call(mask, __LINE__, value, lane, width)
#define __shfl_sync(mask, ...) EMULATED_WIDTH(emulated::shuffle_to, mask, __VA_ARGS__, 32, )
#define __shfl_down_sync(mask, ...) EMULATED_WIDTH(emulated::shuffle_down, mask, __VA_ARGS__, 32, )
#define __shfl_up_sync(mask, ...) EMULATED_WIDTH(emulated::shuffle_up, mask, __VA_ARGS__, 32, )
#define __shfl_xor_sync(mask, ...) EMULATED_WIDTH(emulated::shuffle_xor, mask, __VA_ARGS__, 32, )
#define __ballot_sync(mask, value) emulated::ballot(mask, __LINE__, value)
#define __any_sync(mask, value) (emulated::ballot(mask, __LINE__, value) != 0)

#include "device_on_cpu.h"

// Last, since these change the words themselves.
#define float emulated::Float
#define double emulated::Double
#define volatile
