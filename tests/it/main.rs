//! Integration tests, one binary.

mod api;
mod architecture;
mod cli;
mod crash;
mod support;
mod templates;
