//! Any text as an amount: read and written back without change, or refused.
#![no_main]

use cubeloom_domain::{Bytes, Cpu, Span};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(amount) = text.parse::<Cpu>() {
        assert_eq!(amount.to_string().parse::<Cpu>(), Ok(amount));
    }
    if let Ok(amount) = text.parse::<Bytes>() {
        assert_eq!(amount.to_string().parse::<Bytes>(), Ok(amount));
    }
    if let Ok(span) = text.parse::<Span>() {
        assert_eq!(span.to_string().parse::<Span>(), Ok(span));
    }
});
