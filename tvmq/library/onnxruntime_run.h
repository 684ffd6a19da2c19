/* Runs of an operator: a part of onnxruntime.c.

   Any number of threads may run a kernel: each run takes memory that no other has, and leaves it to the kernel for those
   that follow. */
enum { KEPT = 8 };

/* ---- memory */

struct block { /* in front of memory that begins at a multiple of MODEL_ALIGNMENT */
    unsigned char *data;
    size_t bytes;
};

struct kernel {
    const struct ort_api *api;
    struct ort_allocator *allocator;
    uint32_t tasks;           /* into which loops are divided */
    struct block *kept[KEPT]; /* that no run has */
};

static void release_memory(const struct kernel *kernel, void *memory) {
    struct ort_status *status = memory ? kernel->api->release(kernel->allocator, memory) : 0;
    if (status) kernel->api->release_status(status);
}

static void keep_block(struct kernel *kernel, struct block *block) {
    for (int place = 0; place < KEPT; place++) {
        struct block *none = 0;
        if (__atomic_compare_exchange_n(kernel->kept + place, &none, block, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return;
    }
    release_memory(kernel, block);
}

static struct ort_status *take_block(struct kernel *kernel, size_t bytes, struct block **taken) {
    void *memory = 0;
    for (int place = 0; place < KEPT; place++) {
        struct block *block = __atomic_exchange_n(kernel->kept + place, 0, __ATOMIC_ACQ_REL);
        *taken = block;
        if (block && block->bytes >= bytes) return 0;
        release_memory(kernel, block); /* of smaller sizes */
    }
    *taken = 0;
    struct ort_status *status =
        kernel->api->allocate(kernel->allocator, sizeof(struct block) + MODEL_ALIGNMENT + bytes, &memory);
    if (status) return status;
    if (!memory) return fail(kernel->api, RUNTIME_EXCEPTION, "onnxruntime has no memory for a run");
    *taken = memory;
    (*taken)->bytes = bytes;
    (*taken)->data = (unsigned char *)(*taken + 1);
    (*taken)->data += -(uintptr_t)(*taken)->data % MODEL_ALIGNMENT;
    return 0;
}

/* ---- runs: tables of tensors, then room for those whose data begins elsewhere than the model needs it, then the
   workspace */

struct run {
    struct kernel *kernel;
    struct ort_context *context;
    model_description model;
    const int64_t *sizes;       /* of dynamic dimensions */
    model_buffer *buffers;      /* inputs, then outputs */
    void **results;             /* where onnxruntime has the outputs */
    unsigned char *rest;        /* of the memory */
    struct ort_status *failure; /* of threads */
};

static size_t aligned(size_t bytes) { return (bytes + MODEL_ALIGNMENT - 1) / MODEL_ALIGNMENT * MODEL_ALIGNMENT; }

static size_t table_bytes(const model_description *model) {
    return aligned((model->inputs + model->outputs) * sizeof(model_buffer) + model->outputs * sizeof(void *));
}

static void describe_tensor(const struct run *run, uint32_t number, model_tensor *tensor) {
    if (number < run->model.inputs)
        model_input(number, run->sizes, tensor);
    else
        model_output(number - run->model.inputs, run->sizes, tensor);
}

static struct ort_status *refuse_shape(const struct ort_api *api, const model_tensor *tensor, const int64_t *shape,
                                       size_t rank) {
    struct text text;
    begin_message(&text);
    add_text(&text, "input '");
    add_text(&text, tensor->name);
    add_text(&text, "' has shape ");
    add_shape(&text, shape, rank);
    add_text(&text, " and the model takes ");
    add_shape(&text, tensor->shape, tensor->rank);
    return api->create_status(INVALID_ARGUMENT, text.data);
}

static struct ort_status *check_shape(const struct ort_api *api, const struct ort_value *value,
                                      const model_tensor *tensor) {
    struct ort_info *info = 0;
    int64_t shape[MODEL_MOST_RANK];
    size_t rank = 0;
    struct ort_status *status = api->get_info(value, &info);
    if (status) return status;
    status = api->get_rank(info, &rank);
    if (!status) status = api->get_shape(info, shape, rank < MODEL_MOST_RANK ? rank : MODEL_MOST_RANK);
    api->release_info(info);
    if (status) return status;
    int equal = rank == tensor->rank;
    for (size_t axis = 0; equal && axis < rank; axis++) equal = shape[axis] == tensor->shape[axis];
    return equal ? 0 : refuse_shape(api, tensor, shape, rank);
}

/* Use a tensor's data, or memory in its place. */
static model_buffer place_tensor(struct run *run, const model_tensor *tensor, void *data) {
    model_buffer buffer = {data, (size_t)tensor->bytes};
    if ((uintptr_t)data % tensor->alignment) buffer.data = run->rest;
    run->rest += aligned(buffer.bytes);
    return buffer;
}

static struct ort_status *read_input(struct run *run, uint32_t number) {
    const struct ort_api *api = run->kernel->api;
    const struct ort_value *value = 0;
    model_tensor tensor;
    void *data = 0;
    describe_tensor(run, number, &tensor);
    struct ort_status *status = api->get_input(run->context, number, &value);
    if (status) return status;
    if ((status = check_shape(api, value, &tensor))) return status;
    if ((status = api->get_data((struct ort_value *)value, &data))) return status;
    model_buffer buffer = run->buffers[number] = place_tensor(run, &tensor, data);
    if (buffer.data != data) __builtin_memcpy(buffer.data, data, buffer.bytes);
    return 0;
}

static struct ort_status *make_output(struct run *run, uint32_t number) {
    const struct ort_api *api = run->kernel->api;
    struct ort_value *value = 0;
    model_tensor tensor;
    describe_tensor(run, run->model.inputs + number, &tensor);
    struct ort_status *status = api->get_output(run->context, number, tensor.shape, tensor.rank, &value);
    if (status) return status;
    if ((status = api->get_data(value, run->results + number))) return status;
    run->buffers[run->model.inputs + number] = place_tensor(run, &tensor, run->results[number]);
    return 0;
}

struct job {
    void (*task)(void *job, uint32_t number);
    void *job;
};

static void run_task(void *memory, size_t number) {
    const struct job *job = memory;
    job->task(job->job, (uint32_t)number);
}

static void launch(void *pool, void (*task)(void *job, uint32_t number), void *job, uint32_t count) {
    struct run *run = pool;
    struct job own = {task, job};
    struct ort_status *status = run->kernel->api->run_tasks(run->context, run_task, count, 0, &own);
    if (status && run->failure)
        run->kernel->api->release_status(status);
    else if (status)
        run->failure = status;
}

static struct ort_status *run_in(struct run *run, unsigned char *memory, size_t workspace_bytes) {
    const model_threads threads = {run->kernel->tasks, launch, run};
    struct ort_status *status = 0;
    uint32_t inputs = run->model.inputs, outputs = run->model.outputs;
    run->buffers = (model_buffer *)memory;
    run->results = (void **)(run->buffers + inputs + outputs);
    run->rest = memory + table_bytes(&run->model);
    for (uint32_t number = 0; !status && number < inputs; number++) status = read_input(run, number);
    for (uint32_t number = 0; !status && number < outputs; number++) status = make_output(run, number);
    if (status) return status;
    const model_buffer workspace = {run->rest, workspace_bytes}, *results = run->buffers + inputs;
    int result = model_run(run->sizes, run->buffers, results, workspace, &threads);
    if (run->failure) return run->failure;
    if (result) return fail(run->kernel->api, RUNTIME_EXCEPTION, model_status_text(result));
    for (uint32_t number = 0; number < outputs; number++)
        if (results[number].data != run->results[number])
            __builtin_memcpy(run->results[number], results[number].data, results[number].bytes);
    return 0;
}

static struct ort_status *compute(void *memory, struct ort_context *context) {
    struct kernel *kernel = memory;
    struct run run = {.kernel = kernel, .context = context, .model = describe_model()};
    size_t bytes = table_bytes(&run.model);
    struct block *block;
    for (uint32_t number = 0; number < run.model.inputs + run.model.outputs; number++) {
        model_tensor tensor;
        describe_tensor(&run, number, &tensor);
        bytes += aligned((size_t)tensor.bytes);
    }
    int64_t workspace_bytes = model_workspace_bytes(run.sizes, kernel->tasks);
    if (workspace_bytes < 0) return fail(kernel->api, RUNTIME_EXCEPTION, model_status_text((int)workspace_bytes));
    struct ort_status *status = take_block(kernel, bytes + (size_t)workspace_bytes, &block);
    if (status) return status;
    status = run_in(&run, block->data, (size_t)workspace_bytes);
    keep_block(kernel, block);
    return status;
}
