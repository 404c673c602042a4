//! The compiler: documents and templates become a plan, a plan becomes jobs, jobs become plain data for a
//! cluster.
//!
//! Pure: the same inputs give the same result, byte for byte. No clock, no network, no files, no environment.

mod arguments;
mod cache;
pub mod export;
mod expression;
mod files;
mod frameworks;
pub mod import;
mod job;
pub mod lower;
mod nearest;
mod outputs;
mod parse;
pub mod part;
mod path;
mod plan;
pub mod preview;
pub mod schedule;
pub mod schema;
pub mod search;
mod template;
mod validate;
pub mod yaml;

pub use cache::{Digests, cache_key};
pub use expression::forget as forget_expressions;
pub use files::missing_files;
pub use frameworks::may_be_divided;
pub use job::{condition, expand, input, job, known_call, question};
pub use outputs::{Outputs, ended_as, outputs_of, readable_outputs};
pub use parse::{Document, parse_pipeline, parse_schedule, parse_template, plain};
pub use plan::{PlanInputs, Planned, check_pipeline, check_placed, newest_template, plan, validate};
pub use template::check_template;
pub use validate::is_reserved;

/// Maximum number of instances of a task.
pub const MAX_ELEMENTS: usize = 100_000;
