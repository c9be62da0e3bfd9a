#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| looplet_fuzz::run("eventstream", data));
