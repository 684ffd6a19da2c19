/* Runtime of a compiled model: reads the plan that tvmq/library/plan_bytes.py writes and calls its kernels.

   Kernels are functions of TVM's calling convention. What they ask of TVM's runtime (scratch memory, parallel loops,
   error messages) they ask through pointers that this file defines. Memory is the caller's workspace:

       state     tensors and arguments of the call that runs, its context, one context for each thread
       storage   intermediate results, where the plan puts them
       scratch   what kernels ask for while they run; then a part for each thread

   C99 with GCC's extensions for threads and CPUs; no header beyond the compiler's own. */
#include "model.h"

#define HIDDEN __attribute__((visibility("hidden")))
#define EXPORT __attribute__((visibility("default")))
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

/* ---- the plan; places are bytes from the plan's begin, so that no page of it is written when it is loaded */

struct plan_tensor {
    uint32_t name, type, rank, alignment, item_bytes, padding;
    double scale;
    int64_t zero_point;
    int64_t shape[MODEL_MOST_RANK];
};

struct plan_place { /* where an argument of a kernel lies */
    uint32_t memory, rank;
    uint8_t type_code, type_bits;
    uint16_t type_lanes;
    uint32_t shape; /* place of its sizes */
    int64_t offset, bytes;
};

struct plan_code {
    uint32_t name, needs, steps, step_words, places, kernels; /* kernels: from each entry to its function */
    uint32_t most_arguments, padding;
    int64_t storage_bytes, scratch_bytes, task_scratch_bytes; /* a task: one thread's part of a parallel loop */
    uint32_t golden, golden_count;
};

struct plan_golden { /* what a place holds after so many steps */
    uint32_t steps, place, layer, padding;
    uint64_t hashes[2]; /* either */
};

struct plan {
    uint32_t version, codes, code_count, inputs, input_count, outputs, output_count, size_count;
    uint32_t name, model_hash, code_hash, code_names;
};

enum { PLAN_VERSION = 1 };
enum { STEP_CALL, STEP_COPY };                                   /* [CALL, kernel, count, places...], [COPY, from, to] */
enum { MEMORY_PLAN, MEMORY_STORAGE, MEMORY_TENSORS };            /* then inputs, then outputs */

extern const struct plan model_plan HIDDEN;

static const void *at(uint32_t place) { return (const unsigned char *)&model_plan + place; }

static int64_t aligned(int64_t bytes) { return (bytes + MODEL_ALIGNMENT - 1) / MODEL_ALIGNMENT * MODEL_ALIGNMENT; }

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

static int64_t byte_count(const struct plan_tensor *tensor) {
    int64_t bytes = tensor->item_bytes;
    for (uint32_t axis = 0; axis < tensor->rank; axis++) bytes *= tensor->shape[axis];
    return bytes;
}

static int describe_tensor(const struct plan_tensor *own, model_tensor *tensor) {
    if (!tensor) return MODEL_NULL_POINTER;
    tensor->name = at(own->name);
    tensor->type = at(own->type);
    tensor->rank = own->rank;
    tensor->alignment = own->alignment;
    for (uint32_t axis = 0; axis < MODEL_MOST_RANK; axis++) tensor->shape[axis] = own->shape[axis];
    tensor->bytes = byte_count(own);
    tensor->scale = own->scale;
    tensor->zero_point = own->zero_point;
    return MODEL_OK;
}

EXPORT int model_input(uint32_t number, const int64_t *sizes, model_tensor *tensor) {
    (void)sizes;
    if (number >= model_plan.input_count) return MODEL_NO_SUCH_TENSOR;
    return describe_tensor((const struct plan_tensor *)at(model_plan.inputs) + number, tensor);
}

EXPORT int model_output(uint32_t number, const int64_t *sizes, model_tensor *tensor) {
    (void)sizes;
    if (number >= model_plan.output_count) return MODEL_NO_SUCH_TENSOR;
    return describe_tensor((const struct plan_tensor *)at(model_plan.outputs) + number, tensor);
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
    case MODEL_NO_GOLDEN: return "the library was made without values for a self-test; export it with them";
    default: return "a status that this library does not give";
    }
}

/* ---- runs */

static int64_t state_bytes(const struct plan_code *code, uint32_t threads) {
    return aligned((int64_t)sizeof(struct tensor) * code->most_arguments) +
           aligned((int64_t)sizeof(struct argument) * code->most_arguments) +
           aligned((int64_t)sizeof(struct context) * ((int64_t)threads + 1));
}

static int64_t workspace_bytes(const struct plan_code *code, uint32_t threads) {
    return state_bytes(code, threads) + aligned(code->storage_bytes) + aligned(code->scratch_bytes) +
           (int64_t)threads * aligned(code->task_scratch_bytes);
}

EXPORT int64_t model_workspace_bytes(const int64_t *sizes, uint32_t threads) {
    const struct plan_code *code = chosen_code();
    (void)sizes;
    if (!code) return MODEL_NOT_INITIALIZED;
    return threads ? workspace_bytes(code, threads) : MODEL_WRONG_THREADS;
}

static int check_buffers(const struct plan_tensor *tensors, uint32_t count, const model_buffer *buffers) {
    if (count && !buffers) return MODEL_NULL_POINTER;
    for (uint32_t number = 0; number < count; number++) {
        int64_t bytes = byte_count(tensors + number);
        if (buffers[number].bytes < (size_t)bytes) return MODEL_SHORT_BUFFER;
        if (bytes && !buffers[number].data) return MODEL_NULL_POINTER;
        if ((uintptr_t)buffers[number].data % tensors[number].alignment) return MODEL_MISALIGNED;
    }
    return MODEL_OK;
}

struct run {
    const struct plan_code *code;
    const model_buffer *inputs, *outputs;
    unsigned char *storage, *scratch;
    struct tensor *tensors;
    struct argument *arguments;
    struct context *context;
    const struct plan_golden *golden, *golden_end; /* what is compared from here on: nothing but in a self-test */
};

static void *data_of(const struct run *run, const struct plan_place *place) {
    uint32_t memory = place->memory;
    const unsigned char *base;
    if (memory == MEMORY_PLAN)
        base = (const unsigned char *)&model_plan;
    else if (memory == MEMORY_STORAGE)
        base = run->storage;
    else if (memory - MEMORY_TENSORS < model_plan.input_count)
        base = run->inputs[memory - MEMORY_TENSORS].data;
    else
        base = run->outputs[memory - MEMORY_TENSORS - model_plan.input_count].data;
    return (void *)(base + place->offset);
}

static int call_kernel(const struct run *run, const uint32_t *step) {
    const int32_t *distance = (const int32_t *)at(run->code->kernels) + step[0];
    const struct plan_place *places = at(run->code->places);
    kernel_function kernel = (kernel_function)(uintptr_t)((const unsigned char *)distance + *distance);
    struct argument result = {0, 0, {0}};
    for (uint32_t number = 0; number < step[1]; number++) {
        const struct plan_place *place = places + step[2 + number];
        struct tensor *tensor = run->tensors + number;
        tensor->data = data_of(run, place);
        tensor->rank = (int32_t)place->rank;
        tensor->type_code = place->type_code;
        tensor->type_bits = place->type_bits;
        tensor->type_lanes = place->type_lanes;
        tensor->shape = at(place->shape);
    }
    run->context->top = run->scratch;
    return kernel(0, run->arguments, (int32_t)step[1], &result);
}

static void copy_tensor(const struct run *run, const uint32_t *step) {
    const struct plan_place *places = at(run->code->places);
    __builtin_memcpy(data_of(run, places + step[1]), data_of(run, places + step[0]), (size_t)places[step[0]].bytes);
}

#include "selftest.h"

static int run_steps(struct run *run) {
    const uint32_t *step = at(run->code->steps), *end = step + run->code->step_words;
    uint32_t done = 0;
    while (step < end) {
        if (step[0] == STEP_CALL) {
            if (call_kernel(run, step + 1)) return MODEL_KERNEL_FAILED;
            step += 3 + step[2];
        } else {
            copy_tensor(run, step + 1);
            step += 3;
        }
        done++;
        while (run->golden < run->golden_end && run->golden->steps == done)
            if (is_golden(run, run->golden))
                run->golden++;
            else
                return MODEL_DIFFERS;
    }
    return MODEL_OK;
}

/* Cut the workspace into its parts; the tensors get what is the same in all calls. */
static void divide_workspace(struct run *run, unsigned char *memory, const model_threads *threads) {
    const struct plan_code *code = run->code;
    uint32_t most = code->most_arguments;
    run->tensors = (struct tensor *)memory;
    run->arguments = (struct argument *)(memory += aligned((int64_t)sizeof(struct tensor) * most));
    run->context = (struct context *)(memory += aligned((int64_t)sizeof(struct argument) * most));
    run->storage = (memory += aligned((int64_t)sizeof(struct context) * ((int64_t)(threads ? threads->count : 1) + 1)));
    run->scratch = (memory += aligned(code->storage_bytes));
    memory += aligned(code->scratch_bytes);
    *run->context = (struct context){run->scratch,         memory, memory,
                                     run->context + 1, aligned(code->task_scratch_bytes), threads};
    for (uint32_t number = 0; number < most; number++) {
        run->tensors[number] = (struct tensor){0, CPU_DEVICE, 0, 0, 0, 0, 1, 0, 0, 0};
        run->arguments[number] = (struct argument){TENSOR_ARGUMENT, 0, {run->tensors + number}};
    }
}

static int run_model(struct run *run, unsigned char *workspace, const model_threads *threads) {
    divide_workspace(run, workspace, threads);
    struct context *before = current;
    current = run->context;
    int status = run_steps(run);
    current = before;
    return status;
}

EXPORT int model_run(const int64_t *sizes, const model_buffer *inputs, const model_buffer *outputs,
                     model_buffer workspace, const model_threads *threads) {
    struct run run = {.code = chosen_code(), .inputs = inputs, .outputs = outputs};
    int status;
    (void)sizes;
    if (!run.code) return MODEL_NOT_INITIALIZED;
    if (threads && (!threads->count || (threads->count > 1 && !threads->launch))) return MODEL_WRONG_THREADS;
    if ((status = check_buffers(at(model_plan.inputs), model_plan.input_count, inputs))) return status;
    if ((status = check_buffers(at(model_plan.outputs), model_plan.output_count, outputs))) return status;
    if (!workspace.data) return MODEL_NULL_POINTER;
    if ((uintptr_t)workspace.data % MODEL_ALIGNMENT) return MODEL_MISALIGNED;
    if (workspace.bytes < (size_t)workspace_bytes(run.code, threads ? threads->count : 1)) return MODEL_SHORT_WORKSPACE;
    return run_model(&run, workspace.data, threads);
}

EXPORT int64_t model_selftest_bytes(void) {
    const struct plan_code *code = chosen_code();
    return code ? tensors_bytes() + workspace_bytes(code, 1) : MODEL_NOT_INITIALIZED;
}

EXPORT int model_selftest(model_buffer memory, model_difference *difference) {
    const struct plan_code *code = chosen_code();
    if (!code) return MODEL_NOT_INITIALIZED;
    if (!memory.data) return MODEL_NULL_POINTER;
    if ((uintptr_t)memory.data % MODEL_ALIGNMENT) return MODEL_MISALIGNED;
    if (memory.bytes < (size_t)model_selftest_bytes()) return MODEL_SHORT_WORKSPACE;
    if (!code->golden_count) return MODEL_NO_GOLDEN;
    unsigned char *rest = (unsigned char *)memory.data + tensors_bytes();
    const struct plan_golden *golden = at(code->golden);
    struct run run = {.code = code, .golden = golden, .golden_end = golden + code->golden_count};
    run.inputs = place_tensors(memory.data);
    run.outputs = run.inputs + model_plan.input_count;
    int status = run_model(&run, rest, 0);
    if (difference)
        *difference = (model_difference){code->golden_count, (uint32_t)(run.golden - golden),
                                         status == MODEL_DIFFERS ? at(run.golden->layer) : 0};
    return status;
}
