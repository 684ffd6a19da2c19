/* Runs the model once:

       cc example.c -L. -lmodel -Wl,-rpath,'$ORIGIN' -o example
       ./example [SIZE...]                    zeros as inputs; shows the first values of each output
       ./example [SIZE...] INPUT... OUTPUT... reads files of the inputs' bytes, writes files of the outputs' bytes

   SIZE: of each dynamic dimension that the model has. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

static void check(const char *what, int64_t status) {
    if (status >= 0) return;
    fprintf(stderr, "%s: %s\n", what, model_status_text((int)status));
    exit(1);
}

static model_buffer allocate(int64_t bytes) {
    size_t size = ((size_t)bytes / MODEL_ALIGNMENT + 1) * MODEL_ALIGNMENT;
    char *memory = calloc(size + MODEL_ALIGNMENT, 1);
    model_buffer buffer = {0, (size_t)bytes};
    if (!memory) {
        fprintf(stderr, "no memory for %zu bytes\n", size);
        exit(1);
    }
    buffer.data = memory + (MODEL_ALIGNMENT - (uintptr_t)memory % MODEL_ALIGNMENT);
    return buffer;
}

static void transfer(const char *path, const char *mode, model_buffer buffer) {
    FILE *file = fopen(path, mode);
    size_t done = !file ? 0 : *mode == 'r' ? fread(buffer.data, 1, buffer.bytes, file)
                                           : fwrite(buffer.data, 1, buffer.bytes, file);
    if (!file || done != buffer.bytes || fclose(file)) {
        fprintf(stderr, "%s: not %zu bytes\n", path, buffer.bytes);
        exit(1);
    }
}

static void show(const model_tensor *tensor, model_buffer buffer) {
    int64_t shown = tensor->bytes < 16 ? tensor->bytes : 16;
    printf("%s, %s of %lld bytes:", tensor->name, tensor->type, (long long)tensor->bytes);
    if (!strcmp(tensor->type, "float32"))
        for (int64_t i = 0; i < tensor->bytes / 4 && i < 10; i++) printf(" %g", ((float *)buffer.data)[i]);
    else
        for (int64_t i = 0; i < shown; i++) printf(" %02x", ((unsigned char *)buffer.data)[i]);
    printf("\n");
}

int main(int count, char **paths) {
    model_description model;
    check("init", model_init());
    check("describe", model_describe(&model));
    int64_t *sizes = calloc(model.sizes + 1, sizeof *sizes);
    model_tensor *tensors = calloc(model.inputs + model.outputs, sizeof *tensors);
    model_buffer *buffers = calloc(model.inputs + model.outputs, sizeof *buffers);
    if (!sizes || !tensors || !buffers) return 1;
    for (uint32_t i = 0; i < model.sizes; i++) {
        model_size size;
        check("dimension", model_dimension(i, &size));
        if ((uint32_t)count <= 1 + i)
            fprintf(stderr, "name a size for %s, of %lld to %lld in steps of %lld\n", size.name,
                    (long long)size.least, (long long)size.most, (long long)size.multiple);
        sizes[i] = (uint32_t)count > 1 + i ? strtoll(paths[1 + i], NULL, 10) : size.least;
    }
    for (uint32_t i = 0; i < model.inputs + model.outputs; i++) {
        int status = i < model.inputs ? model_input(i, sizes, tensors + i)
                                      : model_output(i - model.inputs, sizes, tensors + i);
        check("tensor", status);
        buffers[i] = allocate(tensors[i].bytes);
    }
    int has_files = (uint32_t)count == 1 + model.sizes + model.inputs + model.outputs;
    char **files = paths + 1 + model.sizes;
    for (uint32_t i = 0; has_files && i < model.inputs; i++) transfer(files[i], "rb", buffers[i]);
    int64_t bytes = model_workspace_bytes(sizes, 1);
    check("workspace_bytes", bytes);
    check("run", model_run(sizes, buffers, buffers + model.inputs, allocate(bytes), NULL));
    for (uint32_t i = model.inputs; i < model.inputs + model.outputs; i++)
        if (has_files)
            transfer(files[i], "wb", buffers[i]);
        else
            show(tensors + i, buffers[i]);
    return 0;
}
