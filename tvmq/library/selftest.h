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
    uint64_t hash = hashed(data_of(run, place), place->bytes);
    return hash == golden->hashes[0] || hash == golden->hashes[1];
}

/* A float is a code times its scale, or a 64th; integers of four and eight bytes may be indices. */
static void fill_tensor(const struct plan_tensor *tensor, uint32_t number, void *data) {
    const char *type = at(tensor->type);
    int64_t count = byte_count(tensor) / tensor->item_bytes;
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

/* Bytes of all inputs and outputs with a table of them in front. */
static int64_t tensors_bytes(void) {
    const struct plan_tensor *inputs = at(model_plan.inputs), *outputs = at(model_plan.outputs);
    int64_t bytes = aligned((int64_t)sizeof(model_buffer) * (model_plan.input_count + model_plan.output_count));
    for (uint32_t number = 0; number < model_plan.input_count; number++) bytes += aligned(byte_count(inputs + number));
    for (uint32_t number = 0; number < model_plan.output_count; number++) bytes += aligned(byte_count(outputs + number));
    return bytes;
}

/* The table, with filled inputs; outputs follow inputs. */
static model_buffer *place_tensors(void *memory) {
    const struct plan_tensor *inputs = at(model_plan.inputs), *outputs = at(model_plan.outputs);
    model_buffer *buffers = memory;
    uint32_t count = model_plan.input_count + model_plan.output_count;
    unsigned char *data = (unsigned char *)memory + aligned((int64_t)sizeof(model_buffer) * count);
    for (uint32_t number = 0; number < count; number++) {
        const struct plan_tensor *tensor =
            number < model_plan.input_count ? inputs + number : outputs + (number - model_plan.input_count);
        int64_t bytes = byte_count(tensor);
        buffers[number] = (model_buffer){data, (size_t)bytes};
        if (number < model_plan.input_count) fill_tensor(tensor, number, data);
        data += aligned(bytes);
    }
    return buffers;
}
