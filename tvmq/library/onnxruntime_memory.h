/* Memory of an operator's runs: a part of onnxruntime.c.

   Any number of threads may run a kernel: each run takes a block that no other has, and leaves it to the kernel for those
   that follow. */
enum { KEPT = 8 };

struct block { /* in front of memory that begins at a multiple of MODEL_ALIGNMENT */
    unsigned char *data;
    size_t bytes;
};

struct kernel {
    const struct ort_api *api;
    struct ort_allocator *allocator;
    uint32_t tasks;           /* into which loops are divided */
    struct block *kept[KEPT]; /* that no run has */
};

static void release_memory(const struct kernel *kernel, void *memory) {
    struct ort_status *status = memory ? kernel->api->release(kernel->allocator, memory) : 0;
    if (status) kernel->api->release_status(status);
}

static void keep_block(struct kernel *kernel, struct block *block) {
    for (int place = 0; place < KEPT; place++) {
        struct block *none = 0;
        if (__atomic_compare_exchange_n(kernel->kept + place, &none, block, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return;
    }
    release_memory(kernel, block);
}

static struct ort_status *take_block(struct kernel *kernel, size_t bytes, struct block **taken) {
    void *memory = 0;
    for (int place = 0; place < KEPT; place++) {
        struct block *block = __atomic_exchange_n(kernel->kept + place, 0, __ATOMIC_ACQ_REL);
        *taken = block;
        if (block && block->bytes >= bytes) return 0;
        release_memory(kernel, block); /* of smaller sizes */
    }
    *taken = 0;
    struct ort_status *status =
        kernel->api->allocate(kernel->allocator, sizeof(struct block) + MODEL_ALIGNMENT + bytes, &memory);
    if (status) return status;
    if (!memory) return fail(kernel->api, RUNTIME_EXCEPTION, "onnxruntime has no memory for a run");
    *taken = memory;
    (*taken)->bytes = bytes;
    (*taken)->data = (unsigned char *)(*taken + 1);
    (*taken)->data += -(uintptr_t)(*taken)->data % MODEL_ALIGNMENT;
    return 0;
}
