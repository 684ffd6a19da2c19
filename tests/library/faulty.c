/* A library whose codes are faults, for the programs that look for faults: y = 2 x of five numbers. */
#include <string.h>

#include "model.h"

enum { COUNT = 5, WORKSPACE = 100, POOL = 64 };

static const char *const faults[] = {"right",        "reads behind", "reads before", "writes behind", "writes before",
                                     "writes input", "is stale",     "is wrong",     "reads unused"};
enum { RIGHT, READS_BEHIND, READS_BEFORE, WRITES_BEHIND, WRITES_BEFORE, WRITES_INPUT, STALE, WRONG, READS_UNUSED, FAULTS };
static int fault;

int model_init(void) { return MODEL_OK; }

int model_select_code(const char *name) {
    for (fault = 0; fault < FAULTS; fault++)
        if (!strcmp(name, faults[fault])) return MODEL_OK;
    return MODEL_NO_SUCH_CODE;
}

int model_describe(model_description *description) {
    *description = (model_description){"model", "", "", "", "", MODEL_ABI, 1, 1, 0};
    return MODEL_OK;
}

static int describe(uint32_t alignment, model_tensor *tensor) {
    *tensor = (model_tensor){"x", "float32", 1, alignment, {COUNT}, COUNT * sizeof(float), 0, 0};
    return MODEL_OK;
}

int model_input(uint32_t number, const int64_t *sizes, model_tensor *tensor) {
    (void)number, (void)sizes;
    return describe(sizeof(float), tensor);
}

int model_output(uint32_t number, const int64_t *sizes, model_tensor *tensor) {
    (void)number, (void)sizes;
    return describe(MODEL_ALIGNMENT, tensor);
}

int64_t model_workspace_bytes(const int64_t *sizes, uint32_t threads) {
    (void)sizes;
    return (int64_t)threads * WORKSPACE;
}

int model_run(const int64_t *sizes, const model_buffer *inputs, const model_buffer *outputs, model_buffer workspace,
              const model_threads *threads) {
    volatile float *x = inputs->data, *y = outputs->data, *kept = workspace.data;
    (void)sizes, (void)threads;
    for (int i = 0; i < COUNT; i++) y[i] = 2 * x[i];
    switch (fault) {
    case READS_BEHIND: y[0] += 0 * x[COUNT]; break;
    case READS_BEFORE: y[0] += 0 * x[-1]; break;
    case WRITES_BEHIND: y[COUNT] = 1; break;
    case WRITES_BEFORE: y[-1] = 1; break;
    case WRITES_INPUT: x[0] = 0; break;
    case STALE: y[0] += kept[0] != 3, kept[0] = 3; break;
    case WRONG: y[COUNT - 1] += 1; break;
    case READS_UNUSED: kept[1] = y[COUNT]; break; /* behind the output, where its alignment leaves bytes */
    }
    return MODEL_OK;
}

int64_t model_pool_bytes(uint32_t count) { return count ? POOL : MODEL_WRONG_THREADS; }

int model_pool_start(model_buffer memory, uint32_t count, model_threads *threads) {
    (void)memory, (void)count, (void)threads;
    return MODEL_NO_THREADS;
}

int model_pool_stop(model_threads *threads) {
    (void)threads;
    return MODEL_OK;
}

int64_t model_selftest_bytes(void) { return 0; }

int model_selftest(model_buffer memory, model_difference *difference) {
    (void)memory, (void)difference;
    return MODEL_NO_GOLDEN;
}

const char *model_status_text(int status) { return status ? "a status" : "no error"; }
