/* A model as an operator of onnxruntime: RegisterCustomOps, which onnxruntime looks for in a library of operators.

   The operator has the model's name, NAME, in the domain tvmq.NAME: a session takes a domain of one library alone. It
   makes a kernel of each node. */
#include "model.h"

#include "onnxruntime_api.h"

#include "onnxruntime_text.h"

#include "onnxruntime_memory.h"

#include "onnxruntime_run.h"

enum { MOST_HASH = 128, MOST_TASKS = 64 };

/* ---- kernels */

static struct ort_status *check_hash(const struct ort_api *api, const struct ort_node *node) {
    const model_description model = describe_model();
    char hash[MOST_HASH] = {0};
    size_t bytes = sizeof hash;
    struct ort_status *status = api->get_text(node, "model_hash", hash, &bytes);
    if (!status && equal_texts(hash, model.model_hash)) return 0;
    if (status) api->release_status(status);
    return fail(api, INVALID_ARGUMENT,
                "the ONNX file and the library are of different exports, or the node has no attribute model_hash; "
                "take both from one folder");
}

static struct ort_status *read_tasks(const struct ort_api *api, const struct ort_node *node, uint32_t *tasks) {
    struct text text;
    int64_t number = 0;
    struct ort_status *status = api->get_number(node, "tasks", &number);
    if (status) api->release_status(status); /* it has none, or of another type */
    *tasks = (uint32_t)number;
    if (!status && number >= 1 && number <= MOST_TASKS) return 0;
    begin_message(&text);
    add_text(&text, "the node has ");
    add_text(&text, status ? "no integer" : "the number ");
    if (!status) add_number(&text, number);
    add_text(&text, " as attribute tasks; give it one from 1 to ");
    add_number(&text, MOST_TASKS);
    return api->create_status(INVALID_ARGUMENT, text.data);
}

static struct ort_status *create_kernel(const struct ort_op *op, const struct ort_api *api, const struct ort_node *node,
                                        void **memory) {
    struct ort_allocator *allocator = 0;
    uint32_t tasks;
    (void)op;
    int result = describe_model().code ? MODEL_OK : model_init(); /* a program may have selected a code */
    if (result) return fail(api, NOT_IMPLEMENTED, model_status_text(result));
    if (describe_model().sizes > MOST_SIZES) return fail(api, NOT_IMPLEMENTED, "it has too many dynamic dimensions");
    struct ort_status *status = check_hash(api, node);
    if (!status) status = read_tasks(api, node, &tasks);
    if (!status) status = api->get_allocator(&allocator);
    if (!status) status = api->allocate(allocator, sizeof(struct kernel), memory);
    if (status) return status;
    if (!*memory) return fail(api, RUNTIME_EXCEPTION, "onnxruntime has no memory for a kernel");
    *(struct kernel *)*memory = (struct kernel){api, allocator, tasks, {0}};
    return 0;
}

static void destroy_kernel(void *memory) {
    struct kernel *kernel = memory;
    for (int place = 0; place < KEPT; place++) release_memory(kernel, kernel->kept[place]);
    release_memory(kernel, kernel);
}

/* ---- the operator */

static const char *get_name(const struct ort_op *op) {
    (void)op;
    return describe_model().name;
}

static const char *get_provider(const struct ort_op *op) {
    (void)op;
    return 0;
}

static size_t count_inputs(const struct ort_op *op) {
    (void)op;
    return describe_model().inputs;
}

static size_t count_outputs(const struct ort_op *op) {
    (void)op;
    return describe_model().outputs;
}

/* Number of a type in ONNX. */
static int type_number(const model_tensor *tensor) {
    static const char names[][8] = {"",      "float32", "uint8",   "int8",    "uint16", "int16", "int32",
                                    "int64", "",        "bool",    "float16", "float64", "uint32", "uint64"};
    int number = sizeof names / sizeof *names - 1;
    while (number && !equal_texts(names[number], tensor->type)) number--;
    return number;
}

static int get_input_type(const struct ort_op *op, size_t number) {
    model_tensor tensor;
    (void)op;
    return model_input((uint32_t)number, 0, &tensor) ? 0 : type_number(&tensor);
}

static int get_output_type(const struct ort_op *op, size_t number) {
    model_tensor tensor;
    (void)op;
    return model_output((uint32_t)number, 0, &tensor) ? 0 : type_number(&tensor);
}

static int get_zero(const struct ort_op *op, size_t number) {
    (void)op, (void)number;
    return 0;
}

static const struct ort_op model_op = {
    .version = API_VERSION,
    .get_name = get_name,
    .get_provider = get_provider,
    .get_input_type = get_input_type,
    .count_inputs = count_inputs,
    .get_output_type = get_output_type,
    .count_outputs = count_outputs,
    .destroy_kernel = destroy_kernel,
    .get_input_kind = get_zero,
    .get_output_kind = get_zero,
    .get_input_memory = get_zero,
    .create_kernel_v2 = create_kernel,
    .compute_v2 = compute,
};

/* Is this text, "1.17.0", a version with the interface? Asking for one that is not there writes to stderr. */
static int is_new(const char *version) {
    uint32_t numbers[2] = {0, 0};
    for (int part = 0; part < 2; part++) {
        while (*version >= '0' && *version <= '9') numbers[part] = numbers[part] * 10 + (uint32_t)(*version++ - '0');
        if (*version) version++;
    }
    return numbers[0] > 1 || (numbers[0] == 1 && numbers[1] >= API_VERSION);
}

static const struct ort_api *owner; /* of the domain that is kept, as sessions need it */
static struct ort_domain *kept_domain;

static struct ort_status *find_domain(const struct ort_api *api, struct ort_domain **domain) {
    struct ort_domain *none = 0;
    struct text name;
    if (__atomic_load_n(&owner, __ATOMIC_ACQUIRE) == api) {
        *domain = kept_domain;
        return 0;
    }
    name.length = 0;
    add_text(&name, "tvmq.");
    add_text(&name, describe_model().name);
    struct ort_status *status = api->create_domain(name.data, domain);
    if (!status) status = api->add_op(*domain, &model_op);
    if (status) return status;
    if (__atomic_compare_exchange_n(&kept_domain, &none, *domain, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        __atomic_store_n(&owner, api, __ATOMIC_RELEASE);
    return 0;
}

__attribute__((visibility("default"))) struct ort_status *RegisterCustomOps(struct ort_options *options,
                                                                            const struct ort_api_base *base) {
    const struct ort_api *api = is_new(base->get_version()) ? base->get_api(API_VERSION) : 0;
    struct ort_domain *domain = 0;
    if (!api) {
        struct text text;
        begin_message(&text);
        add_text(&text, "the library needs onnxruntime 1.17 or newer, and this is ");
        add_text(&text, base->get_version());
        return (api = base->get_api(1)) ? api->create_status(NOT_IMPLEMENTED, text.data) : 0;
    }
    struct ort_status *status = find_domain(api, &domain);
    return status ? status : api->add_domain(options, domain);
}
