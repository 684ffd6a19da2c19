/* What onnxruntime.c needs of onnxruntime's C interface. The interface only grows: a function keeps its place in the
   table OrtApi, and a structure says by its version how much of it there is. */
#include <stddef.h>
#include <stdint.h>

enum { API_VERSION = 17 };                                                 /* the first with threads for operators */
enum { INVALID_ARGUMENT = 2, RUNTIME_EXCEPTION = 6, NOT_IMPLEMENTED = 9 }; /* OrtErrorCode */

struct ort_status;  /* null: no error */
struct ort_value;   /* a tensor */
struct ort_info;    /* type and shape of a tensor */
struct ort_node;    /* OrtKernelInfo: a node whose kernel is made */
struct ort_context; /* OrtKernelContext: a run of a kernel */
struct ort_domain;  /* a set of operators */
struct ort_options; /* of a session */
struct ort_allocator;
struct ort_op;

struct ort_api { /* places of functions that are not called have no name */
    struct ort_status *(*create_status)(int code, const char *text);
    void *places_1_to_25[25];
    struct ort_status *(*create_domain)(const char *name, struct ort_domain **domain);
    struct ort_status *(*add_op)(struct ort_domain *domain, const struct ort_op *op);
    struct ort_status *(*add_domain)(struct ort_options *options, struct ort_domain *domain);
    void *places_29_to_50[22];
    struct ort_status *(*get_data)(struct ort_value *value, void **data);
    void *places_52_to_60[9];
    struct ort_status *(*get_rank)(const struct ort_info *info, size_t *rank);
    struct ort_status *(*get_shape)(const struct ort_info *info, int64_t *shape, size_t rank);
    void *places_63_to_64[2];
    struct ort_status *(*get_info)(const struct ort_value *value, struct ort_info **info);
    void *places_66_to_74[9];
    struct ort_status *(*allocate)(struct ort_allocator *allocator, size_t bytes, void **memory);
    struct ort_status *(*release)(struct ort_allocator *allocator, void *memory);
    void *place_77;
    struct ort_status *(*get_allocator)(struct ort_allocator **allocator);
    void *places_79_to_85[7];
    struct ort_status *(*get_number)(const struct ort_node *node, const char *attribute, int64_t *number);
    struct ort_status *(*get_text)(const struct ort_node *node, const char *attribute, char *text, size_t *bytes);
    void *places_88_to_89[2];
    struct ort_status *(*get_input)(const struct ort_context *context, size_t number, const struct ort_value **value);
    struct ort_status *(*get_output)(struct ort_context *context, size_t number, const int64_t *shape, size_t rank,
                                     struct ort_value **value);
    void *place_92;
    void (*release_status)(struct ort_status *status);
    void *places_94_to_98[5];
    void (*release_info)(struct ort_info *info);
    void *place_100;
    void (*release_domain)(struct ort_domain *domain);
    void *places_102_to_273[172];
    struct ort_status *(*run_tasks)(const struct ort_context *context, void (*task)(void *job, size_t number),
                                    size_t count, size_t batches, void *job); /* batches: 0, it chooses */
};

_Static_assert(offsetof(struct ort_api, get_data) == 51 * sizeof(void *), "GetTensorMutableData");
_Static_assert(offsetof(struct ort_api, release_domain) == 101 * sizeof(void *), "ReleaseCustomOpDomain");
_Static_assert(offsetof(struct ort_api, run_tasks) == 274 * sizeof(void *), "KernelContext_ParallelFor");

struct ort_api_base {
    const struct ort_api *(*get_api)(uint32_t version); /* null where onnxruntime is older */
    const char *(*get_version)(void);
};

struct ort_op { /* OrtCustomOp of API_VERSION */
    uint32_t version;
    void *create_kernel; /* of old versions */
    const char *(*get_name)(const struct ort_op *self);
    const char *(*get_provider)(const struct ort_op *self); /* null: the CPU's */
    int (*get_input_type)(const struct ort_op *self, size_t number);
    size_t (*count_inputs)(const struct ort_op *self);
    int (*get_output_type)(const struct ort_op *self, size_t number);
    size_t (*count_outputs)(const struct ort_op *self);
    void *compute; /* of old versions */
    void (*destroy_kernel)(void *kernel);
    int (*get_input_kind)(const struct ort_op *self, size_t number); /* 0: required */
    int (*get_output_kind)(const struct ort_op *self, size_t number);
    int (*get_input_memory)(const struct ort_op *self, size_t number); /* 0: that of the provider */
    void *variadic[4];
    struct ort_status *(*create_kernel_v2)(const struct ort_op *self, const struct ort_api *api,
                                           const struct ort_node *node, void **kernel);
    struct ort_status *(*compute_v2)(void *kernel, struct ort_context *context);
    void *infer_shapes;
    void *get_versions[2]; /* null: all versions of the domain */
};
