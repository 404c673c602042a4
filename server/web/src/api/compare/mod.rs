//! Two runs beside each other.

pub mod view;
