/* Inputs of a self-test and hashes of what layers give for them, as golden_values.py has them: a part of runtime.c. */
static uint64_t mixed(uint64_t number) {
    number = (number + 1) * 0x9E3779B97F4A7C15u;
    number = (number ^ number >> 29) * 0xBF58476D1CE4E5B9u;
    return number ^ number >> 32;
}

static uint64_t hashed(const unsigned char *data, int64_t bytes) {
    uint64_t sum = 0;
    for (int64_t i = 0; i < bytes; i++) sum += (data[i] + UINT64_C(1)) * (mixed((uint64_t)i) | 1);
    return sum;
}

static int is_golden(const struct run *run, const struct plan_golden *golden) {
    const struct plan_place *place = (const struct plan_place *)at(run->code->places) + golden->place;
    uint64_t hash = hashed(data_of(run, place), number_of(run->numbers, place->bytes));
    return hash == golden->hashes[0] || hash == golden->hashes[1];
}

/* A float is a code times its scale, or a 64th; integers of four and eight bytes may be indices. */
static void fill_tensor(const struct plan_tensor *tensor, int64_t count, uint32_t number, void *data) {
    const char *type = at(tensor->type);
    double scale = tensor->scale ? tensor->scale : 1.0 / 64;
    for (int64_t i = 0; i < count; i++) {
        uint64_t code = mixed(((uint64_t)number << 32) + (uint64_t)i) >> 56;
        if (equal_texts(type, "float32"))
            ((float *)data)[i] = (float)(((double)code - 128) * scale);
        else if (tensor->item_bytes == 8)
            ((uint64_t *)data)[i] = code & 1;
        else if (tensor->item_bytes == 4)
            ((uint32_t *)data)[i] = code & 1;
        else if (tensor->item_bytes == 1)
            ((unsigned char *)data)[i] = (unsigned char)(equal_texts(type, "bool") ? code & 1 : code);
    }
}

static uint32_t every_tensor(void) { return model_plan.input_count + model_plan.output_count; }

static const struct plan_tensor *tensor_at(uint32_t number) {
    return number < model_plan.input_count
               ? (const struct plan_tensor *)at(model_plan.inputs) + number
               : (const struct plan_tensor *)at(model_plan.outputs) + (number - model_plan.input_count);
}

/* Bytes of all inputs and outputs with a table of them in front. */
static int64_t tensors_bytes(const int64_t *numbers) {
    int64_t bytes = aligned((int64_t)sizeof(model_buffer) * every_tensor());
    for (uint32_t number = 0; number < every_tensor(); number++)
        bytes += aligned(number_of(numbers, tensor_at(number)->bytes));
    return bytes;
}

/* The table, with filled inputs; outputs follow inputs. */
static model_buffer *place_tensors(void *memory, const int64_t *numbers) {
    model_buffer *buffers = memory;
    unsigned char *data = (unsigned char *)memory + aligned((int64_t)sizeof(model_buffer) * every_tensor());
    for (uint32_t number = 0; number < every_tensor(); number++) {
        const struct plan_tensor *tensor = tensor_at(number);
        int64_t bytes = number_of(numbers, tensor->bytes);
        buffers[number] = (model_buffer){data, (size_t)bytes};
        if (number < model_plan.input_count) fill_tensor(tensor, bytes / tensor->item_bytes, number, data);
        data += aligned(bytes);
    }
    return buffers;
}
