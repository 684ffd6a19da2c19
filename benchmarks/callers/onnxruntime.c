/* Calls onnxruntime's C library as a program does, and times runs when asked (caller.h).

       cc -std=gnu11 -O2 onnxruntime.c -o onnxruntime -ldl
       onnxruntime LIBRARY MODEL.onnx INPUTS RESULTS THREADS INPUT... -- OUTPUT...

   LIBRARY is the libonnxruntime.so of the Python wheel, which has no header: its table of functions only grows, and the
   numbers of those called here are below. An INPUT is NAME:TYPE:BYTES:SIZE,SIZE,... with onnxruntime's number of the type.
   Results of the first run are used again by the next ones, so that none allocates them. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "caller.h"

enum {
    GET_ERROR_MESSAGE = 2, CREATE_ENV = 3, CREATE_SESSION = 7, RUN = 9, CREATE_SESSION_OPTIONS = 10,
    SET_INTRA_OP_THREADS = 24, SET_INTER_OP_THREADS = 25, CREATE_TENSOR_WITH_DATA = 49, GET_TENSOR_DATA = 51,
    GET_ELEMENT_COUNT = 64, GET_SHAPE_AND_TYPE = 65, CREATE_CPU_MEMORY_INFO = 69
};
enum { API_VERSION = 16, LOG_ERRORS = 3, ARENA = 1, DEFAULT_MEMORY = 0, MOST_TENSORS = 64, MOST_RANK = 8, FLOAT_BYTES = 4 };

typedef void *(*Function)(); /* of the table: each returns null, or a status with a message */
typedef struct api_base { const Function *(*get_api)(uint32_t version); } api_base;

static const Function *api;
static void *session, *inputs[MOST_TENSORS], *outputs[MOST_TENSORS];
static const char *input_names[MOST_TENSORS], *output_names[MOST_TENSORS];
static size_t input_count, output_count;

static void check(const char *what, void *status) {
    if (status) stop(what, ((const char *(*)(void *))api[GET_ERROR_MESSAGE])(status));
}

static void run(void) {
    check("run", api[RUN](session, NULL, input_names, (const void *const *)inputs, input_count, output_names,
                          output_count, outputs));
}

/* An input from its description and the next bytes of the file. */
static void add_input(char *text, FILE *file, void *memory) {
    char *name = strtok(text, ":"), *type = strtok(NULL, ":"), *bytes = strtok(NULL, ":"), *size;
    int64_t shape[MOST_RANK];
    size_t rank = 0;
    if (!bytes || input_count == MOST_TENSORS) stop(text, "an input is NAME:TYPE:BYTES:SIZES");
    while ((size = strtok(NULL, ",")) && rank < MOST_RANK) shape[rank++] = atoll(size);
    size_t length = (size_t)atoll(bytes);
    void *data = allocate(length);
    read_bytes(file, data, length);
    check("tensor", api[CREATE_TENSOR_WITH_DATA](memory, data, length, shape, rank, atoi(type), inputs + input_count));
    input_names[input_count++] = name;
}

int main(int count, char **arguments) {
    void *environment, *options, *memory, *data, *shape;
    size_t elements;
    if (count < 8) stop("onnxruntime", "LIBRARY MODEL INPUTS RESULTS THREADS INPUT... -- OUTPUT...");
    figures f = {0};
    f.started = resident_mebibytes();
    double start = milliseconds();
    void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    if (!library) stop("dlopen", dlerror());
    const api_base *(*get_base)(void) = (const api_base *(*)(void))dlsym(library, "OrtGetApiBase");
    api = get_base ? get_base()->get_api(API_VERSION) : NULL;
    if (!api) stop(arguments[1], "has no table of functions of this version");
    check("environment", api[CREATE_ENV](LOG_ERRORS, "caller", &environment));
    f.engine_ms = milliseconds() - start;
    f.engine = resident_mebibytes();

    start = milliseconds();
    check("options", api[CREATE_SESSION_OPTIONS](&options));
    check("threads", api[SET_INTRA_OP_THREADS](options, atoi(arguments[5])));
    check("threads", api[SET_INTER_OP_THREADS](options, 1));
    check("session", api[CREATE_SESSION](environment, arguments[2], options, &session));
    f.load_ms = milliseconds() - start;

    FILE *file = open_file(arguments[3], "rb");
    int next = 6;
    check("memory", api[CREATE_CPU_MEMORY_INFO](ARENA, DEFAULT_MEMORY, &memory));
    for (; next < count && strcmp(arguments[next], "--"); next++) add_input(arguments[next], file, memory);
    for (next++; next < count && output_count < MOST_TENSORS; next++) output_names[output_count++] = arguments[next];
    fclose(file);
    start = milliseconds();
    run();
    f.first_ms = milliseconds() - start;
    f.resident = resident_mebibytes();

    file = open_file(arguments[4], "wb");
    for (size_t i = 0; i < output_count; i++) {
        check("data", api[GET_TENSOR_DATA](outputs[i], &data));
        check("shape", api[GET_SHAPE_AND_TYPE](outputs[i], &shape));
        check("count", api[GET_ELEMENT_COUNT](shape, &elements));
        fwrite(data, FLOAT_BYTES, elements, file);
    }
    if (fclose(file)) stop(arguments[4], "cannot be written");
    serve(&f, run);
    return 0;
}
