/* What the callers in C share: clock, resident memory, files of tensors, and the lines between a caller and library.py,
   which are those of caller.py. */
#ifndef CALLER_H
#define CALLER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Milliseconds and MiB of a process: before the engine was opened, with it, and after the first run. */
typedef struct figures {
    double engine_ms, load_ms, first_ms, started, engine, resident;
} figures;

static void stop(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static double milliseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

static double resident_mebibytes(void) {
    char line[256];
    double kibibytes = 0;
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    if (!file) stop("smaps_rollup", "this benchmark needs Linux");
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "Rss: %lf", &kibibytes) == 1) break;
    fclose(file);
    return kibibytes / 1024;
}

static void *allocate(size_t bytes) {
    void *data = NULL;
    if (posix_memalign(&data, 64, bytes + 1)) stop("allocate", "no memory");
    return data;
}

static void read_bytes(FILE *file, void *data, size_t bytes) {
    if (fread(data, 1, bytes, file) != bytes) stop("inputs", "the file is shorter than the model's inputs");
}

static FILE *open_file(const char *path, const char *mode) {
    FILE *file = fopen(path, mode);
    if (!file) stop(path, "cannot be opened");
    return file;
}

/* Print the figures; then, for each line "COUNT", run so many times and print the seconds of each as JSON. */
static void serve(const figures *f, void (*run)(void)) {
    char line[64];
    printf("{\"engine_ms\": %.6f, \"load_ms\": %.6f, \"first_ms\": %.6f, ", f->engine_ms, f->load_ms, f->first_ms);
    printf("\"started\": %.3f, \"engine\": %.3f, \"resident\": %.3f}\n", f->started, f->engine, f->resident);
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        long count = strtol(line, NULL, 10);
        double *stamps = allocate((size_t)(count + 1) * sizeof *stamps);
        stamps[0] = milliseconds();
        for (long i = 1; i <= count; i++) {
            run();
            stamps[i] = milliseconds();
        }
        for (long i = 1; i <= count; i++) printf("%s%.9f", i > 1 ? ", " : "[", 1e-3 * (stamps[i] - stamps[i - 1]));
        printf("]\n");
        fflush(stdout);
        free(stamps);
    }
}

#endif
