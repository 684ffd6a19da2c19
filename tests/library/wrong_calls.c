/* Calls a library as nobody should, and counts the calls that give another status than they must.

       wrong_calls LIBRARY NAME

   Every buffer is guarded, so that a call which touches what it must refuse ends the program. */
#include "guarded.h"

enum { MOST_TENSORS = 64, FAR = 1 << 30 };

static struct library library;
static model_description description;
static model_tensor tensors[MOST_TENSORS];
static struct guarded memory[MOST_TENSORS], workspace;
static model_buffer buffers[MOST_TENSORS];
static int wrong;

static void expect(const char *what, int64_t status, int64_t wanted) {
    if (status == wanted) return;
    fprintf(stderr, "%s: status %lld in place of %lld\n", what, (long long)status, (long long)wanted);
    wrong++;
}

static int run(const model_threads *threads) {
    return library.run(NULL, buffers, buffers + description.inputs, workspace.buffer, threads);
}

static void call_before_init(void) {
    model_buffer nothing = {NULL, 0};
    expect("workspace_bytes before init", library.workspace_bytes(NULL, 1), MODEL_NOT_INITIALIZED);
    expect("run before init", library.run(NULL, NULL, NULL, nothing, NULL), MODEL_NOT_INITIALIZED);
    expect("selftest_bytes before init", library.selftest_bytes(), MODEL_NOT_INITIALIZED);
    expect("selftest before init", library.selftest(nothing, NULL), MODEL_NOT_INITIALIZED);
    expect("describe before init", library.describe(&description), MODEL_OK);
    expect("code before init", description.code != NULL, 0);
    expect("no code", library.select_code(NULL), MODEL_NULL_POINTER);
    expect("a code without a name", library.select_code(""), MODEL_NO_SUCH_CODE);
    expect("another code", library.select_code("pdp-11"), MODEL_NO_SUCH_CODE);
    expect("a failed choice", library.workspace_bytes(NULL, 1), MODEL_NOT_INITIALIZED);
}

static void call_descriptions(void) {
    model_tensor tensor;
    expect("describe nothing", library.describe(NULL), MODEL_NULL_POINTER);
    expect("input beyond the last", library.input(description.inputs, NULL, &tensor), MODEL_NO_SUCH_TENSOR);
    expect("output beyond the last", library.output(description.outputs, NULL, &tensor), MODEL_NO_SUCH_TENSOR);
    expect("input -1", library.input(UINT32_MAX, NULL, &tensor), MODEL_NO_SUCH_TENSOR);
    expect("output -1", library.output(UINT32_MAX, NULL, &tensor), MODEL_NO_SUCH_TENSOR);
    expect("output to nothing", library.output(0, NULL, NULL), MODEL_NULL_POINTER);
    if (description.inputs) expect("input to nothing", library.input(0, NULL, NULL), MODEL_NULL_POINTER);
    expect("workspace of no threads", library.workspace_bytes(NULL, 0), MODEL_WRONG_THREADS);
    expect("workspace of all threads", library.workspace_bytes(NULL, UINT32_MAX) > 0, 1);
    for (int status = -FAR; status <= FAR; status += status > -64 && status < 64 ? 1 : FAR / 64)
        expect("status without words", library.status_text(status) && *library.status_text(status), 1);
}

/* A run with one thing changed, which is put back. */
static void run_changed(const char *what, model_buffer *buffer, void *data, size_t bytes, int wanted) {
    model_buffer kept = *buffer;
    *buffer = (model_buffer){data, bytes};
    expect(what, run(NULL), wanted);
    *buffer = kept;
}

static void call_with_wrong_buffers(void) {
    const model_buffer *outputs = buffers + description.inputs;
    for (uint32_t i = 0; i < description.inputs + description.outputs; i++) {
        model_buffer own = buffers[i];
        if (!own.bytes) continue;
        run_changed("data that is null", buffers + i, NULL, own.bytes, MODEL_NULL_POINTER);
        run_changed("a byte too few", buffers + i, own.data, own.bytes - 1, MODEL_SHORT_BUFFER);
        run_changed("no bytes", buffers + i, own.data, 0, MODEL_SHORT_BUFFER);
        for (uint32_t shift = 1; shift < tensors[i].alignment; shift *= 2)
            run_changed("misaligned", buffers + i, (char *)own.data + shift, own.bytes, MODEL_MISALIGNED);
    }
    if (description.inputs)
        expect("no inputs", library.run(NULL, NULL, outputs, workspace.buffer, NULL), MODEL_NULL_POINTER);
    expect("no outputs", library.run(NULL, buffers, NULL, workspace.buffer, NULL), MODEL_NULL_POINTER);
    model_buffer own = workspace.buffer;
    run_changed("no workspace", &workspace.buffer, NULL, own.bytes, MODEL_NULL_POINTER);
    run_changed("short workspace", &workspace.buffer, own.data, own.bytes - 1, MODEL_SHORT_WORKSPACE);
    run_changed("empty workspace", &workspace.buffer, own.data, 0, MODEL_SHORT_WORKSPACE);
    run_changed("misaligned workspace", &workspace.buffer, (char *)own.data + 8, own.bytes, MODEL_MISALIGNED);
}

static void launch_nothing(void *pool, void (*task)(void *, uint32_t), void *job, uint32_t count) {
    (void)pool, (void)task, (void)job, (void)count;
}

static void call_with_wrong_threads(void) {
    expect("no threads", run(&(model_threads){0, launch_nothing, NULL}), MODEL_WRONG_THREADS);
    expect("threads of nobody", run(&(model_threads){2, NULL, NULL}), MODEL_WRONG_THREADS);
    expect("a workspace of one thread", run(&(model_threads){2, launch_nothing, NULL}), MODEL_SHORT_WORKSPACE);
    expect("more threads than memory", run(&(model_threads){UINT32_MAX, launch_nothing, NULL}), MODEL_SHORT_WORKSPACE);
    expect("one thread without launch", run(&(model_threads){1, NULL, NULL}), MODEL_OK);
}

static void call_pools(void) {
    model_threads threads = {0, NULL, NULL};
    expect("pool of none", library.pool_bytes(0), MODEL_WRONG_THREADS);
    expect("pool of 257", library.pool_bytes(257), MODEL_WRONG_THREADS);
    struct guarded pool = allocate_guarded(library.pool_bytes(2), MODEL_ALIGNMENT, AT_END);
    model_buffer own = pool.buffer, none = {NULL, own.bytes}, less = {own.data, own.bytes - 1};
    model_buffer odd = {(char *)own.data + 8, own.bytes};
    expect("pool without memory", library.pool_start(none, 2, &threads), MODEL_NULL_POINTER);
    expect("pool for nobody", library.pool_start(own, 2, NULL), MODEL_NULL_POINTER);
    expect("misaligned pool", library.pool_start(odd, 2, &threads), MODEL_MISALIGNED);
    expect("short pool", library.pool_start(less, 2, &threads), MODEL_SHORT_WORKSPACE);
    expect("start of none", library.pool_start(own, 0, &threads), MODEL_WRONG_THREADS);
    expect("start of 257", library.pool_start(own, 257, &threads), MODEL_WRONG_THREADS);
    expect("stop of nothing", library.pool_stop(NULL), MODEL_NULL_POINTER);
    expect("stop of no pool", library.pool_stop(&threads), MODEL_NULL_POINTER);
    threads = (model_threads){2, launch_nothing, own.data};
    expect("stop of another's", library.pool_stop(&threads), MODEL_WRONG_THREADS);
    expect("start", library.pool_start(own, 2, &threads), MODEL_OK);
    model_threads many = {70000, threads.launch, threads.pool}, lost = {2, threads.launch, NULL};
    expect("more threads than a pool counts", run(&many), MODEL_WRONG_THREADS);
    expect("a pool that is null", run(&lost), MODEL_WRONG_THREADS);
    expect("stop", library.pool_stop(&threads), MODEL_OK);
    expect("stop again", library.pool_stop(&threads), MODEL_NULL_POINTER);
    expect("bytes beside the pool", free_guarded(pool), 0);
}

static void call_selftest(void) {
    struct guarded own = allocate_guarded(library.selftest_bytes(), MODEL_ALIGNMENT, AT_END);
    model_buffer none = {NULL, own.buffer.bytes}, less = {own.buffer.data, own.buffer.bytes - 1};
    model_buffer odd = {(char *)own.buffer.data + 4, own.buffer.bytes};
    expect("self-test without memory", library.selftest(none, NULL), MODEL_NULL_POINTER);
    expect("short self-test", library.selftest(less, NULL), MODEL_SHORT_WORKSPACE);
    expect("misaligned self-test", library.selftest(odd, NULL), MODEL_MISALIGNED);
    expect("self-test", library.selftest(own.buffer, NULL), MODEL_OK);
    expect("bytes beside a self-test", free_guarded(own), 0);
}

int main(int count, char **arguments) {
    if (count != 3) die("usage", "wrong_calls LIBRARY NAME");
    library = open_library(arguments[1], arguments[2]);
    call_before_init();
    expect("init", library.init(), MODEL_OK);
    uint32_t all = description.inputs + description.outputs;
    if (all > MOST_TENSORS) die("too many tensors", arguments[1]);
    for (uint32_t i = 0; i < all; i++) {
        int status = i < description.inputs ? library.input(i, NULL, tensors + i)
                                            : library.output(i - description.inputs, NULL, tensors + i);
        expect("tensor", status, MODEL_OK);
        memory[i] = allocate_guarded(tensors[i].bytes, tensors[i].alignment, AT_END);
        fill_guarded(memory[i], 0);
        VALGRIND_MAKE_MEM_DEFINED(memory[i].buffer.data, memory[i].buffer.bytes);
        buffers[i] = memory[i].buffer;
    }
    workspace = allocate_guarded(library.workspace_bytes(NULL, 1), MODEL_ALIGNMENT, AT_END);
    call_descriptions();
    call_with_wrong_buffers();
    call_with_wrong_threads();
    call_pools();
    call_selftest();
    expect("run", run(NULL), MODEL_OK);
    for (uint32_t i = 0; i < all; i++) expect("bytes beside a tensor", free_guarded(memory[i]), 0);
    expect("bytes beside the workspace", free_guarded(workspace), 0);
    return wrong != 0;
}
