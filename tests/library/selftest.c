/* Runs the self-test of the model "digits" with each code that is named, else with the chosen one; says what it is. */
#include <stdio.h>
#include <stdlib.h>

#include "digits.h"

static int test_code(const char *code) {
    digits_difference difference = {0, 0, NULL};
    digits_description description;
    digits_buffer memory = {NULL, 0};
    int status = code ? digits_select_code(code) : digits_init();
    if (status) return printf("%s: %s\n", code ? code : "init", digits_status_text(status)), 1;
    memory.bytes = (size_t)digits_selftest_bytes();
    if (posix_memalign(&memory.data, DIGITS_ALIGNMENT, memory.bytes)) return 1;
    status = digits_selftest(memory, &difference);
    free(memory.data);
    if (!status) status = digits_describe(&description);
    if (!status) printf("%s: %u results\n", description.code, difference.compared);
    return status;
}

int main(int count, char **codes) {
    int status = count > 1 ? 0 : test_code(NULL);
    for (int i = 1; i < count; i++) status |= test_code(codes[i]);
    return status != 0;
}
