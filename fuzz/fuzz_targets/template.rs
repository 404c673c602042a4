//! Any text as a task template: no panic, no hang.
#![no_main]

use cubeloom_compiler::{check_template, parse_template};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(template) = parse_template(text) {
        let _ = check_template(&template);
    }
});
