/* The plan of a model as tvmq/library/plan_bytes.py writes it: a part of runtime.c.

   Places are bytes from the plan's begin, so that no page of it is written when it is loaded. A number is an int64_t: from
   0 on itself, below 0 the entry ~number of the table that sizes.h fills for the sizes of a run. */
struct plan_dimension {
    uint32_t name, multiple; /* of which a size is one; at least 1 */
    int64_t least, most;
};

struct plan_tensor {
    uint32_t name, type, rank, alignment, item_bytes;
    uint32_t batch_axis; /* plus 1: where samples lie one behind the other that are computed so; 0: nowhere */
    double scale;
    int64_t zero_point;
    int64_t shape[MODEL_MOST_RANK], bytes; /* numbers */
};

struct plan_operation { /* an entry of the table of numbers */
    uint32_t kind, padding;
    int64_t a, b, c;
};

struct plan_indices { /* an input that counts: values at number + k * count of it are below sizes[number] */
    uint32_t input, count, sizes, padding; /* sizes: numbers */
};

struct plan_place { /* where an argument of a kernel lies */
    uint32_t memory;
    uint16_t rank, is_dynamic;
    uint8_t type_code, type_bits;
    uint16_t type_lanes;
    uint32_t shape; /* place of its sizes; of a dynamic one the first of its entries of the table */
    int64_t offset, bytes; /* numbers */
};

struct plan_code {
    uint32_t name, needs, steps, step_words, places, kernels; /* kernels: from each entry to its function */
    uint32_t most_arguments, padding;
    int64_t storage_bytes, scratch_bytes, task_scratch_bytes; /* numbers; a task: one thread's part of a parallel loop */
    uint32_t golden, golden_count, operations, operation_count; /* of the table; it begins as that of the plan */
};

struct plan_golden { /* what a place holds after so many steps */
    uint32_t steps, place, layer, padding;
    uint64_t hashes[2]; /* either */
};

struct plan {
    uint32_t version, codes, code_count, inputs, input_count, outputs, output_count, size_count;
    uint32_t name, model_hash, code_hash, code_names;
    uint32_t dimensions, batch, operations, operation_count; /* batch: plus 1, the dimension of samples */
    uint32_t indices, index_count, golden_sizes, padding;
};

enum { PLAN_VERSION = 3 };
enum { STEP_CALL, STEP_COPY };                                    /* [CALL, kernel, count, places...], [COPY, from, to] */
enum { MEMORY_PLAN, MEMORY_STORAGE, MEMORY_NUMBER, MEMORY_TENSORS }; /* tensors: inputs, then outputs */

extern const struct plan model_plan HIDDEN;

static const void *at(uint32_t place) { return (const unsigned char *)&model_plan + place; }

/* Sums and products of bytes, INT64_MAX for what is more. */
static int64_t plus(int64_t a, int64_t b) { return __builtin_add_overflow(a, b, &a) ? INT64_MAX : a; }

static int64_t times(int64_t a, int64_t b) { return __builtin_mul_overflow(a, b, &a) ? INT64_MAX : a; }

static int64_t aligned(int64_t bytes) {
    return bytes > INT64_MAX - MODEL_ALIGNMENT ? INT64_MAX
                                               : (bytes + MODEL_ALIGNMENT - 1) / MODEL_ALIGNMENT * MODEL_ALIGNMENT;
}
