//! Integration tests, one binary.

mod architecture;
mod cli;
mod crash;
mod support;
mod templates;
