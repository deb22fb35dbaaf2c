#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| orange_fuzz::test_report(bytes));
