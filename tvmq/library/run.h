/* A run: the workspace divided, steps made, samples one after the other: a part of runtime.c. */
struct run {
    const struct plan_code *code;
    const model_buffer *inputs, *outputs; /* of a sample, where samples are run one after the other */
    int64_t *numbers;
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
    return (void *)(base + number_of(run->numbers, place->offset));
}

static int call_kernel(const struct run *run, const uint32_t *step) {
    const int32_t *distance = (const int32_t *)at(run->code->kernels) + step[0];
    const struct plan_place *places = at(run->code->places);
    kernel_function kernel = (kernel_function)(uintptr_t)((const unsigned char *)distance + *distance);
    struct argument result = {0, 0, {0}};
    for (uint32_t number = 0; number < step[1]; number++) {
        const struct plan_place *place = places + step[2 + number];
        struct tensor *tensor = run->tensors + number;
        struct argument *argument = run->arguments + number;
        if (place->memory == MEMORY_NUMBER) {
            argument->kind = NUMBER_ARGUMENT;
            argument->value.number = number_of(run->numbers, place->offset);
            continue;
        }
        argument->kind = TENSOR_ARGUMENT;
        argument->value.tensor = tensor;
        tensor->data = data_of(run, place);
        tensor->rank = place->rank;
        tensor->type_code = place->type_code;
        tensor->type_bits = place->type_bits;
        tensor->type_lanes = place->type_lanes;
        tensor->shape = place->is_dynamic ? run->numbers + place->shape : at(place->shape);
    }
    run->context->top = run->scratch;
    return kernel(0, run->arguments, (int32_t)step[1], &result);
}

static void copy_tensor(const struct run *run, const uint32_t *step) {
    const struct plan_place *places = at(run->code->places);
    __builtin_memcpy(data_of(run, places + step[1]), data_of(run, places + step[0]),
                     (size_t)number_of(run->numbers, places[step[0]].bytes));
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

/* ---- samples, where the model computes one at a time */

static int64_t sample_count(const int64_t *numbers) { return model_plan.batch ? numbers[model_plan.batch - 1] : 1; }

/* Tensors that have samples, or none where the model computes all at once. */
static uint32_t tensor_count(void) { return model_plan.batch ? every_tensor() : 0; }

static int64_t sample_bytes(const struct plan_tensor *tensor, const int64_t *numbers) {
    int64_t samples = sample_count(numbers);
    return samples ? number_of(numbers, tensor->bytes) / samples : 0;
}

/* Pieces that a tensor has of each sample: the sizes of the axes in front of that of samples. */
static int64_t piece_count(const struct plan_tensor *tensor, const int64_t *numbers) {
    int64_t count = 1;
    for (uint32_t axis = 0; axis + 1 < tensor->batch_axis; axis++) count *= number_of(numbers, tensor->shape[axis]);
    return count;
}

/* True for a tensor of which a sample is no memory that a kernel takes: it is copied. */
static int is_copied(const struct plan_tensor *tensor, const int64_t *numbers) {
    if (!tensor->batch_axis) return 0;
    return piece_count(tensor, numbers) != 1 || sample_bytes(tensor, numbers) % tensor->alignment;
}

static int64_t copies_bytes(const int64_t *numbers) {
    int64_t bytes = 0;
    for (uint32_t number = 0; number < tensor_count(); number++)
        if (is_copied(tensor_at(number), numbers))
            bytes = plus(bytes, aligned(sample_bytes(tensor_at(number), numbers)));
    return bytes;
}

static void copy_sample(const struct plan_tensor *tensor, const int64_t *numbers, unsigned char *whole, int64_t number,
                        unsigned char *sample, int is_input) {
    int64_t pieces = piece_count(tensor, numbers);
    int64_t bytes = pieces ? sample_bytes(tensor, numbers) / pieces : 0;
    for (int64_t piece = 0; piece < pieces; piece++, sample += bytes) {
        unsigned char *part = whole + (piece * sample_count(numbers) + number) * bytes;
        __builtin_memcpy(is_input ? sample : part, is_input ? part : sample, (size_t)bytes);
    }
}

/* Run all samples; buffers: room for those of one, copies: for what is copied. */
static int run_samples(struct run *run, model_buffer *buffers, unsigned char *copies) {
    const model_buffer *inputs = run->inputs, *outputs = run->outputs;
    int status = MODEL_OK;
    if (!model_plan.batch) return run_steps(run);
    run->inputs = buffers;
    run->outputs = buffers + model_plan.input_count;
    for (int64_t sample = 0; sample < sample_count(run->numbers) && !status; sample++) {
        for (int is_after = 0; is_after < 2 && !status; is_after++) {
            unsigned char *copy = copies;
            for (uint32_t number = 0; number < tensor_count(); number++) {
                const struct plan_tensor *tensor = tensor_at(number);
                int is_input = number < model_plan.input_count, copied = is_copied(tensor, run->numbers);
                unsigned char *whole = is_input ? inputs[number].data : outputs[number - model_plan.input_count].data;
                int64_t bytes = sample_bytes(tensor, run->numbers);
                if (copied && is_input != is_after) copy_sample(tensor, run->numbers, whole, sample, copy, is_input);
                if (!is_after) buffers[number].data = copied ? copy : tensor->batch_axis ? whole + sample * bytes : whole;
                if (copied) copy += aligned(bytes);
            }
            if (!is_after) status = run_steps(run);
        }
    }
    return status;
}

/* ---- the workspace */

static int64_t table_bytes(const struct plan_code *code) {
    return aligned((int64_t)sizeof(int64_t) * ((int64_t)model_plan.size_count + code->operation_count));
}

static int64_t workspace_bytes(const struct plan_code *code, const int64_t *numbers, uint32_t threads) {
    int64_t bytes = table_bytes(code) + aligned((int64_t)sizeof(struct tensor) * code->most_arguments) +
                    aligned((int64_t)sizeof(struct argument) * code->most_arguments) +
                    aligned((int64_t)sizeof(struct context) * ((int64_t)threads + 1)) +
                    aligned((int64_t)sizeof(model_buffer) * tensor_count());
    bytes = plus(bytes, copies_bytes(numbers));
    bytes = plus(bytes, aligned(number_of(numbers, code->storage_bytes)));
    bytes = plus(bytes, aligned(number_of(numbers, code->scratch_bytes)));
    return plus(bytes, times(threads, aligned(number_of(numbers, code->task_scratch_bytes))));
}

EXPORT int64_t model_workspace_bytes(const int64_t *sizes, uint32_t threads) {
    const struct plan_code *code = chosen_code();
    int64_t numbers[MOST_NUMBERS];
    if (!code) return MODEL_NOT_INITIALIZED;
    if (!threads) return MODEL_WRONG_THREADS;
    int status = fill_numbers(sizes, code->operations, code->operation_count, numbers);
    int64_t bytes = status ? status : workspace_bytes(code, numbers, threads);
    return bytes == INT64_MAX ? MODEL_WRONG_SIZE : bytes;
}

/* Cut the workspace, whose numbers are filled, into its parts, and run. */
static int run_model(struct run *run, unsigned char *memory, const model_threads *threads) {
    const struct plan_code *code = run->code;
    uint32_t most = code->most_arguments;
    int64_t task_bytes = aligned(number_of(run->numbers, code->task_scratch_bytes));
    model_buffer *buffers;
    unsigned char *copies;
    run->tensors = (struct tensor *)(memory += table_bytes(code));
    run->arguments = (struct argument *)(memory += aligned((int64_t)sizeof(struct tensor) * most));
    run->context = (struct context *)(memory += aligned((int64_t)sizeof(struct argument) * most));
    memory += aligned((int64_t)sizeof(struct context) * ((int64_t)(threads ? threads->count : 1) + 1));
    buffers = (model_buffer *)memory;
    copies = (memory += aligned((int64_t)sizeof(model_buffer) * tensor_count()));
    run->storage = (memory += copies_bytes(run->numbers));
    run->scratch = (memory += aligned(number_of(run->numbers, code->storage_bytes)));
    memory += aligned(number_of(run->numbers, code->scratch_bytes));
    *run->context = (struct context){run->scratch, memory, memory, run->context + 1, task_bytes, threads};
    for (uint32_t number = 0; number < most; number++)
        run->tensors[number] = (struct tensor){0, CPU_DEVICE, 0, 0, 0, 0, 1, 0, 0, 0};
    struct context *before = current;
    current = run->context;
    int status = run_samples(run, buffers, copies);
    current = before;
    return status;
}

/* The memory of a run: its numbers filled, as large as it must be. */
static int prepare_run(struct run *run, const int64_t *sizes, model_buffer workspace, uint32_t threads) {
    const struct plan_code *code = run->code;
    if (!workspace.data) return MODEL_NULL_POINTER;
    if ((uintptr_t)workspace.data % MODEL_ALIGNMENT) return MODEL_MISALIGNED;
    if (workspace.bytes < (uint64_t)table_bytes(code)) return MODEL_SHORT_WORKSPACE;
    run->numbers = workspace.data;
    int status = fill_numbers(sizes, code->operations, code->operation_count, run->numbers);
    if (status) return status;
    return workspace.bytes < (uint64_t)workspace_bytes(code, run->numbers, threads) ? MODEL_SHORT_WORKSPACE : MODEL_OK;
}

EXPORT int model_run(const int64_t *sizes, const model_buffer *inputs, const model_buffer *outputs,
                     model_buffer workspace, const model_threads *threads) {
    struct run run = {.code = chosen_code(), .inputs = inputs, .outputs = outputs};
    int status;
    if (!run.code) return MODEL_NOT_INITIALIZED;
    if ((status = check_threads(threads))) return status;
    if ((status = prepare_run(&run, sizes, workspace, threads ? threads->count : 1))) return status;
    if ((status = check_buffers(at(model_plan.inputs), model_plan.input_count, inputs, run.numbers))) return status;
    if ((status = check_buffers(at(model_plan.outputs), model_plan.output_count, outputs, run.numbers))) return status;
    if ((status = check_indices(inputs, run.numbers))) return status;
    return run_model(&run, workspace.data, threads);
}

EXPORT int64_t model_selftest_bytes(void) {
    const struct plan_code *code = chosen_code();
    int64_t numbers[MOST_NUMBERS];
    if (!code) return MODEL_NOT_INITIALIZED;
    int status = fill_numbers(at(model_plan.golden_sizes), code->operations, code->operation_count, numbers);
    return status ? status : tensors_bytes(numbers) + workspace_bytes(code, numbers, 1);
}

EXPORT int model_selftest(model_buffer memory, model_difference *difference) {
    const struct plan_code *code = chosen_code();
    if (!code) return MODEL_NOT_INITIALIZED;
    if (!memory.data) return MODEL_NULL_POINTER;
    if ((uintptr_t)memory.data % MODEL_ALIGNMENT) return MODEL_MISALIGNED;
    if (memory.bytes < (uint64_t)model_selftest_bytes()) return MODEL_SHORT_WORKSPACE;
    if (!code->golden_count) return MODEL_NO_GOLDEN;
    const struct plan_golden *golden = at(code->golden);
    struct run run = {.code = code, .golden = golden, .golden_end = golden + code->golden_count};
    int status = prepare_run(&run, at(model_plan.golden_sizes), memory, 1);
    if (status) return status;
    run.inputs = place_tensors((unsigned char *)memory.data + workspace_bytes(code, run.numbers, 1), run.numbers);
    run.outputs = run.inputs + model_plan.input_count;
    status = run_model(&run, memory.data, 0);
    if (difference)
        *difference = (model_difference){code->golden_count, (uint32_t)(run.golden - golden),
                                         status == MODEL_DIFFERS ? at(run.golden->layer) : 0};
    return status;
}
