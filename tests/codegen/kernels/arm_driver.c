// Runs compiled kernels on tensors from a file and writes their outputs to another: tests/codegen/kernels/arm.py.
//
// Input, little endian: for each function of the table, in order, the number of tensors (int32), then for each tensor
// type code, bits and rank (int32), the sizes (int64) and the data. The last tensor is the output; its bytes are
// written behind those of the outputs before.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <tvm/ffi/c_api.h>

#define KERNEL(name) int __tvm_ffi_##name(void *, const TVMFFIAny *, int32_t, TVMFFIAny *);
#include "table.h"
#undef KERNEL

typedef int (*Function)(void *, const TVMFFIAny *, int32_t, TVMFFIAny *);
#define KERNEL(name) __tvm_ffi_##name,
static const Function FUNCTIONS[] = {
#include "table.h"
};

enum { MOST_TENSORS = 8, MOST_AXES = 8, TASKS = 3 };

void TVMFFIErrorSetRaisedFromCStrParts(const char *kind, const char **parts, int32_t count) {
  fprintf(stderr, "%s: ", kind);
  for (int32_t i = 0; i < count; ++i) fputs(parts[i], stderr);
  fputc('\n', stderr);
}

typedef struct {
  void *sync_handle;
  int32_t num_task;
} ParallelGroup;

// One task after the other: what a chunk computes does not depend on when.
static int parallel_launch(int (*task)(int, ParallelGroup *, void *), void *data, int count) {
  (void)count;
  ParallelGroup group = {NULL, TASKS};
  for (int id = TASKS - 1; id >= 0; --id)
    if (task(id, &group, data)) return -1;
  return 0;
}

static void *allocate_workspace(int device_type, int device_id, uint64_t bytes, int code, int bits) {
  (void)device_type, (void)device_id, (void)code, (void)bits;
  return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static int free_workspace(int device_type, int device_id, void *memory) {
  (void)device_type, (void)device_id;
  free(memory);
  return 0;
}

// Compiled code calls the runtime through these variables, which a loader fills.
void *__TVMBackendParallelLaunch = parallel_launch;
void *__TVMBackendAllocWorkspace = allocate_workspace;
void *__TVMBackendFreeWorkspace = free_workspace;

static void take(void *target, size_t bytes, FILE *file) {
  if (fread(target, 1, bytes, file) != bytes) {
    fprintf(stderr, "the input ends too early\n");
    exit(3);
  }
}

static size_t take_tensor(DLTensor *tensor, int64_t *sizes, FILE *file) {
  int32_t head[3];
  take(head, sizeof head, file);
  take(sizes, head[2] * sizeof *sizes, file);
  size_t bytes = head[1] / 8;
  for (int32_t axis = 0; axis < head[2]; ++axis) bytes *= sizes[axis];
  *tensor = (DLTensor){.data = aligned_alloc(64, (bytes + 64) / 64 * 64),
                       .device = {kDLCPU, 0},
                       .ndim = head[2],
                       .dtype = {(uint8_t)head[0], (uint8_t)head[1], 1},
                       .shape = sizes};
  take(tensor->data, bytes, file);
  return bytes;
}

int main(int count, char **arguments) {
  FILE *input = count == 3 ? fopen(arguments[1], "rb") : NULL, *output = count == 3 ? fopen(arguments[2], "wb") : NULL;
  if (!input || !output) return 2;
  for (size_t f = 0; f < sizeof FUNCTIONS / sizeof *FUNCTIONS; ++f) {
    int32_t tensors;
    take(&tensors, sizeof tensors, input);
    static DLTensor tensor[MOST_TENSORS];
    static int64_t sizes[MOST_TENSORS][MOST_AXES];
    TVMFFIAny values[MOST_TENSORS] = {0}, result = {0};
    size_t bytes = 0;
    for (int32_t i = 0; i < tensors; ++i) {
      bytes = take_tensor(&tensor[i], sizes[i], input);
      values[i].type_index = kTVMFFIDLTensorPtr;
      values[i].v_ptr = &tensor[i];
    }
    if (FUNCTIONS[f](NULL, values, tensors, &result)) return 1;
    if (fwrite(tensor[tensors - 1].data, 1, bytes, output) != bytes) return 4;
    for (int32_t i = 0; i < tensors; ++i) free(tensor[i].data);
  }
  return fclose(output) ? 4 : 0;
}
