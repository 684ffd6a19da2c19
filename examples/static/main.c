/* main <PICTURES >SCORES: ten scores for each picture. It opens no file, so that it runs where none is but itself. */
#include <stdio.h>

#include "digits.h"

static _Alignas(DIGITS_ALIGNMENT) float picture[16 * 16], scores[10];
static _Alignas(DIGITS_ALIGNMENT) char memory[1 << 20];

int main(void) {
    digits_buffer input = {picture, sizeof picture}, output = {scores, sizeof scores}, workspace = {memory, sizeof memory};
    int status = digits_init();
    while (!status && fread(picture, sizeof picture, 1, stdin)) {
        status = digits_run(NULL, &input, &output, workspace, NULL);
        fwrite(scores, sizeof scores, 1, stdout);
    }
    fprintf(stderr, "%s\n", digits_status_text(status));
    return status != 0 || fflush(stdout) != 0;
}
