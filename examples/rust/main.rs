//! main PICTURES SCORES: ten scores for each picture.

use std::ffi::{c_char, c_int, c_void, CStr};
use std::{env, fs, ptr};

#[repr(C)]
#[derive(Clone, Copy)]
struct Buffer {
    data: *mut c_void,
    bytes: usize,
}

#[link(name = "digits")]
extern "C" {
    fn digits_init() -> c_int;
    fn digits_workspace_bytes(sizes: *const i64, threads: u32) -> i64;
    fn digits_run(
        sizes: *const i64,
        inputs: *const Buffer,
        outputs: *const Buffer,
        workspace: Buffer,
        threads: *const c_void,
    ) -> c_int;
    fn digits_status_text(status: c_int) -> *const c_char;
}

#[repr(align(64))]
#[derive(Clone, Copy)]
struct Aligned<const N: usize>([u8; N]);

fn buffer<const N: usize>(memory: &mut [Aligned<N>]) -> Buffer {
    Buffer { data: memory.as_mut_ptr().cast(), bytes: std::mem::size_of_val(memory) }
}

fn check(status: c_int) -> Result<(), String> {
    if status == 0 {
        return Ok(());
    }
    Err(unsafe { CStr::from_ptr(digits_status_text(status)) }.to_string_lossy().into_owned())
}

fn main() -> Result<(), String> {
    let paths: Vec<String> = env::args().skip(1).collect();
    let pictures = fs::read(&paths[0]).map_err(|error| error.to_string())?;
    check(unsafe { digits_init() })?;
    let bytes = unsafe { digits_workspace_bytes(ptr::null(), 1) };
    check(bytes.min(0) as c_int)?;
    let mut workspace = vec![Aligned([0u8; 64]); bytes as usize / 64 + 1];
    let mut scores = Vec::new();
    for bytes in pictures.chunks_exact(16 * 16 * 4) {
        let mut picture = [Aligned([0u8; 16 * 16 * 4])];
        let mut result = [Aligned([0u8; 64])];
        picture[0].0.copy_from_slice(bytes);
        let (input, output) = (buffer(&mut picture), buffer(&mut result));
        check(unsafe { digits_run(ptr::null(), &input, &output, buffer(&mut workspace), ptr::null()) })?;
        scores.extend_from_slice(&result[0].0[..10 * 4]);
    }
    fs::write(&paths[1], scores).map_err(|error| error.to_string())
}
