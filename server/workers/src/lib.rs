//! What executors have in common about workers: how one ended, in words; its logs, with the moments at which lines came;
//! what it reported; and how its secrets are kept out of all of it.

pub mod ends;
pub mod log_times;
pub mod logs;
pub mod mask;
pub mod outputs;
pub mod reports;
