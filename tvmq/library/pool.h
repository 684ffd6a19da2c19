/* A pool of threads in memory of the caller, for the parallel loops of kernels: a part of runtime.c.

   The thread that runs a model shares its tasks with the pool's threads and takes tasks itself, so that a run ends even
   where the others do nothing, as after a fork. One run at a time has the pool; others compute their tasks alone rather
   than wait. Threads that have nothing to do look a while for work, then sleep in the kernel (futex). */
#define POOL_MOST 256 /* threads */
#define POOL_LOOKS 1000 /* before a thread sleeps: about 20 us */
#define FUTEX_WAIT 128 /* of this process alone */
#define FUTEX_WAKE 129
#define SET_MASK 2

#if defined(__x86_64__)
enum { CALL_SIGNAL_MASK = 14, CALL_PROCESS = 39, CALL_FUTEX = 202 };
static long call_system(long number, long a, long b, long c, long d) {
    register long fourth __asm__("r10") = d;
    __asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c), "r"(fourth) : "rcx", "r11", "memory");
    return number;
}
static void pause_thread(void) { __asm__ volatile("pause"); }
#elif defined(__aarch64__)
enum { CALL_SIGNAL_MASK = 135, CALL_PROCESS = 172, CALL_FUTEX = 98 };
static long call_system(long number, long a, long b, long c, long d) {
    register long eighth __asm__("x8") = number, result __asm__("x0") = a;
    register long second __asm__("x1") = b, third __asm__("x2") = c, fourth __asm__("x3") = d;
    __asm__ volatile("svc 0" : "+r"(result) : "r"(eighth), "r"(second), "r"(third), "r"(fourth) : "memory");
    return result;
}
static void pause_thread(void) { __asm__ volatile("yield"); }
#else
#error "system calls of this architecture are not known"
#endif

/* Null where the program has no threads: before glibc 2.34 they are in a library of their own, and static programs have
   what they name. */
extern int pthread_create(unsigned long *thread, const void *attributes, void *(*start)(void *), void *argument)
    __attribute__((weak));
extern int pthread_join(unsigned long thread, void **result) __attribute__((weak));

static int has_threads(void) {
    const void *create = (const void *)pthread_create, *join = (const void *)pthread_join;
    __asm__("" : "+r"(create), "+r"(join)); /* a comparison of addresses is a constant that LLVM of today does not read */
    return create && join;
}

struct pool {
    uint64_t ticket; /* generation, count of tasks, number of the next: 32, 16, 16 bits */
    uint32_t generation, remaining, busy, stopping, started, process;
    void (*task)(void *job, uint32_t number);
    void *job;
    unsigned long threads[];
};

static void sleep_while(uint32_t *word, uint32_t value) { call_system(CALL_FUTEX, (long)word, FUTEX_WAIT, value, 0); }

static void wake(uint32_t *word, uint32_t count) { call_system(CALL_FUTEX, (long)word, FUTEX_WAKE, count, 0); }

/* Wait until the word has another value, which is returned. */
static uint32_t wait_for_change(uint32_t *word, uint32_t value) {
    uint32_t now;
    for (int look = 0; look < POOL_LOOKS; look++) {
        if ((now = __atomic_load_n(word, __ATOMIC_ACQUIRE)) != value) return now;
        pause_thread();
    }
    while ((now = __atomic_load_n(word, __ATOMIC_ACQUIRE)) == value) sleep_while(word, value);
    return now;
}

/* Take tasks until there are none. Whoever has taken one keeps the launch from ending, so task and job are its own. */
static void take_tasks(struct pool *pool) {
    uint64_t ticket = __atomic_load_n(&pool->ticket, __ATOMIC_ACQUIRE);
    while ((ticket & 0xFFFF) < (ticket >> 16 & 0xFFFF)) {
        if (!__atomic_compare_exchange_n(&pool->ticket, &ticket, ticket + 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            continue;
        pool->task(pool->job, (uint32_t)(ticket & 0xFFFF));
        if (!__atomic_sub_fetch(&pool->remaining, 1, __ATOMIC_ACQ_REL)) wake(&pool->remaining, 1);
        ticket = __atomic_load_n(&pool->ticket, __ATOMIC_ACQUIRE);
    }
}

static void *serve(void *memory) {
    struct pool *pool = memory;
    uint32_t generation = 0;
    while (!__atomic_load_n(&pool->stopping, __ATOMIC_ACQUIRE)) {
        generation = wait_for_change(&pool->generation, generation);
        take_tasks(pool);
    }
    return 0;
}

static void launch_in_pool(void *memory, void (*task)(void *job, uint32_t number), void *job, uint32_t count) {
    struct pool *pool = memory;
    if (__atomic_exchange_n(&pool->busy, 1, __ATOMIC_ACQUIRE)) {
        for (uint32_t number = 0; number < count; number++) task(job, number);
        return;
    }
    pool->task = task;
    pool->job = job;
    __atomic_store_n(&pool->remaining, count, __ATOMIC_RELAXED);
    uint32_t generation = pool->generation + 1;
    __atomic_store_n(&pool->ticket, (uint64_t)generation << 32 | (uint64_t)count << 16, __ATOMIC_RELEASE);
    __atomic_store_n(&pool->generation, generation, __ATOMIC_RELEASE);
    wake(&pool->generation, count - 1);
    take_tasks(pool);
    uint32_t remaining = __atomic_load_n(&pool->remaining, __ATOMIC_ACQUIRE);
    while (remaining) remaining = wait_for_change(&pool->remaining, remaining);
    __atomic_store_n(&pool->busy, 0, __ATOMIC_RELEASE);
}

static void end_threads(struct pool *pool) {
    __atomic_store_n(&pool->stopping, 1, __ATOMIC_RELEASE);
    __atomic_add_fetch(&pool->generation, 1, __ATOMIC_RELEASE);
    wake(&pool->generation, POOL_MOST);
    if (pool->process != (uint32_t)call_system(CALL_PROCESS, 0, 0, 0, 0)) return; /* a fork has no threads to join */
    for (uint32_t number = 0; number < pool->started; number++) pthread_join(pool->threads[number], 0);
}

/* A pool counts tasks in 16 bits of its ticket: whoever has changed a count must not reach them. */
static int check_threads(const model_threads *threads) {
    if (!threads) return MODEL_OK;
    if (!threads->count || (threads->count > 1 && !threads->launch)) return MODEL_WRONG_THREADS;
    if (threads->launch != launch_in_pool) return MODEL_OK;
    return threads->count > POOL_MOST || !threads->pool ? MODEL_WRONG_THREADS : MODEL_OK;
}

EXPORT int64_t model_pool_bytes(uint32_t count) {
    if (!count || count > POOL_MOST) return MODEL_WRONG_THREADS;
    return aligned((int64_t)sizeof(struct pool) + (int64_t)sizeof(unsigned long) * (count - 1));
}

EXPORT int model_pool_start(model_buffer memory, uint32_t count, model_threads *threads) {
    int64_t bytes = model_pool_bytes(count);
    struct pool *pool = memory.data;
    uint64_t all = ~(7ull << 31), before; /* signals are for the program's threads; 32 to 34 are the C library's */
    int failed = 0;
    if (!pool || !threads) return MODEL_NULL_POINTER;
    if (bytes < 0) return (int)bytes;
    if ((uintptr_t)pool % MODEL_ALIGNMENT) return MODEL_MISALIGNED;
    if (memory.bytes < (size_t)bytes) return MODEL_SHORT_WORKSPACE;
    if (count > 1 && !has_threads()) return MODEL_NO_THREADS;
    *pool = (struct pool){.process = (uint32_t)call_system(CALL_PROCESS, 0, 0, 0, 0)};
    call_system(CALL_SIGNAL_MASK, SET_MASK, (long)&all, (long)&before, sizeof all);
    while (!failed && pool->started < count - 1)
        if (!(failed = pthread_create(pool->threads + pool->started, 0, serve, pool))) pool->started++;
    call_system(CALL_SIGNAL_MASK, SET_MASK, (long)&before, 0, sizeof before);
    if (failed) {
        end_threads(pool);
        return MODEL_NO_THREADS;
    }
    *threads = (model_threads){count, launch_in_pool, pool};
    return MODEL_OK;
}

EXPORT int model_pool_stop(model_threads *threads) {
    if (!threads || !threads->pool) return MODEL_NULL_POINTER;
    if (threads->launch != launch_in_pool) return MODEL_WRONG_THREADS;
    end_threads(threads->pool);
    *threads = (model_threads){1, 0, 0};
    return MODEL_OK;
}
