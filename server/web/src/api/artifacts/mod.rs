//! What runs left: outputs and files.

pub mod view;
