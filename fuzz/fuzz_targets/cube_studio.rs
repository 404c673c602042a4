//! Any text as a file of Cube Studio: no panic, no hang; what is made of it can be read, or the report says why not.
#![no_main]

use cubeloom_compiler::import::{DocumentKind, cube_studio};
use cubeloom_compiler::{parse_pipeline, parse_template};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(made) = cube_studio::import(text, None, None) else { return };
    for document in made.documents {
        let readable = match document.kind {
            DocumentKind::Pipeline => parse_pipeline(&document.document).is_ok(),
            DocumentKind::TaskTemplate => parse_template(&document.document).is_ok(),
        };
        assert!(readable || document.notes.iter().any(|note| note.starts_with("in the document")));
    }
});
