/* A program of onnxruntime's C interface that runs a model by the operator of a library.

       onnxruntime LIBONNXRUNTIME LIBRARY MODEL INPUT EXPECTED     paths; the last two hold floats

   Sessions come and go; in each, four threads run the model on tensors at odd addresses. It declares the functions that
   it calls by their places in onnxruntime's table. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PICTURE = 16 * 16, SCORES = 10, CALLERS = 4, RUNS = 50, SESSIONS = 5, VERSION = 17, FLOAT = 1 };

typedef void *status;
typedef void (*function)(void);
struct base {
    const function *(*get_api)(uint32_t version);
    const char *(*get_version)(void);
};

static const function *api;
static void *session, *memory_info;
static float expected[SCORES], picture[PICTURE];

#define CALL(place, types, arguments) check(((status(*) types)api[place]) arguments)
#define RELEASE(place, object) ((void (*)(void *))api[place])(object)

static void check(status error) {
    if (!error) return;
    fprintf(stderr, "%s\n", ((const char *(*)(status))api[2])(error));
    exit(3);
}

static void read_file(const char *path, float *values, size_t count) {
    FILE *file = fopen(path, "rb");
    if (!file || fread(values, sizeof *values, count, file) != count || fclose(file)) exit(4);
}

static void *make_tensor(float *values, const int64_t *shape, size_t rank) {
    void *value = NULL;
    size_t bytes = sizeof *values;
    for (size_t axis = 0; axis < rank; axis++) bytes *= (size_t)shape[axis];
    CALL(49, (void *, void *, size_t, const int64_t *, size_t, int, void **),
         (memory_info, values, bytes, shape, rank, FLOAT, &value));
    return value;
}

/* A run with both tensors so many floats behind the begin of their memory; what differs. */
static int run(size_t offset) {
    static const int64_t input_shape[] = {1, 1, 16, 16}, output_shape[] = {1, SCORES};
    const char *input_name = "image", *output_name = "scores";
    float *input = malloc((PICTURE + offset) * sizeof *input), *output = malloc((SCORES + offset) * sizeof *output);
    if (!input || !output) exit(5);
    memcpy(input + offset, picture, sizeof picture);
    memset(output + offset, 0xFF, sizeof expected);
    void *from = make_tensor(input + offset, input_shape, 4), *to = make_tensor(output + offset, output_shape, 2);
    CALL(9, (void *, void *, const char **, void **, size_t, const char **, size_t, void **),
         (session, NULL, &input_name, &from, 1, &output_name, 1, &to));
    int differs = memcmp(output + offset, expected, sizeof expected) != 0;
    RELEASE(96, from);
    RELEASE(96, to);
    free(input);
    free(output);
    return differs;
}

static void *run_often(void *differing) {
    for (size_t number = 0; number < RUNS; number++) *(int *)differing += run(number % 17);
    return NULL;
}

int main(int count, char **arguments) {
    if (count != 6) return 2;
    void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL), *environment = NULL;
    const struct base *(*get_base)(void) = NULL;
    if (library) *(void **)&get_base = dlsym(library, "OrtGetApiBase");
    if (!get_base || !(api = get_base()->get_api(VERSION))) return 2;
    read_file(arguments[4], picture, PICTURE);
    read_file(arguments[5], expected, SCORES);
    CALL(3, (int, const char *, void **), (3, "test", &environment));
    CALL(69, (int, int, void **), (0, 0, &memory_info));
    int total = 0;
    for (int number = 0; number < SESSIONS; number++) {
        void *options = NULL;
        pthread_t callers[CALLERS];
        int differing[CALLERS] = {0};
        CALL(10, (void **), (&options));
        CALL(24, (void *, int), (options, 2));
        CALL(228, (void *, const char *), (options, arguments[2]));
        CALL(7, (void *, const char *, void *, void **), (environment, arguments[3], options, &session));
        RELEASE(100, options);
        for (int i = 0; i < CALLERS; i++)
            if (pthread_create(callers + i, NULL, run_often, differing + i)) return 5;
        for (int i = 0; i < CALLERS; i++) pthread_join(callers[i], NULL);
        for (int i = 0; i < CALLERS; i++) total += differing[i];
        RELEASE(95, session);
    }
    RELEASE(94, memory_info);
    RELEASE(92, environment);
    puts(total ? "different" : "equal");
    return total != 0;
}
