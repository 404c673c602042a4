//! Tasks of runs, their instances and attempts.

pub mod view;
