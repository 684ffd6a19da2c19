/* Runs a library very often: in 8 threads while the program forks, and loaded and closed again and again.

       stress LIBRARY NAME RUNS LOADS INPUT EXPECTED

   Each thread makes RUNS runs with a workspace of its own, all with one pool; children of a fork run too. The library
   has one input and one output, whose bytes the files hold. Status 0 if all results are the expected ones, the library
   is gone when it was closed, and resident memory does not grow. */
#include <pthread.h>
#include <sys/wait.h>

#include "guarded.h"

#ifndef GROWTH_KB
#define GROWTH_KB 512
#endif

enum { CALLERS = 8, FORKS = 1000, WARM_LOADS = 50, CHILD_RUNS = 10 };

static struct library library;
static model_buffer input, expected;
static model_threads shared;
static int runs, running;

static model_buffer read_file(const char *path) {
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) die("cannot read", path);
    model_buffer buffer = allocate_guarded(ftell(file), MODEL_ALIGNMENT, AT_END).buffer;
    rewind(file);
    if (fread(buffer.data, 1, buffer.bytes, file) != buffer.bytes || fclose(file)) die("cannot read", path);
    return buffer;
}

static long resident_kilobytes(void) {
    char line[256];
    long kilobytes = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file)) sscanf(line, "VmRSS: %ld", &kilobytes);
    if (file) fclose(file);
    return kilobytes;
}

/* Runs that differ, and bytes beside buffers. Memory is mapped: malloc keeps some for each thread. */
static int run_often(const struct library *own, const model_threads *threads, int count) {
    int64_t bytes = own->workspace_bytes(NULL, threads ? threads->count : 1);
    struct guarded output = allocate_guarded((int64_t)expected.bytes, MODEL_ALIGNMENT, AT_END);
    struct guarded workspace = allocate_guarded(bytes, MODEL_ALIGNMENT, AT_END);
    int differing = 0;
    for (int i = 0; i < count; i++) {
        memset(output.buffer.data, 0xFF, output.buffer.bytes);
        int status = own->run(NULL, &input, &output.buffer, workspace.buffer, threads);
        differing += status || memcmp(output.buffer.data, expected.data, expected.bytes);
    }
    return differing + free_guarded(output) + free_guarded(workspace);
}

static void *call_often(void *differing) {
    *(int *)differing = run_often(&library, &shared, runs);
    __atomic_sub_fetch(&running, 1, __ATOMIC_RELAXED);
    return NULL;
}

/* Fork while others run: the child runs too, alone and with the pool, whose threads it does not have. */
static int fork_and_run(void) {
    int status;
    pid_t child = fork();
    if (child < 0) die("fork", "no process");
    if (!child) _exit(run_often(&library, &shared, CHILD_RUNS) + run_often(&library, NULL, CHILD_RUNS) != 0);
    if (waitpid(child, &status, 0) != child) die("waitpid", "no child");
    return status != 0;
}

static int run_in_threads(void) {
    pthread_t callers[CALLERS];
    int differing[CALLERS], sum = 0, forks = 0;
    struct guarded memory = allocate_guarded(library.pool_bytes(2), MODEL_ALIGNMENT, AT_END);
    if (library.pool_start(memory.buffer, 2, &shared)) die("pool", "start");
    running = CALLERS;
    for (int i = 0; i < CALLERS; i++)
        if (pthread_create(callers + i, NULL, call_often, differing + i)) die("pthread_create", "caller");
    while (forks < FORKS && __atomic_load_n(&running, __ATOMIC_RELAXED)) {
        sum += fork_and_run();
        forks++;
    }
    for (int i = 0; i < CALLERS; i++) {
        pthread_join(callers[i], NULL);
        sum += differing[i];
    }
    if (library.pool_stop(&shared)) die("pool", "stop");
    sum += free_guarded(memory);
    printf("%d runs in %d threads, %d forks meanwhile: %d differ\n", CALLERS * runs, CALLERS, forks, sum);
    return sum;
}

struct load {
    const char *path, *name;
    struct library library;
    pthread_barrier_t begin, end;
    int differing, is_over;
};

/* A thread that outlives the libraries, each of which gives it a variable of its own. */
static void *run_each(void *memory) {
    struct load *load = memory;
    for (;;) {
        pthread_barrier_wait(&load->begin);
        if (load->is_over) return NULL;
        load->differing += run_often(&load->library, NULL, 1);
        pthread_barrier_wait(&load->end);
    }
}

static void load_once(struct load *load) {
    load->library = open_library(load->path, load->name);
    if (load->library.init()) die("init", load->path);
    pthread_barrier_wait(&load->begin);
    pthread_barrier_wait(&load->end);
    load->differing += run_often(&load->library, NULL, 1);
    if (dlclose(load->library.handle)) die("dlclose", dlerror());
    if (dlopen(load->path, RTLD_NOW | RTLD_NOLOAD)) die("dlclose: it is still there", load->path);
}

static int load_often(const char *path, const char *name, int loads) {
    struct load load = {.path = path, .name = name};
    pthread_t runner;
    long before = 0;
    if (pthread_barrier_init(&load.begin, NULL, 2) || pthread_barrier_init(&load.end, NULL, 2)) die("barrier", "init");
    if (pthread_create(&runner, NULL, run_each, &load)) die("pthread_create", "runner");
    for (int i = 0; i < WARM_LOADS + loads; i++) {
        if (i == WARM_LOADS) before = resident_kilobytes();
        load_once(&load);
    }
    long growth = resident_kilobytes() - before;
    load.is_over = 1;
    pthread_barrier_wait(&load.begin);
    pthread_join(runner, NULL);
    printf("%d loads: %d differ, resident memory grows by %ld kB\n", loads, load.differing, growth);
    return load.differing + (growth > GROWTH_KB);
}

int main(int count, char **arguments) {
    if (count != 7) die("usage", "stress LIBRARY NAME RUNS LOADS INPUT EXPECTED");
    runs = atoi(arguments[3]);
    input = read_file(arguments[5]);
    expected = read_file(arguments[6]);
    int wrong = load_often(arguments[1], arguments[2], atoi(arguments[4]));
    library = open_library(arguments[1], arguments[2]);
    if (library.init()) die("init", arguments[1]);
    wrong += run_often(&library, NULL, WARM_LOADS);
    wrong += run_in_threads(); /* threads have had their stacks */
    long before = resident_kilobytes();
    wrong += run_in_threads();
    long growth = resident_kilobytes() - before;
    printf("resident memory grows by %ld kB\n", growth);
    return wrong != 0 || growth > GROWTH_KB;
}
