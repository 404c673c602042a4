//! The compiler: documents and templates become a plan, a plan becomes jobs, jobs become plain data for a cluster.
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
pub use outputs::{outputs_of, readable_outputs};
pub use parse::{Document, parse_pipeline, parse_template, plain};
pub use plan::{PlanInputs, Planned, check_pipeline, check_placed, newest_template, plan, validate};
pub use template::check_template;
pub use validate::is_reserved;

/// What the tasks before reported: a task's name -> an object of its outputs. Of a `for_each` task, each name has
/// the list of its instances' values in their order, null where an instance reported none. Where that list is the same for
/// every name, because no instance ran, the list itself stands in the place of the object.
pub type Outputs = std::collections::BTreeMap<String, serde_json::Value>;

/// How many instances a task can have.
pub const MAX_ELEMENTS: usize = 100_000;
