// The threads of a CUDA block on one CPU thread, for g++; included by cuda_on_cpu.h.
//
// A kernel without barriers is called once for each thread. In one with barriers every thread is a fiber with a stack
// of its own: it runs up to its next barrier, then the next thread has its turn. Which thread comes first is chosen
// (forward, reverse, shuffled), so that results which depend on it show. A barrier that not all threads reach at the
// same line of the source, a shuffle from a lane that is not there and the like are faults, kept as a text.
#pragma once
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifndef __x86_64__
#include <ucontext.h>
#endif

struct dim3 {
  unsigned x, y, z;
};

namespace emulated {

constexpr int WARP = 32, MOST_THREADS = 1024, SHARED_BYTES = 1 << 18;
constexpr size_t STACK_BYTES = 1 << 18, GUARD_BYTES = 64;
constexpr int64_t NO_SITE = -1;
constexpr unsigned WHOLE_WARP = 0xffffffffu;

enum Order { FORWARD, REVERSE, SHUFFLED };
enum State { READY, AT_BARRIER, IN_WARP, DONE };

inline dim3 thread_index, block_index, block_size, grid_size;
inline char fault_text[512];
inline const char* kernel_name = "";
inline int order = FORWARD;
inline uint8_t rubbish = 0xcb;  // what memory holds that nobody wrote
alignas(128) inline uint8_t shared_memory[SHARED_BYTES];

// Keep the first fault; the kernel goes on, its results are worthless.
__attribute__((noinline, cold, format(printf, 1, 2))) inline void fault(const char* form, ...) {
  if (fault_text[0]) return;
  int used = snprintf(fault_text, sizeof fault_text, "%s, block (%u, %u, %u), thread (%u, %u, %u): ", kernel_name,
                      block_index.x, block_index.y, block_index.z, thread_index.x, thread_index.y, thread_index.z);
  va_list values;
  va_start(values, form);
  vsnprintf(fault_text + used, sizeof fault_text - used, form, values);
  va_end(values);
}

// ---- fibers: a stack each, and a switch between two of them

#ifdef __x86_64__
struct Context {
  void* stack;
};
// Callee-saved registers of the System V ABI go to the stack that is left and come from the one that is entered.
__attribute__((naked, noinline)) inline void switch_context(Context* /* from */, Context* /* to */) {
  asm("pushq %rbp\n pushq %rbx\n pushq %r12\n pushq %r13\n pushq %r14\n pushq %r15\n"
      "movq %rsp, (%rdi)\n movq (%rsi), %rsp\n"
      "popq %r15\n popq %r14\n popq %r13\n popq %r12\n popq %rbx\n popq %rbp\n ret");
}
inline void prepare_context(Context* context, char* stack, void (*entry)()) {
  void** top = reinterpret_cast<void**>(stack + STACK_BYTES);
  *--top = nullptr;  // entry never returns; keeps the stack aligned as behind a call
  *--top = reinterpret_cast<void*>(entry);
  for (int i = 0; i < 6; ++i) *--top = nullptr;
  context->stack = top;
}
#else
using Context = ucontext_t;
inline void switch_context(Context* from, Context* to) { swapcontext(from, to); }
inline void prepare_context(Context* context, char* stack, void (*entry)()) {
  getcontext(context);
  context->uc_stack.ss_sp = stack;
  context->uc_stack.ss_size = STACK_BYTES;
  context->uc_link = nullptr;
  makecontext(context, entry, 0);
}
#endif

struct Thread {
  Context context;
  State state;
  int64_t site;      // line of the source where it waits
  unsigned mask;     // lanes that its warp operation asks for
  void* deposit;     // what it brings to a warp operation, and where the result goes
  void (*resolve)(void** deposits, unsigned lanes);
};

inline Thread threads[MOST_THREADS];
inline Context scheduler;
inline int thread_count, running;
inline bool in_fibers;
inline char* stacks;
inline void (*kernel_body)(void*);
inline void* kernel_arguments;

constexpr size_t ALL_STACKS = (STACK_BYTES + 4096) * MOST_THREADS;

// Each guard page is a mapping of its own, a process has 65530, and every library has its stacks.
inline void release_stacks() {
  if (stacks) munmap(stacks, ALL_STACKS);
  stacks = nullptr;
}

inline char* stack_of(int thread) {
  if (!stacks) {
    // Below each stack lies a page that nobody may touch.
    stacks = static_cast<char*>(mmap(nullptr, ALL_STACKS, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    for (int i = 0; i < MOST_THREADS; ++i) mprotect(stacks + (STACK_BYTES + 4096) * i, 4096, PROT_NONE);
  }
  return stacks + (STACK_BYTES + 4096) * thread + 4096;
}

inline void set_thread(int thread) {
  running = thread;
  thread_index = {thread % block_size.x, thread / block_size.x % block_size.y, thread / (block_size.x * block_size.y)};
}

inline void leave() { switch_context(&threads[running].context, &scheduler); }

inline void run_thread() {
  kernel_body(kernel_arguments);
  threads[running].state = DONE;
  leave();
}

// ---- barriers and warp operations

__attribute__((noinline)) inline void barrier(int64_t site) {
  if (!in_fibers) return fault("line %ld: a barrier in a kernel that was taken for one without", (long)site);
  threads[running].state = AT_BARRIER;
  threads[running].site = site;
  leave();
}

inline int lane() { return running % WARP; }

// Lanes of the running thread's warp that still run.
inline unsigned living_lanes() {
  unsigned lanes = 0;
  int first = running - lane();
  for (int i = 0; i < WARP && first + i < thread_count; ++i) lanes |= unsigned(threads[first + i].state != DONE) << i;
  return lanes;
}

// Wait for all lanes of `mask`; the last to come computes the results of all from what they bring.
__attribute__((noinline)) inline void in_warp(unsigned mask, int64_t site, void* deposit,
                                              void (*resolve)(void**, unsigned)) {
  if (!in_fibers) return fault("line %ld: a warp operation in a kernel taken for one without", (long)site);
  Thread& mine = threads[running];
  if (!(mask >> lane() & 1)) fault("line %ld: a warp operation whose mask leaves out the thread itself", (long)site);
  mine.state = IN_WARP;
  mine.site = site;
  mine.mask = mask;
  mine.deposit = deposit;
  mine.resolve = resolve;
  leave();
}

// Let the lanes go that wait for each other and are all there. Lanes outside of the block count as absent.
inline bool resolve_warp(int first) {
  bool any = false;
  for (int i = 0; i < WARP && first + i < thread_count; ++i) {
    Thread& mine = threads[first + i];
    if (mine.state != IN_WARP) continue;
    void* deposits[WARP] = {};
    unsigned lanes = 0;
    bool complete = true;
    for (int j = 0; j < WARP && first + j < thread_count; ++j) {
      if (!(mine.mask >> j & 1)) continue;
      Thread& other = threads[first + j];
      complete &= other.state == IN_WARP && other.site == mine.site && other.mask == mine.mask;
      deposits[j] = other.deposit;
      lanes |= 1u << j;
    }
    if (!complete) continue;
    mine.resolve(deposits, lanes);
    for (int j = 0; j < WARP; ++j)
      if (lanes >> j & 1) threads[first + j].state = READY;
    any = true;
  }
  return any;
}

// True if threads may go on: all that still run wait at one barrier, or lanes of a warp have met.
inline bool release() {
  bool any = false;
  for (int first = 0; first < thread_count; first += WARP) any |= resolve_warp(first);
  int64_t site = NO_SITE;
  bool together = true;
  for (int i = 0; i < thread_count; ++i) {
    if (threads[i].state == DONE) continue;
    if (site == NO_SITE) site = threads[i].site;
    together &= threads[i].state == AT_BARRIER && threads[i].site == site;
  }
  if (site == NO_SITE || !together) return any;
  for (int i = 0; i < thread_count; ++i)
    if (threads[i].state == AT_BARRIER) threads[i].state = READY;
  return true;
}

// All threads wait, and not for the same thing: say where two of them are.
inline bool all_done_or_fault() {
  int first = -1;
  for (int i = 0; i < thread_count; ++i) {
    if (threads[i].state == DONE) continue;
    if (first < 0) first = i;
    if (threads[i].site == threads[first].site && threads[i].state == threads[first].state) continue;
    set_thread(i);
    fault("waits at line %ld of the kernel while thread %d waits at line %ld", (long)threads[i].site, first,
          (long)threads[first].site);
  }
  if (first >= 0) {
    set_thread(first);
    fault("waits at line %ld of the kernel for threads that never come", (long)threads[first].site);
  }
  return true;
}

// ---- blocks

inline uint32_t random_state = 1;

inline void permute(int* turns) {
  for (int i = 0; i < thread_count; ++i) turns[i] = order == REVERSE ? thread_count - 1 - i : i;
  if (order != SHUFFLED) return;
  for (int i = thread_count - 1; i > 0; --i) {
    random_state = random_state * 1664525u + 1013904223u;
    int other = int((uint64_t(random_state) * (i + 1)) >> 32), kept = turns[i];
    turns[i] = turns[other];
    turns[other] = kept;
  }
}

inline void run_fibers() {
  int turns[MOST_THREADS];
  for (int i = 0; i < thread_count; ++i) {
    threads[i].state = READY;
    prepare_context(&threads[i].context, stack_of(i), run_thread);
  }
  do {
    permute(turns);
    for (int i = 0; i < thread_count; ++i) {
      if (threads[turns[i]].state != READY) continue;
      set_thread(turns[i]);
      switch_context(&scheduler, &threads[turns[i]].context);
    }
  } while (release());
  all_done_or_fault();
}

// All threads after each other, in one fiber: a thread that is stopped stops them all.
inline void run_each() {
  int turns[MOST_THREADS];
  permute(turns);
  for (int i = 0; i < thread_count; ++i) {
    set_thread(turns[i]);
    kernel_body(kernel_arguments);
  }
  switch_context(&threads[0].context, &scheduler);
}

inline void run_calls() {
  prepare_context(&threads[0].context, stack_of(0), run_each);
  switch_context(&scheduler, &threads[0].context);
}

// Leave a thread for good where it would go on with what a GPU refuses.
inline void stop() {
  if (!in_fibers) return switch_context(&threads[0].context, &scheduler);
  threads[running].state = DONE;
  leave();
}

// What a kernel is, as its source tells.
struct Kernel {
  const char* name;
  void (*body)(void*);
  bool waits;                  // it has barriers or warp operations
  size_t shared_bytes;         // static shared memory, with the guards between its arrays
  size_t shared_declared;      // the same without guards
  const size_t* guards;        // where guards lie in it
  int guard_count;
  int64_t most_threads;        // __launch_bounds__
};

inline bool may_launch(const Kernel& kernel, int64_t dynamic_bytes) {
  int64_t count = int64_t(block_size.x) * block_size.y * block_size.z;
  int64_t shared = int64_t(kernel.shared_declared) + dynamic_bytes;
  if (count < 1 || count > MOST_THREADS || count > kernel.most_threads || block_size.z > 64)
    fault("%ld threads in a block (z %u); the kernel is bound to %ld", (long)count, block_size.z,
          (long)kernel.most_threads);
  else if (kernel.shared_declared > 48 * 1024 || shared > 227 * 1024)
    fault("%ld bytes of static and %ld of dynamic shared memory", (long)kernel.shared_declared, (long)dynamic_bytes);
  else if (grid_size.y > 65535 || grid_size.z > 65535 || grid_size.x > 0x7fffffffu || !grid_size.x || !grid_size.y ||
           !grid_size.z)
    fault("a grid of (%u, %u, %u) blocks", grid_size.x, grid_size.y, grid_size.z);
  return !fault_text[0];
}

inline void check_guard(size_t offset, const char* kind) {
  for (size_t i = 0; i < GUARD_BYTES; ++i) {
    if (shared_memory[offset + i] == rubbish) continue;
    fault("%s memory was written %zu bytes behind an array (guard at byte %zu)", kind, i, offset);
    return;
  }
}

inline void forget_copies();  // device_on_cpu.h

inline void run_block(const Kernel& kernel, size_t dynamic_bytes) {
  size_t all = kernel.shared_bytes + dynamic_bytes + GUARD_BYTES;
  memset(shared_memory, rubbish, all);
  forget_copies();
  in_fibers = kernel.waits;
  kernel.waits ? run_fibers() : run_calls();
  for (int i = 0; i < kernel.guard_count; ++i) check_guard(kernel.guards[i], "shared");
  if (dynamic_bytes) check_guard(kernel.shared_bytes + dynamic_bytes, "dynamic shared");
}

inline void launch(const Kernel& kernel, dim3 grid, dim3 block, int64_t dynamic_bytes, void* arguments) {
  kernel_name = kernel.name;
  kernel_body = kernel.body;
  kernel_arguments = arguments;
  grid_size = grid;
  block_size = block;
  block_index = thread_index = {0, 0, 0};
  if (!may_launch(kernel, dynamic_bytes)) return;
  thread_count = int(block.x * block.y * block.z);
  int64_t blocks = int64_t(grid.x) * grid.y * grid.z;
  for (int64_t i = 0; i < blocks && !fault_text[0]; ++i) {
    int64_t block_number = order == REVERSE ? blocks - 1 - i : i;
    block_index = {unsigned(block_number % grid.x), unsigned(block_number / grid.x % grid.y),
                   unsigned(block_number / (int64_t(grid.x) * grid.y))};
    run_block(kernel, size_t(dynamic_bytes));
  }
  release_stacks();
}

struct Guard {
  uint8_t bytes[GUARD_BYTES];
};

// An argument as TVM's host code hands it to a kernel (TVMFFIAny of tvm/ffi/c_api.h).
struct Argument {
  int32_t type;
  uint32_t padding;
  union {
    int64_t integer;
    double real;
    void* address;
  };
};

}  // namespace emulated

// g++ calls these where -fsanitize finds what C++ does not define, and where a GPU faults or differs from this CPU.
struct EmulatedPlace {
  const char* file;
  uint32_t line, column;
};
struct EmulatedMismatch {
  EmulatedPlace place;
  const void* type;
  unsigned char alignment_bits, kind;
};
#define EMULATED_CHECK extern "C" __attribute__((visibility("hidden"), noinline, used)) inline
EMULATED_CHECK void __ubsan_handle_type_mismatch_v1(EmulatedMismatch* found, uintptr_t address) {
  emulated::fault("line %u: address %p is not aligned to %d bytes", found->place.line, (void*)address,
                  1 << found->alignment_bits);
  emulated::stop();
}
EMULATED_CHECK void __ubsan_handle_out_of_bounds(EmulatedPlace* place, uintptr_t index) {
  emulated::fault("line %u: index %ld of an array that does not reach so far", place->line, (long)index);
  emulated::stop();
}
EMULATED_CHECK void __ubsan_handle_shift_out_of_bounds(EmulatedPlace* place, uintptr_t, uintptr_t by) {
  emulated::fault("line %u: a shift by %ld bits", place->line, (long)by);
}
EMULATED_CHECK void __ubsan_handle_divrem_overflow(EmulatedPlace* place, uintptr_t, uintptr_t) {
  emulated::fault("line %u: a division by zero", place->line);
  emulated::stop();
}

#define EMULATED_EXPORT extern "C" __attribute__((visibility("default"), used))
EMULATED_EXPORT inline const char* emulator_fault() { return emulated::fault_text; }
EMULATED_EXPORT inline void emulator_reset(int order, int rubbish) {
  emulated::fault_text[0] = 0;
  emulated::order = order;
  emulated::rubbish = uint8_t(rubbish);
  emulated::random_state = 1;
}
// The host code asks for a GPU before it launches; here is none to choose.
EMULATED_EXPORT inline int __tvm_ffi___tvm_set_device(void*, const emulated::Argument*, int32_t,
                                                      emulated::Argument*) {
  return 0;
}
