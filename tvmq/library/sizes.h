/* Numbers computed from the sizes of dynamic dimensions, and tensors of these sizes: a part of runtime.c.

   Sizes are the caller's: each operation is checked, and a number that leaves its range makes a size wrong. */
enum operation { /* size_table.py has them in this order */
    OP_COPY, OP_ADD, OP_SUBTRACT, OP_MULTIPLY, OP_FLOOR_DIVIDE, OP_FLOOR_MODULO, OP_DIVIDE, OP_MODULO, OP_MINIMUM,
    OP_MAXIMUM, OP_LESS, OP_EQUAL, OP_SELECT, OP_SHIFT_RIGHT, OP_INT32, OP_LENGTH,
    OP_SAME
};
enum { MOST_NUMBERS = 2048 };

static int64_t number_of(const int64_t *numbers, int64_t number) { return number < 0 ? numbers[~number] : number; }

/* Quotient and remainder, rounded down or towards zero: 0, or 1 where there are none. */
static int divide(enum operation kind, int64_t a, int64_t b, int64_t *result) {
    int is_quotient = kind == OP_FLOOR_DIVIDE || kind == OP_DIVIDE;
    if (!b || (is_quotient && a == INT64_MIN && b == -1)) return 1;
    int64_t quotient = is_quotient ? a / b : 0, rest = b == -1 ? 0 : a % b;
    if ((kind == OP_FLOOR_DIVIDE || kind == OP_FLOOR_MODULO) && rest && (rest < 0) != (b < 0)) quotient--, rest += b;
    *result = is_quotient ? quotient : rest;
    return 0;
}

/* Compute one entry: 0, or 1 where it leaves its range. */
static int compute(enum operation kind, int64_t a, int64_t b, int64_t c, int64_t *result) {
    switch (kind) {
    case OP_COPY: *result = a; return 0;
    case OP_ADD: return __builtin_add_overflow(a, b, result);
    case OP_SUBTRACT: return __builtin_sub_overflow(a, b, result);
    case OP_MULTIPLY: return __builtin_mul_overflow(a, b, result);
    case OP_FLOOR_DIVIDE:
    case OP_FLOOR_MODULO:
    case OP_DIVIDE:
    case OP_MODULO: return divide(kind, a, b, result);
    case OP_MINIMUM: *result = a < b ? a : b; return 0;
    case OP_MAXIMUM: *result = a > b ? a : b; return 0;
    case OP_LESS: *result = a < b; return 0;
    case OP_EQUAL: *result = a == b; return 0;
    case OP_SELECT: *result = a ? b : c; return 0;
    case OP_SHIFT_RIGHT: *result = b < 0 || b > 63 ? -(a < 0) : a >> b; return 0;
    case OP_INT32: *result = a; return a < INT32_MIN || a > INT32_MAX;
    case OP_LENGTH: *result = a; return a < 0 || a > INT32_MAX;
    case OP_SAME: *result = a; return a != b;
    }
    return 1;
}

/* Fill a table: the sizes, then so many entries. */
static int fill_numbers(const int64_t *sizes, uint32_t operations, uint32_t count, int64_t *numbers) {
    const struct plan_dimension *dimensions = at(model_plan.dimensions);
    const struct plan_operation *operation = at(operations);
    if (model_plan.size_count && !sizes) return MODEL_WRONG_SIZE;
    for (uint32_t i = 0; i < model_plan.size_count; i++) {
        if (sizes[i] < dimensions[i].least || sizes[i] > dimensions[i].most) return MODEL_WRONG_SIZE;
        if (sizes[i] % dimensions[i].multiple) return MODEL_NO_MULTIPLE;
        numbers[i] = sizes[i];
    }
    for (int64_t *end = numbers + model_plan.size_count; count; count--, operation++, end++) {
        int64_t a = number_of(numbers, operation->a), b = number_of(numbers, operation->b);
        if (compute((enum operation)operation->kind, a, b, number_of(numbers, operation->c), end))
            return MODEL_WRONG_SIZE;
    }
    return MODEL_OK;
}

EXPORT int model_dimension(uint32_t number, model_size *size) {
    const struct plan_dimension *own = (const struct plan_dimension *)at(model_plan.dimensions) + number;
    if (number >= model_plan.size_count) return MODEL_NO_SUCH_TENSOR;
    if (!size) return MODEL_NULL_POINTER;
    *size = (model_size){at(own->name), own->least, own->most, own->multiple};
    return MODEL_OK;
}

static int describe_tensor(const struct plan_tensor *own, const int64_t *sizes, model_tensor *tensor) {
    int64_t numbers[MOST_NUMBERS];
    int status = sizes ? fill_numbers(sizes, model_plan.operations, model_plan.operation_count, numbers) : MODEL_OK;
    if (!tensor) return MODEL_NULL_POINTER;
    if (status) return status;
    tensor->name = at(own->name);
    tensor->type = at(own->type);
    tensor->rank = own->rank;
    tensor->alignment = own->alignment;
    for (uint32_t axis = 0; axis < MODEL_MOST_RANK; axis++) {
        int64_t size = own->shape[axis], computed = -1 - (int64_t)model_plan.size_count;
        tensor->shape[axis] = sizes ? number_of(numbers, size) : size < computed ? computed : size;
    }
    tensor->bytes = own->bytes < 0 && !sizes ? -1 : number_of(numbers, own->bytes);
    tensor->scale = own->scale;
    tensor->zero_point = own->zero_point;
    return MODEL_OK;
}

EXPORT int model_input(uint32_t number, const int64_t *sizes, model_tensor *tensor) {
    if (number >= model_plan.input_count) return MODEL_NO_SUCH_TENSOR;
    return describe_tensor((const struct plan_tensor *)at(model_plan.inputs) + number, sizes, tensor);
}

EXPORT int model_output(uint32_t number, const int64_t *sizes, model_tensor *tensor) {
    if (number >= model_plan.output_count) return MODEL_NO_SUCH_TENSOR;
    return describe_tensor((const struct plan_tensor *)at(model_plan.outputs) + number, sizes, tensor);
}

static int check_buffers(const struct plan_tensor *tensors, uint32_t count, const model_buffer *buffers,
                         const int64_t *numbers) {
    if (count && !buffers) return MODEL_NULL_POINTER;
    for (uint32_t number = 0; number < count; number++) {
        int64_t bytes = number_of(numbers, tensors[number].bytes);
        if (buffers[number].bytes < (uint64_t)bytes) return MODEL_SHORT_BUFFER;
        if (bytes && !buffers[number].data) return MODEL_NULL_POINTER;
        if ((uintptr_t)buffers[number].data % tensors[number].alignment) return MODEL_MISALIGNED;
    }
    return MODEL_OK;
}

static int64_t index_at(const struct plan_tensor *tensor, const void *data, int64_t i) {
    int is_signed = *(const char *)at(tensor->type) == 'i';
    switch (tensor->item_bytes) {
    case 1: return is_signed ? ((const int8_t *)data)[i] : ((const uint8_t *)data)[i];
    case 2: return is_signed ? ((const int16_t *)data)[i] : ((const uint16_t *)data)[i];
    case 4: return is_signed ? ((const int32_t *)data)[i] : (int64_t)((const uint32_t *)data)[i];
    default: return ((const int64_t *)data)[i]; /* what uint64 has beyond is negative, and far outside */
    }
}

/* Inputs that count elements of an axis lie inside of it, from its end where they are negative. */
static int check_indices(const model_buffer *inputs, const int64_t *numbers) {
    const struct plan_indices *use = at(model_plan.indices), *end = use + model_plan.index_count;
    for (; use < end; use++) {
        const struct plan_tensor *tensor = (const struct plan_tensor *)at(model_plan.inputs) + use->input;
        const int64_t *sizes = at(use->sizes);
        int64_t count = number_of(numbers, tensor->bytes) / tensor->item_bytes;
        for (uint32_t column = 0; column < use->count; column++) {
            int64_t size = number_of(numbers, sizes[column]);
            for (int64_t i = column; i < count; i += use->count) {
                int64_t index = index_at(tensor, inputs[use->input].data, i);
                if (index < -size || index >= size) return MODEL_WRONG_INDEX;
            }
        }
    }
    return MODEL_OK;
}
