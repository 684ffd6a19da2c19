/* Runs a library with every buffer between guard pages, and compares what it gives with files.

       guarded LIBRARY NAME CODE THREADS SIZES INPUT... EXPECTED...

   CODE is a name for NAME_select_code, or "best"; SIZES are those of dynamic dimensions, separated by commas, or "-".
   Files hold the bytes of one sample or of several. Each sample is run
   by 1 to THREADS threads, with buffers that end at a guard page and with buffers that begin behind one, in a workspace
   of 0xAA and again in what that run left. Inputs are read-only, pools and self-tests have guarded memory too.
   Prints how many values were compared and how many differ; status 0 if none does and nothing else is wrong. */
#include "guarded.h"

enum { MOST_SIZES = 16, FILES = 5 }; /* FILES: number of the first file's argument */

struct model {
    struct library library;
    int64_t *sizes; /* null if there are none */
    uint32_t inputs, outputs;
    model_tensor *tensors; /* inputs, then outputs */
    unsigned char **samples;
    uint32_t sample_count;
};

struct count {
    long long values, differing;
};

static void check(const struct library *library, const char *what, int64_t status) {
    if (status < 0) die(what, library->status_text((int)status));
}

static unsigned char *read_file(const char *path, int64_t bytes, uint32_t *samples) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) die("cannot read", path);
    long size = ftell(file);
    unsigned char *data = malloc((size_t)size + 1);
    rewind(file);
    if (!data || fread(data, 1, (size_t)size, file) != (size_t)size) die("cannot read", path);
    fclose(file);
    if (bytes) {
        if (size % bytes || !size) die("not a multiple of the tensor's bytes", path);
        *samples = (uint32_t)(size / bytes);
    }
    return data;
}

static int64_t *read_sizes(char *text) {
    int64_t *sizes = calloc(MOST_SIZES, sizeof *sizes);
    int count = 0;
    for (char *size = strtok(text, ","); size && count < MOST_SIZES; size = strtok(NULL, ",")) sizes[count++] = atoll(size);
    return sizes;
}

static struct model read_model(char **arguments, int count) {
    struct model model = {.library = open_library(arguments[0], arguments[1])};
    model.sizes = strcmp(arguments[4], "-") ? read_sizes(arguments[4]) : NULL;
    const struct library *library = &model.library;
    model_description description;
    check(library, "init", strcmp(arguments[2], "best") ? library->select_code(arguments[2]) : library->init());
    check(library, "describe", library->describe(&description));
    model.inputs = description.inputs, model.outputs = description.outputs;
    uint32_t tensors = model.inputs + model.outputs;
    if ((uint32_t)count != FILES + tensors) die("wrong number of files", arguments[0]);
    model.tensors = calloc(tensors + 1, sizeof *model.tensors);
    model.samples = calloc(tensors + 1, sizeof *model.samples);
    for (uint32_t i = 0; i < tensors; i++) {
        int status = i < model.inputs ? library->input(i, model.sizes, model.tensors + i)
                                      : library->output(i - model.inputs, model.sizes, model.tensors + i);
        check(library, "tensor", status);
        model.samples[i] = read_file(arguments[FILES + i], model.tensors[i].bytes, &model.sample_count);
    }
    return model;
}

/* Values of an output that differ from those of a sample. */
static struct count compare(const model_tensor *tensor, const unsigned char *data, const unsigned char *expected) {
    int64_t items = 1;
    struct count count = {0, 0};
    for (uint32_t axis = 0; axis < tensor->rank; axis++) items *= tensor->shape[axis];
    size_t size = items ? (size_t)(tensor->bytes / items) : 0;
    for (int64_t i = 0; i < items; i++, data += size, expected += size) count.differing += memcmp(data, expected, size) != 0;
    count.values = items;
    return count;
}

static void run_sample(const struct model *model, uint32_t sample, struct guarded *guarded, struct guarded workspace,
                       const model_threads *threads, struct count *sum) {
    uint32_t tensors = model->inputs + model->outputs;
    model_buffer *buffers = calloc(tensors + 1, sizeof *buffers);
    for (uint32_t i = 0; i < tensors; i++) {
        buffers[i] = guarded[i].buffer;
        if (i >= model->inputs) {
            fill_guarded(guarded[i], 0x55);
            continue;
        }
        protect_guarded(guarded[i], PROT_READ | PROT_WRITE);
        memcpy(buffers[i].data, model->samples[i] + sample * (size_t)model->tensors[i].bytes, buffers[i].bytes);
        protect_guarded(guarded[i], PROT_READ);
    }
    int status = model->library.run(model->sizes, buffers, buffers + model->inputs, workspace.buffer, threads);
    check(&model->library, "run", status);
    for (uint32_t i = model->inputs; i < tensors; i++) {
        const unsigned char *expected = model->samples[i] + sample * (size_t)model->tensors[i].bytes;
        struct count count = compare(model->tensors + i, buffers[i].data, expected);
        sum->values += count.values;
        sum->differing += count.differing;
    }
    free(buffers);
}

/* All samples by so many threads; bytes beside buffers that were written to. */
static int run_placed(const struct model *model, enum placement placement, uint32_t count, struct count *sum) {
    const struct library *library = &model->library;
    uint32_t tensors = model->inputs + model->outputs;
    struct guarded *guarded = calloc(tensors + 1, sizeof *guarded);
    struct guarded pool = allocate_guarded(library->pool_bytes(count), MODEL_ALIGNMENT, placement);
    int64_t bytes = library->workspace_bytes(model->sizes, count);
    struct guarded workspace = allocate_guarded(bytes, MODEL_ALIGNMENT, placement);
    model_threads threads;
    int changed = 0;
    fill_guarded(pool, 0xAA);
    if (count > 1) check(library, "pool_start", library->pool_start(pool.buffer, count, &threads));
    for (uint32_t i = 0; i < tensors; i++)
        guarded[i] = allocate_guarded(model->tensors[i].bytes, model->tensors[i].alignment, placement);
    for (uint32_t sample = 0; sample < model->sample_count; sample++) {
        fill_guarded(workspace, 0xAA);
        for (int again = 0; again < 2; again++)
            run_sample(model, sample, guarded, workspace, count > 1 ? &threads : NULL, sum);
    }
    if (count > 1) check(library, "pool_stop", library->pool_stop(&threads));
    for (uint32_t i = 0; i < tensors; i++) {
        protect_guarded(guarded[i], PROT_READ | PROT_WRITE);
        changed += free_guarded(guarded[i]);
    }
    free(guarded);
    return changed + free_guarded(pool) + free_guarded(workspace);
}

static int test_itself(const struct library *library, enum placement placement) {
    struct guarded memory = allocate_guarded(library->selftest_bytes(), MODEL_ALIGNMENT, placement);
    model_difference difference = {0, 0, NULL};
    fill_guarded(memory, 0xAA);
    int status = library->selftest(memory.buffer, &difference);
    if (status == MODEL_DIFFERS) die("selftest: another result", difference.layer);
    if (status != MODEL_NO_GOLDEN) check(library, "selftest", status);
    return free_guarded(memory);
}

int main(int count, char **arguments) {
    if (count < 1 + FILES) die("usage", "guarded LIBRARY NAME CODE THREADS SIZES INPUT... EXPECTED...");
    struct model model = read_model(arguments + 1, count - 1);
    struct count sum = {0, 0};
    int changed = 0;
    for (enum placement placement = AT_END; placement <= AT_BEGIN; placement++) {
        for (uint32_t threads = 1; threads <= (uint32_t)atoi(arguments[4]); threads++)
            changed += run_placed(&model, placement, threads, &sum);
        changed += test_itself(&model.library, placement);
    }
    printf("%lld values, %lld differing, %d bytes written beside buffers\n", sum.values, sum.differing, changed);
    for (uint32_t i = 0; i < model.inputs + model.outputs; i++) free(model.samples[i]);
    free(model.sizes);
    free(model.samples);
    free(model.tensors);
    return sum.differing || changed;
}
