// main PICTURES SCORES: ten scores for each picture.
package main

// #cgo LDFLAGS: -ldigits
// #include <stdlib.h>
// #include "digits.h"
// static void *allocate(size_t bytes) {
//     return aligned_alloc(DIGITS_ALIGNMENT, (bytes / DIGITS_ALIGNMENT + 1) * DIGITS_ALIGNMENT);
// }
import "C"

import (
	"log"
	"os"
	"unsafe"
)

const pictureBytes, scoreBytes = 16 * 16 * 4, 10 * 4

// allocate gives memory of C, which Go does not move.
func allocate(bytes C.size_t) C.digits_buffer {
	return C.digits_buffer{data: C.allocate(bytes), bytes: bytes}
}

func contents(buffer C.digits_buffer) []byte {
	return unsafe.Slice((*byte)(buffer.data), int(buffer.bytes))
}

func check(status C.int) {
	if status != 0 {
		log.Fatal(C.GoString(C.digits_status_text(status)))
	}
}

func main() {
	pictures, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	check(C.digits_init())
	input, output := allocate(pictureBytes), allocate(scoreBytes)
	workspace := allocate(C.size_t(C.digits_workspace_bytes(nil, 1)))
	var scores []byte
	for ; len(pictures) >= pictureBytes; pictures = pictures[pictureBytes:] {
		copy(contents(input), pictures)
		check(C.digits_run(nil, &input, &output, workspace, nil))
		scores = append(scores, contents(output)...)
	}
	if err := os.WriteFile(os.Args[2], scores, 0o644); err != nil {
		log.Fatal(err)
	}
}
