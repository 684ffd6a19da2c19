/* Runs of an operator: a part of onnxruntime.c.

   The memory of a run has tables of its tensors, then room for those whose data begins elsewhere than the model needs it,
   then the workspace. */
enum { MOST_SIZES = 256 };

struct run {
    struct kernel *kernel;
    struct ort_context *context;
    model_description model;
    const int64_t *sizes;       /* of dynamic dimensions; null if there are none */
    model_buffer *buffers;      /* inputs, then outputs */
    void **results;             /* where onnxruntime has the outputs */
    unsigned char *rest;        /* of the memory */
    struct ort_status *failure; /* of threads */
};

static size_t aligned(size_t bytes) { return (bytes + MODEL_ALIGNMENT - 1) / MODEL_ALIGNMENT * MODEL_ALIGNMENT; }

static size_t table_bytes(const model_description *model) {
    return aligned((model->inputs + model->outputs) * sizeof(model_buffer) + model->outputs * sizeof(void *));
}

static int describe_tensor(const struct run *run, uint32_t number, model_tensor *tensor) {
    return number < run->model.inputs ? model_input(number, run->sizes, tensor)
                                      : model_output(number - run->model.inputs, run->sizes, tensor);
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

/* Find an input, its rank and its first sizes. */
static struct ort_status *find_input(const struct run *run, uint32_t number, const struct ort_value **value,
                                     int64_t *shape, size_t *rank) {
    const struct ort_api *api = run->kernel->api;
    struct ort_info *info = 0;
    struct ort_status *status = api->get_input(run->context, number, value);
    if (!status) status = api->get_info(*value, &info);
    if (status) return status;
    status = api->get_rank(info, rank);
    if (!status) status = api->get_shape(info, shape, *rank < MODEL_MOST_RANK ? *rank : MODEL_MOST_RANK);
    api->release_info(info);
    return status;
}

/* Sizes of dynamic dimensions, each from the last input that has it; all shapes are checked with them afterwards. */
static struct ort_status *read_sizes(const struct run *run, int64_t *sizes) {
    for (uint32_t number = 0; number < run->model.inputs; number++) {
        const struct ort_value *value = 0;
        int64_t shape[MODEL_MOST_RANK];
        size_t rank = 0;
        model_tensor tensor;
        struct ort_status *status = find_input(run, number, &value, shape, &rank);
        if (status) return status;
        describe_tensor(run, number, &tensor);
        if (rank != tensor.rank) return refuse_shape(run->kernel->api, &tensor, shape, rank);
        for (size_t axis = 0; axis < rank; axis++)
            if (tensor.shape[axis] < 0 && -1 - tensor.shape[axis] < run->model.sizes)
                sizes[-1 - tensor.shape[axis]] = shape[axis];
    }
    return 0;
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
    int64_t shape[MODEL_MOST_RANK];
    size_t rank = 0;
    model_tensor tensor;
    void *data = 0;
    struct ort_status *status = find_input(run, number, &value, shape, &rank);
    if (status) return status;
    describe_tensor(run, number, &tensor);
    int equal = rank == tensor.rank;
    for (size_t axis = 0; equal && axis < rank; axis++) equal = shape[axis] == tensor.shape[axis];
    if (!equal) return refuse_shape(api, &tensor, shape, rank);
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

/* Bytes of a run, of which the workspace has the last, or a status. */
static int64_t count_bytes(const struct run *run, int64_t *workspace_bytes) {
    int64_t bytes = (int64_t)table_bytes(&run->model);
    for (uint32_t number = 0; number < run->model.inputs + run->model.outputs; number++) {
        model_tensor tensor;
        int status = describe_tensor(run, number, &tensor);
        if (status) return status;
        bytes += (int64_t)aligned((size_t)tensor.bytes);
    }
    *workspace_bytes = model_workspace_bytes(run->sizes, run->kernel->tasks);
    return *workspace_bytes < 0 ? *workspace_bytes : bytes + *workspace_bytes;
}

static struct ort_status *compute(void *memory, struct ort_context *context) {
    struct kernel *kernel = memory;
    struct run run = {.kernel = kernel, .context = context, .model = describe_model()};
    struct block *block;
    int64_t sizes[MOST_SIZES], workspace_bytes;
    struct ort_status *status = 0;
    if (run.model.sizes) {
        for (uint32_t number = 0; number < run.model.sizes; number++) sizes[number] = 0;
        if ((status = read_sizes(&run, sizes))) return status;
        run.sizes = sizes;
    }
    int64_t bytes = count_bytes(&run, &workspace_bytes);
    if (bytes < 0) return fail(kernel->api, INVALID_ARGUMENT, model_status_text((int)bytes));
    if ((status = take_block(kernel, (size_t)bytes, &block))) return status;
    status = run_in(&run, block->data, (size_t)workspace_bytes);
    keep_block(kernel, block);
    return status;
}
