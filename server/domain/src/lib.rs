//! Cubeloom's domain types: documents, the plan, states, observations, and the port to executors.
//!
//! Pure: no clock, no network, no database, no environment. All other crates of the workspace depend on this
//! one; it depends on none of them.

pub mod accounting;
pub mod alert;
pub mod approval;
pub mod belongings;
pub mod call;
pub mod canvas;
pub mod clock;
pub mod clusters;
pub mod disk;
pub mod effective;
pub mod event;
pub mod executor;
pub mod failpoint;
pub mod faulty;
pub mod gpu_series;
pub mod graph;
pub mod hang;
pub mod history;
pub mod identity;
pub mod idle;
pub mod ids;
pub mod job;
pub mod json;
pub mod kubernetes;
pub mod limit;
pub mod logs;
pub mod lowered;
pub mod mark;
pub mod measure;
pub mod model;
pub mod monitoring;
pub mod nodes;
pub mod outcome;
pub mod pace;
pub mod pipeline;
pub mod plan;
pub mod preflight;
pub mod priority;
pub mod problem;
pub mod quantity;
pub mod quota;
pub mod record;
pub mod requirement;
pub mod resources;
pub mod schedule;
pub mod search;
pub mod shape;
pub mod sizing;
pub mod slurm;
pub mod spares;
pub mod state;
pub mod template;
pub mod terminal;
pub mod usage;
pub mod vault;
pub mod verbatim;
pub mod waiting;

pub use clock::{Clock, Timestamp};
pub use ids::{AttemptKey, InstanceIx, InstanceKey, RunId, TaskIx};
pub use problem::{Code, Problem, Severity};
pub use quantity::{Bytes, Cpu, Span};

/// A JSON object with a stable order of keys.
pub type JsonMap = serde_json::Map<String, serde_json::Value>;
