/* What the processor can do: a part of runtime.c. A code's needs are words: their count, the state that must be saved,
   then four for each word of features, which tvmq/library/processors.py writes:

       x86      leaf, part, register and bits of the instruction CPUID
       aarch64  entry of the auxiliary vector, 0, which half of it, bits */

#if defined(__x86_64__)
static void read_processor(uint32_t leaf, uint32_t part, uint32_t *registers) {
    __asm__ volatile("cpuid"
                     : "=a"(registers[0]), "=b"(registers[1]), "=c"(registers[2]), "=d"(registers[3])
                     : "a"(leaf), "c"(part));
}

/* The state that the system saves when it changes threads: bits of AVX, of AVX-512. */
static uint32_t saved_state(void) {
    uint32_t registers[4], low, high;
    read_processor(1, 0, registers);
    if (!(registers[2] >> 27 & 1)) return 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static uint32_t features_in(const uint32_t *need) {
    uint32_t registers[4];
    read_processor(need[0] & 0x80000000u, 0, registers);
    if (registers[0] < need[0]) return 0;
    read_processor(need[0], need[1], registers);
    return registers[need[2]];
}
#elif defined(__aarch64__)
extern unsigned long getauxval(unsigned long entry); /* of glibc and musl */

static uint32_t saved_state(void) { return 0; } /* Linux names no feature whose registers it does not save */

static uint32_t features_in(const uint32_t *need) { return (uint32_t)(getauxval(need[0]) >> 32 * need[2]); }
#else
#error "features of this architecture are not known"
#endif

static int fits_processor(const uint32_t *needs) {
    const uint32_t *end = needs + needs[0];
    uint32_t state = needs[1];
    if (state && (saved_state() & state) != state) return 0;
    for (const uint32_t *need = needs + 2; need < end; need += 4)
        if ((features_in(need) & need[3]) != need[3]) return 0;
    return 1;
}
