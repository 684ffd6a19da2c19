/* For C programs that test libraries: the functions of a library by its name, and memory between guard pages.

   A guarded buffer ends where an unreadable page begins (AT_END, but for its alignment) or begins where one ends
   (AT_BEGIN). The bytes that are left on its pages must keep their value; valgrind and AddressSanitizer are told that
   nobody may touch them. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "model.h"

#if defined(__has_include)
#if __has_include(<valgrind/memcheck.h>)
#include <valgrind/memcheck.h>
#endif
#endif
#ifndef VALGRIND_MAKE_MEM_NOACCESS
#define VALGRIND_MAKE_MEM_NOACCESS(begin, bytes) (void)(begin), (void)(bytes)
#define VALGRIND_MAKE_MEM_DEFINED(begin, bytes) (void)(begin), (void)(bytes)
#define VALGRIND_MAKE_MEM_UNDEFINED(begin, bytes) (void)(begin), (void)(bytes)
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(begin, bytes) (void)(begin), (void)(bytes)
#define ASAN_UNPOISON_MEMORY_REGION(begin, bytes) (void)(begin), (void)(bytes)
#endif

#define LIBRARY_FUNCTIONS(use)                                                                                         \
    use(init) use(select_code) use(describe) use(input) use(output) use(workspace_bytes) use(run) use(pool_bytes)     \
    use(pool_start) use(pool_stop) use(selftest_bytes) use(selftest) use(status_text)

struct library {
    void *handle;
#define DECLARE(name) __typeof__(&model_##name) name;
    LIBRARY_FUNCTIONS(DECLARE)
#undef DECLARE
};

static void die(const char *what, const char *which) {
    fprintf(stderr, "%s: %s\n", what, which);
    exit(2);
}

static void *function_of(void *handle, const char *model, const char *name) {
    char symbol[256];
    snprintf(symbol, sizeof symbol, "%s_%s", model, name);
    void *function = dlsym(handle, symbol);
    if (!function) die("no function", symbol);
    return function;
}

static struct library open_library(const char *path, const char *model) {
    struct library library = {.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
    if (!library.handle) die("dlopen", dlerror());
#define LOAD(name) *(void **)&library.name = function_of(library.handle, model, #name);
    LIBRARY_FUNCTIONS(LOAD)
#undef LOAD
    return library;
}

enum placement { AT_END, AT_BEGIN };
enum { UNUSED_BYTE = 0xC3 };

struct guarded {
    model_buffer buffer;
    unsigned char *pages; /* between the two guards */
    size_t page_bytes;
};

static inline struct guarded allocate_guarded(int64_t bytes, size_t alignment, enum placement placement) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (size_t)bytes, whole = (size + page - 1) / page * page;
    unsigned char *memory = mmap(NULL, whole + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes < 0 || memory == MAP_FAILED) die("no memory", "guarded buffer");
    if (mprotect(memory, page, PROT_NONE) || mprotect(memory + page + whole, page, PROT_NONE)) die("mprotect", "guards");
    struct guarded result = {{memory + page, size}, memory + page, whole};
    memset(result.pages, UNUSED_BYTE, whole);
    if (placement == AT_END) result.buffer.data = result.pages + (whole - size) / alignment * alignment;
    unsigned char *begin = result.buffer.data, *end = begin + size;
    VALGRIND_MAKE_MEM_NOACCESS(result.pages, whole);
    VALGRIND_MAKE_MEM_UNDEFINED(begin, size);
    ASAN_POISON_MEMORY_REGION(result.pages, (size_t)(begin - result.pages));
    ASAN_POISON_MEMORY_REGION(end, (size_t)(result.pages + whole - end));
    return result;
}

/* Fill with bytes that no program may rely on. */
static inline void fill_guarded(struct guarded guarded, int value) {
    memset(guarded.buffer.data, value, guarded.buffer.bytes);
    VALGRIND_MAKE_MEM_UNDEFINED(guarded.buffer.data, guarded.buffer.bytes);
}

static inline void protect_guarded(struct guarded guarded, int protection) {
    if (guarded.page_bytes && mprotect(guarded.pages, guarded.page_bytes, protection)) die("mprotect", "a buffer");
}

/* Bytes beside the buffer that something has written to; the buffer is given back. */
static inline int free_guarded(struct guarded guarded) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *begin = guarded.buffer.data, *end = begin + guarded.buffer.bytes;
    int changed = 0;
    ASAN_UNPOISON_MEMORY_REGION(guarded.pages, guarded.page_bytes);
    VALGRIND_MAKE_MEM_DEFINED(guarded.pages, guarded.page_bytes);
    for (unsigned char *byte = guarded.pages; byte < guarded.pages + guarded.page_bytes; byte++)
        changed += (byte < begin || byte >= end) && *byte != UNUSED_BYTE;
    munmap(guarded.pages - page, guarded.page_bytes + 2 * page);
    return changed;
}
