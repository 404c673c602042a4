//! Live events.

pub mod view;
