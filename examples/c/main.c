/* main PICTURES SCORES: ten scores for each picture. */
#include <stdio.h>

#include "digits.h"

static _Alignas(DIGITS_ALIGNMENT) float picture[16 * 16], scores[10];
static _Alignas(DIGITS_ALIGNMENT) char memory[1 << 20];

int main(int count, char **paths) {
    digits_buffer input = {picture, sizeof picture}, output = {scores, sizeof scores}, workspace = {memory, sizeof memory};
    FILE *from = count == 3 ? fopen(paths[1], "rb") : NULL, *to = count == 3 ? fopen(paths[2], "wb") : NULL;
    int status = digits_init();
    if (!from || !to) return 2;
    while (!status && fread(picture, sizeof picture, 1, from)) {
        status = digits_run(NULL, &input, &output, workspace, NULL);
        fwrite(scores, sizeof scores, 1, to);
    }
    puts(digits_status_text(status));
    return status != 0 || fclose(to) != 0;
}
