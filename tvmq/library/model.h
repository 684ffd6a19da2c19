/* The compiled model "model" as a C library: C99, C++ reads it too. Written by tvmq export-library.

   model_init()             once; then any number of threads may call model_run, each with its own workspace
   model_workspace_bytes()  bytes that a run needs, at an address that is a multiple of MODEL_ALIGNMENT
   model_run()              computes the outputs; it allocates nothing, takes no lock, reads no file

   Functions return MODEL_OK or a negative status; model_status_text says what it means. */
#ifndef MODEL_H
#define MODEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MODEL_ABI 2        /* changes when a program has to be compiled anew */
#define MODEL_ALIGNMENT 64 /* of a workspace, and of tensors that ask for it */
#define MODEL_MOST_RANK 8

enum {
    MODEL_OK = 0,
    MODEL_NULL_POINTER = -1,    /* an argument, or the data of a tensor that has bytes, is null */
    MODEL_SHORT_BUFFER = -2,    /* an input or output has fewer bytes than model_input, model_output say */
    MODEL_MISALIGNED = -3,      /* data does not begin at a multiple of the tensor's alignment */
    MODEL_SHORT_WORKSPACE = -4, /* fewer bytes than model_workspace_bytes, model_pool_bytes say */
    MODEL_WRONG_SIZE = -5,      /* a dynamic dimension is below its least or above its most, or sizes are missing */
    MODEL_NO_SUCH_TENSOR = -6,  /* the number of a tensor or dimension is too large */
    MODEL_WRONG_CPU = -7,       /* this processor lacks instructions that all code in the library needs */
    MODEL_NOT_INITIALIZED = -8, /* model_init was not called, or failed */
    MODEL_WRONG_THREADS = -9,   /* a number of threads that is 0, more than one without a launch function, or above 256 of a
                                   pool; or threads that are no pool */
    MODEL_KERNEL_FAILED = -10,  /* a computation refused its data */
    MODEL_NO_SUCH_CODE = -11,   /* the library has no code of this name */
    MODEL_NO_THREADS = -12,     /* the program has no pthread_create, or the system starts no more threads */
    MODEL_DIFFERS = -13,        /* a self-test has found a layer with another result */
    MODEL_NO_GOLDEN = -14,      /* the library was made without values for a self-test */
    MODEL_WRONG_INDEX = -15,    /* an input holds an index outside of what it counts */
    MODEL_NO_MULTIPLE = -16     /* a dynamic dimension is no multiple of what model_dimension says */
};

/* Memory of the caller: data points to so many bytes. */
typedef struct model_buffer {
    void *data;
    size_t bytes;
} model_buffer;

/* An input or output. A size of shape below 0 is not known yet: -1 - number of its dynamic dimension, or
   -1 - sizes of the description where it is computed. */
typedef struct model_tensor {
    const char *name;
    const char *type; /* float32, int8, ... as NumPy writes it */
    uint32_t rank;
    uint32_t alignment; /* its data begins at a multiple of so many bytes */
    int64_t shape[MODEL_MOST_RANK];
    int64_t bytes;      /* -1 where a dimension has no size yet */
    double scale;       /* real = (code - zero_point) * scale of the codes that it becomes, or was; 0: none */
    int64_t zero_point;
} model_tensor;

/* A dynamic dimension: what a run takes as its size; least and most are multiples, too. */
typedef struct model_size {
    const char *name;
    int64_t least, most, multiple;
} model_size;

typedef struct model_description {
    const char *name;
    const char *model_hash; /* sha256 of the module, of the library's code and constants */
    const char *code_hash;
    const char *code; /* instruction set that model_init chose; null before */
    const char *codes; /* all inside, best first, separated by blanks */
    uint32_t abi, inputs, outputs, sizes;
} model_description;

/* Threads of a run: launch(pool, task, job, count) calls task(job, i) once for each i below count, on any threads, and
   returns when all have ended. count 1 needs no launch. A null pointer in place of this means one thread. */
typedef struct model_threads {
    uint32_t count;
    void (*launch)(void *pool, void (*task)(void *job, uint32_t number), void *job, uint32_t count);
    void *pool;
} model_threads;

typedef struct model_difference {
    uint32_t compared;   /* results that the library knows */
    uint32_t number;     /* of the first that differs; compared where none does */
    const char *layer;   /* its name; null where none differs */
} model_difference;

int model_init(void);
/* In place of init: the code of this name, one of description.codes, although the processor may run a better one. For
   tests of each. Runs that have begun keep their code; another one may need a larger workspace. */
int model_select_code(const char *name);
int model_describe(model_description *description);
/* Dynamic dimension number, below description.sizes. */
int model_dimension(uint32_t number, model_size *size);
/* sizes: one for each dynamic dimension, in their order; null where there are none, and for shapes whose sizes are not
   known yet. */
int model_input(uint32_t number, const int64_t *sizes, model_tensor *tensor);
int model_output(uint32_t number, const int64_t *sizes, model_tensor *tensor);
/* Bytes, or a negative status. */
int64_t model_workspace_bytes(const int64_t *sizes, uint32_t threads);
int model_run(const int64_t *sizes, const model_buffer *inputs, const model_buffer *outputs, model_buffer workspace,
              const model_threads *threads);
/* Threads of ours for model_run: a pool of count threads, the one that runs included, in memory of the caller of
   model_pool_bytes(count) bytes, which start fills into threads. Runs at the same time may share it: one of them has its
   threads, the others compute alone. stop ends the threads when no run has them; a program needs pthread_create. */
int64_t model_pool_bytes(uint32_t count);
int model_pool_start(model_buffer memory, uint32_t count, model_threads *threads);
int model_pool_stop(model_threads *threads);
/* Run the code that init chose on inputs of its own, in memory of model_selftest_bytes() bytes, and compare each layer
   with the definition's result: MODEL_OK, or MODEL_DIFFERS and the first layer; difference may be null. Before init the
   bytes are a negative status. */
int64_t model_selftest_bytes(void);
int model_selftest(model_buffer memory, model_difference *difference);
const char *model_status_text(int status);

#ifdef __cplusplus
}
#endif
#endif
