/* Calls a library of tvmq as a program does: opens it, runs it, and times runs when asked (caller.h).

       cc -O2 -I tvmq/library library.c -o library -ldl -Wl,--no-as-needed -lpthread
       library LIBRARY NAME INPUTS RESULTS THREADS

   INPUTS has the bytes of all inputs, one after the other; RESULTS gets those of the outputs of the first run. Functions
   are found by their names, so that one program calls every model; threads are those of the library's pool. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "caller.h"
#include "model.h"

#define FIND(function) __typeof__(&model_##function) function = (__typeof__(&model_##function))find(library, name, #function)

enum { MOST_TENSORS = 64 };

static __typeof__(&model_run) run_model;
static __typeof__(&model_status_text) text_of;
static model_buffer inputs[MOST_TENSORS], outputs[MOST_TENSORS], workspace;
static model_threads pool, *threads;

static void *find(void *library, const char *name, const char *function) {
    char symbol[256];
    snprintf(symbol, sizeof symbol, "%s_%s", name, function);
    void *found = dlsym(library, symbol);
    if (!found) stop(symbol, "the library has no such function");
    return found;
}

static int64_t check(const char *what, int64_t status) {
    if (status < 0) stop(what, text_of((int)status));
    return status;
}

static void run(void) {
    check("run", run_model(NULL, inputs, outputs, workspace, threads));
}

static model_buffer new_buffer(int64_t bytes) {
    model_buffer buffer = {allocate((size_t)bytes), (size_t)bytes};
    return buffer;
}

int main(int count, char **arguments) {
    if (count != 6) stop("library", "LIBRARY NAME INPUTS RESULTS THREADS");
    const char *name = arguments[2];
    uint32_t wanted = (uint32_t)atoi(arguments[5]);
    figures f = {0};
    f.started = f.engine = resident_mebibytes();

    double start = milliseconds();
    void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) stop("dlopen", dlerror());
    FIND(init);
    FIND(describe);
    FIND(input);
    FIND(output);
    FIND(workspace_bytes);
    FIND(pool_bytes);
    FIND(pool_start);
    run_model = (__typeof__(run_model))find(library, name, "run");
    text_of = (__typeof__(text_of))find(library, name, "status_text");
    check("init", init());
    f.load_ms = milliseconds() - start;

    model_description model;
    model_tensor tensor;
    FILE *file = open_file(arguments[3], "rb");
    check("describe", describe(&model));
    if (model.inputs > MOST_TENSORS || model.outputs > MOST_TENSORS) stop(name, "more tensors than this program holds");
    for (uint32_t i = 0; i < model.inputs; i++) {
        check("input", input(i, NULL, &tensor));
        inputs[i] = new_buffer(tensor.bytes);
        read_bytes(file, inputs[i].data, inputs[i].bytes);
    }
    fclose(file);
    for (uint32_t i = 0; i < model.outputs; i++) {
        check("output", output(i, NULL, &tensor));
        outputs[i] = new_buffer(tensor.bytes);
    }
    if (wanted > 1) {
        check("pool", pool_start(new_buffer(check("pool", pool_bytes(wanted))), wanted, &pool));
        threads = &pool;
    }
    start = milliseconds();
    workspace = new_buffer(check("workspace", workspace_bytes(NULL, wanted)));
    run();
    f.first_ms = milliseconds() - start;
    f.resident = resident_mebibytes();

    file = open_file(arguments[4], "wb");
    for (uint32_t i = 0; i < model.outputs; i++) fwrite(outputs[i].data, 1, outputs[i].bytes, file);
    if (fclose(file)) stop(arguments[4], "cannot be written");
    serve(&f, run);
    return 0;
}
