// What tvmq/codegen/kernels/cuda/device.py writes in assembly, on the CPU; the contract of each function stands there.
//
// mma and ldmatrix are done by all lanes of a warp together, their fragments spread over the lanes as the PTX ISA
// says. An asynchronous copy reads and writes only when its thread waits for it; until then the target is rubbish.
#pragma once
#define TVMQ_EMULATED

namespace emulated {

// ---- dot products of 4 bytes

template <class A, class B> inline int dot4(int a, int b, int c) {
  unsigned sum = unsigned(c);
  for (int i = 0; i < 4; ++i) sum += unsigned(int(A(a >> 8 * i)) * int(B(b >> 8 * i)));
  return int(sum);
}

// ---- mma.m16n8k32: c (16 x 8) += a (16 x 32) b (32 x 8)

struct Fragments {
  int* c;
  const int *a, *b;
};

template <class A, class B> inline void resolve_mma(void** deposits, unsigned lanes) {
  if (lanes != WHOLE_WARP) return fault("mma of a warp with lanes missing (%08x)", lanes);
  A a[16][32];
  B b[8][32];
  for (int lane = 0; lane < WARP; ++lane) {
    auto* mine = static_cast<Fragments*>(deposits[lane]);
    int row = lane / 4, t = lane % 4;
    for (int word = 0; word < 4; ++word)
      for (int i = 0; i < 4; ++i) a[row + word % 2 * 8][word / 2 * 16 + 4 * t + i] = A(mine->a[word] >> 8 * i);
    for (int word = 0; word < 2; ++word)
      for (int i = 0; i < 4; ++i) b[row][word * 16 + 4 * t + i] = B(mine->b[word] >> 8 * i);
  }
  for (int lane = 0; lane < WARP; ++lane) {
    auto* mine = static_cast<Fragments*>(deposits[lane]);
    for (int i = 0; i < 4; ++i) {
      int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2, sum = 0;
      for (int k = 0; k < 32; ++k) sum += int(a[row][k]) * int(b[column][k]);
      mine->c[i] = int(unsigned(mine->c[i]) + unsigned(sum));
    }
  }
}

template <class A, class B> inline void mma(int64_t site, int* c, const int* a, const int* b) {
  Fragments mine = {c, a, b};
  in_warp(WHOLE_WARP, site, &mine, resolve_mma<A, B>);
}

// ---- ldmatrix.m8n8.x4

struct Line {
  int* words;
  const void* address;
};

inline bool in_shared(const void* address, int bytes) {
  auto at = static_cast<const uint8_t*>(address);
  return at >= shared_memory && at + bytes <= shared_memory + SHARED_BYTES && uintptr_t(at) % bytes == 0;
}

inline void resolve_matrices(void** deposits, unsigned lanes) {
  if (lanes != WHOLE_WARP) return fault("ldmatrix of a warp with lanes missing (%08x)", lanes);
  int read[WARP][4];
  for (int lane = 0; lane < WARP; ++lane)
    for (int i = 0; i < 4; ++i) {
      auto* line = static_cast<Line*>(deposits[8 * i + lane / 4]);
      memcpy(&read[lane][i], static_cast<const uint8_t*>(line->address) + lane % 4 * 4, 4);
    }
  for (int lane = 0; lane < WARP; ++lane) memcpy(static_cast<Line*>(deposits[lane])->words, read[lane], 16);
}

inline void matrices(int64_t site, int* words, const void* address) {
  if (!in_shared(address, 16))
    fault("line %ld: ldmatrix of 16 bytes that are not aligned or not in shared memory", (long)site);
  Line mine = {words, address};
  in_warp(WHOLE_WARP, site, &mine, resolve_matrices);
}

// ---- asynchronous copies

struct Copy {
  void* to;
  const void* from;
  int bytes, group;
};
constexpr int MOST_COPIES = 512;
struct Copies {
  Copy open[MOST_COPIES];
  int count, group;
};
inline Copies copies[MOST_THREADS];

inline void forget_copies() {
  for (int i = 0; i < thread_count; ++i) copies[i].count = copies[i].group = 0;
}

inline void begin_copy(void* to, const void* from, int bytes) {
  Copies& mine = copies[running];
  if (!in_shared(to, bytes)) return fault("a copy of %d bytes to what is not aligned or no shared memory", bytes);
  if (uintptr_t(from) % unsigned(bytes)) return fault("a copy of %d bytes from an address not aligned to them", bytes);
  if (mine.count == MOST_COPIES) return fault("more than %d copies that nobody waits for", MOST_COPIES);
  memset(to, rubbish, size_t(bytes));
  mine.open[mine.count++] = {to, from, bytes, mine.group};
}

inline void wait_for_copies(int but_last) {
  Copies& mine = copies[running];
  int kept = 0;
  for (int i = 0; i < mine.count; ++i) {
    const Copy& copy = mine.open[i];
    if (copy.group < mine.group - but_last)
      memcpy(copy.to, copy.from, size_t(copy.bytes));
    else
      mine.open[kept++] = copy;
  }
  mine.count = kept;
}

template <int N> inline void begin_copy_or(void* to, const void* from, bool inside, int fill) {
  if (inside) return begin_copy(to, from, N);
  if (!in_shared(to, N)) return fault("%d bytes stored to what is not aligned or no shared memory", N);
  for (int i = 0; i < N / 4; ++i) static_cast<int*>(to)[i] = fill;
}

inline int warp_sum(int64_t site, int value) {
  for (int distance = 16; distance > 0; distance /= 2) value += shuffle_xor(WHOLE_WARP, site, value, distance, WARP);
  return value;
}

inline int byte_permute(int a, int b, int selector) {
  uint64_t both = uint64_t(uint32_t(b)) << 32 | uint32_t(a);
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i) {
    int choice = selector >> 4 * i & 15;
    uint32_t byte = uint32_t(both >> 8 * (choice & 7)) & 255;
    if (choice & 8) byte = byte & 128 ? 255 : 0;  // the sign, repeated
    result |= byte << 8 * i;
  }
  return int(result);
}

}  // namespace emulated

#define tvmq_dp4a_u8u8 emulated::dot4<uint8_t, uint8_t>
#define tvmq_dp4a_u8s8 emulated::dot4<uint8_t, int8_t>
#define tvmq_dp4a_s8u8 emulated::dot4<int8_t, uint8_t>
#define tvmq_dp4a_s8s8 emulated::dot4<int8_t, int8_t>
#define tvmq_mma_u8u8(...) (emulated::mma<uint8_t, uint8_t>(__LINE__, __VA_ARGS__))
#define tvmq_mma_u8s8(...) (emulated::mma<uint8_t, int8_t>(__LINE__, __VA_ARGS__))
#define tvmq_mma_s8u8(...) (emulated::mma<int8_t, uint8_t>(__LINE__, __VA_ARGS__))
#define tvmq_mma_s8s8(...) (emulated::mma<int8_t, int8_t>(__LINE__, __VA_ARGS__))
#define tvmq_matrices(...) emulated::matrices(__LINE__, __VA_ARGS__)
#define tvmq_copy4(to, from) emulated::begin_copy(to, from, 4)
#define tvmq_copy8(to, from) emulated::begin_copy(to, from, 8)
#define tvmq_copy16(to, from) emulated::begin_copy(to, from, 16)
#define tvmq_copy4_or emulated::begin_copy_or<4>
#define tvmq_copy8_or emulated::begin_copy_or<8>
#define tvmq_copy16_or emulated::begin_copy_or<16>
#define tvmq_copy_commit() (++emulated::copies[emulated::running].group)
#define tvmq_copy_wait_0() emulated::wait_for_copies(0)
#define tvmq_copy_wait_1() emulated::wait_for_copies(1)
#define tvmq_copy_wait_2() emulated::wait_for_copies(2)
#define tvmq_copy_wait_3() emulated::wait_for_copies(3)
#define tvmq_warp_sum(value) emulated::warp_sum(__LINE__, value)
#define tvmq_bytes emulated::byte_permute
inline unsigned __byte_perm(unsigned a, unsigned b, unsigned selector) {
  return unsigned(emulated::byte_permute(int(a), int(b), int(selector)));
}
