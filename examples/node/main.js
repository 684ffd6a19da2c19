// node main.js LIBRARY PICTURES SCORES: ten scores for each picture, by the package koffi.
const fs = require("node:fs");
const koffi = require("koffi");

const [path, pictures, scores] = process.argv.slice(2);
const PICTURE_BYTES = 16 * 16 * 4, SCORE_BYTES = 10 * 4, ALIGNMENT = 64;

const library = koffi.load(path);
koffi.struct("digits_buffer", { data: "void *", bytes: "size_t" });
const init = library.func("int digits_init()");
const workspaceBytes = library.func("int64_t digits_workspace_bytes(const int64_t *sizes, uint32_t threads)");
const run = library.func(
  "int digits_run(const int64_t *sizes, const digits_buffer *inputs, const digits_buffer *outputs, " +
    "digits_buffer workspace, const void *threads)",
);
const statusText = library.func("const char *digits_status_text(int status)");

function check(status) {
  if (status < 0) throw new Error(statusText(status));
}

function allocate(bytes) {
  const memory = new Uint8Array(bytes + ALIGNMENT);
  const begin = (ALIGNMENT - Number(koffi.address(memory) % BigInt(ALIGNMENT))) % ALIGNMENT;
  return memory.subarray(begin, begin + bytes);
}

check(init());
const size = Number(workspaceBytes(null, 1));
check(size);
const [input, output, workspace] = [PICTURE_BYTES, SCORE_BYTES, size].map(allocate);
const [inputs, outputs, memory] = [input, output, workspace].map((data) => ({ data, bytes: data.length }));
const bytes = fs.readFileSync(pictures);
const results = [];
for (let begin = 0; begin + PICTURE_BYTES <= bytes.length; begin += PICTURE_BYTES) {
  input.set(bytes.subarray(begin, begin + PICTURE_BYTES));
  check(run(null, inputs, outputs, memory, null));
  results.push(Buffer.from(output));
}
fs.writeFileSync(scores, Buffer.concat(results));
