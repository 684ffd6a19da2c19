// main PICTURES SCORES: ten scores for each picture; threads take turns at the pictures, each with its own workspace.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>
#include <vector>

#include "digits.h"

constexpr std::size_t PICTURE = 16 * 16, SCORES = 10, THREADS = 4;

struct alignas(DIGITS_ALIGNMENT) Line {
    char bytes[DIGITS_ALIGNMENT];
};

static void score(const std::vector<char> &pictures, std::vector<float> &scores, std::size_t first, int *status) {
    alignas(DIGITS_ALIGNMENT) float picture[PICTURE], result[SCORES];
    const auto bytes = static_cast<std::size_t>(digits_workspace_bytes(nullptr, 1));
    std::vector<Line> memory(bytes / sizeof(Line) + 1);
    digits_buffer input{picture, sizeof picture}, output{result, sizeof result};
    digits_buffer workspace{memory.data(), memory.size() * sizeof(Line)};
    for (std::size_t i = first; i < pictures.size() / sizeof picture && *status == DIGITS_OK; i += THREADS) {
        std::copy_n(pictures.data() + i * sizeof picture, sizeof picture, reinterpret_cast<char *>(picture));
        *status = digits_run(nullptr, &input, &output, workspace, nullptr);
        std::copy_n(result, SCORES, scores.data() + i * SCORES);
    }
}

int main(int count, char **paths) {
    if (count != 3 || digits_init() != DIGITS_OK) return 2;
    std::ifstream from(paths[1], std::ios::binary);
    const std::vector<char> pictures{std::istreambuf_iterator<char>(from), {}};
    std::vector<float> scores(pictures.size() / (PICTURE * sizeof(float)) * SCORES);
    std::vector<int> statuses(THREADS, DIGITS_OK);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < THREADS; i++)
        threads.emplace_back(score, std::cref(pictures), std::ref(scores), i, &statuses[i]);
    for (auto &thread : threads) thread.join();
    for (int status : statuses)
        if (status != DIGITS_OK) return std::puts(digits_status_text(status)), 1;
    std::ofstream to(paths[2], std::ios::binary);
    to.write(reinterpret_cast<const char *>(scores.data()), static_cast<std::streamsize>(scores.size() * sizeof(float)));
    return to.good() ? 0 : 1;
}
