//! Integration tests, one binary.

mod architecture;
