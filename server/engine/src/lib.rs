//! Runs pipelines: observe, decide, commit, apply.
//!
//! [`driver`] owns the loop and everything that blocks. [`core`] holds the leased runs in memory, and turns
//! observations into changes and actions. [`decide`] has the policies as pure functions, one per file.

mod apply;
mod cache;
mod copies;
mod core;
mod counted;
mod decide;
mod driver;
mod elsewhere;
mod given_up;
mod handle;
mod message;
mod prepare;
mod told;

pub use core::{Queue, Tally};
pub use cubeloom_admission::Settings as Sharing;
pub use driver::{Engine, EngineConfig, EngineError};
pub use given_up::GivenUp;
pub use handle::Handle;
