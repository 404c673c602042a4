//! The policies: plain values in, a decision out. No clock, no store, no executor.

pub mod asha;
pub mod finish;
pub mod grow;
pub mod preflight;
pub mod retry;
pub mod stop;
pub mod trigger;
