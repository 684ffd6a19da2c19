/* Runtime of a compiled model: reads the plan that tvmq/library/plan_bytes.py writes and calls its kernels.

   Kernels are functions of TVM's calling convention. What they ask of TVM's runtime (scratch memory, parallel loops,
   error messages) they ask through pointers that this file defines. Memory is the caller's workspace:

       numbers   what is computed from the sizes of dynamic dimensions
       state     tensors and arguments of the call that runs, its context, one context for each thread
       samples   buffers of a sample, where samples are run one after the other
       storage   intermediate results, where the plan puts them
       scratch   what kernels ask for while they run; then a part for each thread

   C99 with GCC's extensions for threads and CPUs; no header beyond the compiler's own. */
#include "model.h"

#define HIDDEN __attribute__((visibility("hidden")))
#define EXPORT __attribute__((visibility("default")))
#define NUMBER_ARGUMENT 1 /* kTVMFFIInt */
#define TENSOR_ARGUMENT 7 /* kTVMFFIDLTensorPtr */
#define CPU_DEVICE 1

/* ---- what kernels are given: DLPack's tensor, TVM's argument */

struct tensor {
    void *data;
    int32_t device_type, device_id;
    int32_t rank;
    uint8_t type_code, type_bits;
    uint16_t type_lanes;
    const int64_t *shape;
    const int64_t *strides;
    uint64_t byte_offset;
};

struct argument {
    int32_t kind, padding;
    union {
        const struct tensor *tensor;
        int64_t number;
    } value;
};

typedef int (*kernel_function)(void *self, const struct argument *arguments, int32_t count, struct argument *result);

#include "plan.h"

/* ---- the CPU */

#include "processor.h"

static uint32_t chosen; /* number of the code plus 1; 0: none yet */

static const struct plan_code *chosen_code(void) {
    uint32_t number = __atomic_load_n(&chosen, __ATOMIC_ACQUIRE);
    return number ? (const struct plan_code *)at(model_plan.codes) + (number - 1) : 0;
}

static int equal_texts(const char *one, const char *other) {
    while (*one && *one == *other) one++, other++;
    return *one == *other;
}

/* Choose the first code that fits the processor, of this name if one is given. */
static int choose_code(const char *name) {
    const struct plan_code *codes = at(model_plan.codes);
    int status = name ? MODEL_NO_SUCH_CODE : MODEL_WRONG_CPU;
    if (model_plan.version != PLAN_VERSION) return MODEL_WRONG_CPU;
    for (uint32_t number = 0; number < model_plan.code_count; number++) {
        if (name && !equal_texts(name, at(codes[number].name))) continue;
        if (fits_processor(at(codes[number].needs))) {
            __atomic_store_n(&chosen, number + 1, __ATOMIC_RELEASE);
            return MODEL_OK;
        }
        status = MODEL_WRONG_CPU;
    }
    return status;
}

EXPORT int model_init(void) { return choose_code(0); }

EXPORT int model_select_code(const char *name) { return name ? choose_code(name) : MODEL_NULL_POINTER; }

/* ---- what a run has: scratch memory and threads of the kernel that runs on this thread */

struct context {
    unsigned char *top, *end;
    unsigned char *task_scratch; /* of all threads of a parallel loop; null inside of one */
    struct context *task_contexts;
    int64_t task_bytes;
    const model_threads *threads;
};

static __thread struct context *current;

struct block { /* in front of scratch memory that a kernel holds: what was on top before */
    unsigned char *data, *before;
};

static void *allocate(int device, int id, uint64_t bytes, int code, int bits) {
    struct context *own = current;
    (void)device, (void)id, (void)code, (void)bits;
    if (!own || bytes > (uint64_t)(own->end - own->top) || own->end - own->top - (int64_t)bytes < 2 * MODEL_ALIGNMENT)
        return 0;
    unsigned char *data = own->top + MODEL_ALIGNMENT;
    struct block *block = (struct block *)(data - sizeof(struct block));
    block->data = data;
    block->before = own->top;
    own->top = data + aligned((int64_t)bytes);
    return data;
}

static int release(int device, int id, void *data) {
    (void)device, (void)id;
    if (current && data) current->top = ((struct block *)data - 1)->before; /* kernels release in reverse order */
    return 0;
}

struct group { /* TVMParallelGroupEnv */
    void *handle;
    int32_t count;
};

typedef int (*parallel_body)(int number, struct group *group, void *data);

struct loop {
    struct context *context;
    parallel_body body;
    void *data;
    struct group group;
    int failed;
};

static void run_task(void *job, uint32_t number) {
    struct loop *loop = job;
    struct context *before = current, *own = loop->context->task_contexts + number;
    own->top = loop->context->task_scratch + (int64_t)number * loop->context->task_bytes;
    own->end = own->top + loop->context->task_bytes;
    own->task_scratch = 0;
    current = own;
    if (loop->body((int)number, &loop->group, loop->data)) __atomic_store_n(&loop->failed, 1, __ATOMIC_RELAXED);
    current = before;
}

static int launch(parallel_body body, void *data, int count) {
    struct context *own = current;
    uint32_t most = own && own->task_scratch && own->threads ? own->threads->count : 1;
    struct loop loop = {own, body, data, {0, 1}, 0};
    if (count > 0 && (uint32_t)count < most) most = (uint32_t)count;
    loop.group.count = (int32_t)most;
    if (!own) return -1;
    if (most == 1 && !own->task_scratch) return body(0, &loop.group, data);
    if (most == 1)
        run_task(&loop, 0);
    else
        own->threads->launch(own->threads->pool, run_task, &loop, most);
    return loop.failed ? -1 : 0;
}

static void set_error(const char *kind, const char *message) { (void)kind, (void)message; }

static void set_error_parts(const char *kind, const char **parts, int32_t count) {
    (void)kind, (void)parts, (void)count;
}

#include "pool.h"

/* Where kernels look for these functions */
#define POINTER(name) HIDDEN extern void *const name; void *const name
POINTER(__TVMBackendAllocWorkspace) = (void *)allocate;
POINTER(__TVMBackendFreeWorkspace) = (void *)release;
POINTER(__TVMBackendParallelLaunch) = (void *)launch;
POINTER(__TVMFFIErrorSetRaisedFromCStr) = (void *)set_error;
POINTER(__TVMFFIErrorSetRaisedFromCStrParts) = (void *)set_error_parts;

/* ---- descriptions */

EXPORT int model_describe(model_description *description) {
    const struct plan_code *code = chosen_code();
    if (!description) return MODEL_NULL_POINTER;
    description->name = at(model_plan.name);
    description->model_hash = at(model_plan.model_hash);
    description->code_hash = at(model_plan.code_hash);
    description->code = code ? at(code->name) : 0;
    description->codes = at(model_plan.code_names);
    description->abi = MODEL_ABI;
    description->inputs = model_plan.input_count;
    description->outputs = model_plan.output_count;
    description->sizes = model_plan.size_count;
    return MODEL_OK;
}

EXPORT const char *model_status_text(int status) {
    switch (status) {
    case MODEL_OK: return "no error";
    case MODEL_NULL_POINTER: return "an argument, or the data of a tensor that has bytes, is null";
    case MODEL_SHORT_BUFFER: return "an input or output has fewer bytes than its description says";
    case MODEL_MISALIGNED: return "data does not begin at a multiple of the alignment that its description names";
    case MODEL_SHORT_WORKSPACE: return "a workspace or the memory of a pool is smaller than workspace_bytes or pool_bytes says";
    case MODEL_WRONG_SIZE: return "a dynamic dimension has a size that the model does not take, or sizes are missing";
    case MODEL_NO_SUCH_TENSOR: return "there is no input, output or dimension of this number";
    case MODEL_WRONG_CPU: return "this processor lacks instructions that the code needs; export it for an older one";
    case MODEL_NOT_INITIALIZED: return "the function init was not called, or failed";
    case MODEL_WRONG_THREADS: return "the number of threads is 0, above 1 without a launch function, or above 256 of a pool";
    case MODEL_KERNEL_FAILED: return "a computation refused its data";
    case MODEL_NO_SUCH_CODE: return "the library has no code of this name; its description lists the names";
    case MODEL_NO_THREADS: return "the program has no function pthread_create, or the system starts no more threads";
    case MODEL_DIFFERS: return "a layer gives another result than the definition: report the processor and the layer";
    case MODEL_WRONG_INDEX: return "an input holds an index outside of what it counts";
    case MODEL_NO_MULTIPLE: return "a dynamic dimension is no multiple of the number that its description says: pad or resize";
    case MODEL_NO_GOLDEN: return "the library was made without values for a self-test; export it with them";
    default: return "a status that this library does not give";
    }
}

#include "sizes.h"

#include "run.h"
