/* Runs a model with 1 to 4 threads of a pool and of pthreads, and in 8 threads that share a pool.

       threads INPUT EXPECTED     files of bytes; the status is 0 if all results are the expected ones

   It is compiled with the header of the model "digits". */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "digits.h"

enum { MOST = 4, CALLERS = 8 };
#ifndef RUNS
#define RUNS 50
#endif

static digits_buffer input, expected;
static digits_threads shared;

static digits_buffer allocate(int64_t bytes) {
    digits_buffer buffer = {NULL, (size_t)bytes};
    if (bytes < 0 || posix_memalign(&buffer.data, DIGITS_ALIGNMENT, (size_t)bytes + 1)) exit(2);
    return buffer;
}

static digits_buffer read_file(const char *path, int64_t bytes) {
    digits_buffer buffer = allocate(bytes);
    FILE *file = fopen(path, "rb");
    if (!file || fread(buffer.data, 1, buffer.bytes, file) != buffer.bytes || fclose(file)) exit(3);
    return buffer;
}

/* Runs that differ. */
static int run_often(const digits_threads *threads, int count) {
    digits_buffer output = allocate((int64_t)expected.bytes);
    digits_buffer workspace = allocate(digits_workspace_bytes(NULL, threads ? threads->count : 1));
    int differing = 0;
    for (int i = 0; i < count; i++) {
        memset(output.data, 0xFF, output.bytes);
        int status = digits_run(NULL, &input, &output, workspace, threads);
        differing += status || memcmp(output.data, expected.data, output.bytes);
    }
    free(output.data);
    free(workspace.data);
    return differing;
}

struct part {
    void (*task)(void *, uint32_t);
    void *job;
    uint32_t number;
};

static void *run_part(void *memory) {
    struct part *part = memory;
    part->task(part->job, part->number);
    return NULL;
}

/* A launch function of the program: a thread for each task. */
static void launch(void *pool, void (*task)(void *, uint32_t), void *job, uint32_t count) {
    pthread_t threads[MOST];
    struct part parts[MOST];
    ++*(int *)pool;
    for (uint32_t i = 0; i < count; i++) {
        parts[i] = (struct part){task, job, i};
        if (pthread_create(threads + i, NULL, run_part, parts + i)) exit(4);
    }
    for (uint32_t i = 0; i < count; i++) pthread_join(threads[i], NULL);
}

static void *call_often(void *unused) {
    return run_often(&shared, RUNS) ? &shared : unused;
}

int main(int count, char **paths) {
    digits_tensor tensor;
    int differing = 0, launches = 0;
    if (count != 3 || digits_init() || digits_input(0, NULL, &tensor)) return 1;
    input = read_file(paths[1], tensor.bytes);
    if (digits_output(0, NULL, &tensor)) return 1;
    expected = read_file(paths[2], tensor.bytes);
    differing += run_often(NULL, 1);
    for (uint32_t threads = 1; threads <= MOST; threads++) {
        digits_threads own = {threads, launch, &launches};
        digits_buffer memory = allocate(digits_pool_bytes(threads));
        differing += run_often(&own, 2);
        if (digits_pool_start(memory, threads, &own)) return 5;
        differing += run_often(&own, RUNS);
        if (digits_pool_stop(&own) || own.count != 1) return 6;
        free(memory.data);
    }
    if (!launches) return 7; /* the model has no parallel loop */
    digits_buffer memory = allocate(digits_pool_bytes(2));
    pthread_t callers[CALLERS];
    if (digits_pool_start(memory, 2, &shared)) return 8;
    for (int i = 0; i < CALLERS; i++)
        if (pthread_create(callers + i, NULL, call_often, NULL)) return 9;
    for (int i = 0; i < CALLERS; i++) {
        void *result;
        pthread_join(callers[i], &result);
        differing += result != NULL;
    }
    pid_t child = fork(); /* it has no threads of the pool, and the same results */
    if (!child) _exit(run_often(&shared, 2) || digits_pool_stop(&shared));
    int status;
    if (waitpid(child, &status, 0) != child || status) return 10;
    if (digits_pool_stop(&shared)) return 11;
    return differing ? 12 : 0;
}
