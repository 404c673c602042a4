//! The web server: a REST API and pages. It reads and writes the store and wakes the engine, but never calls
//! it.
//!
//! A request passes through [`limits`] (headers, sizes, rates), [`guard`] (authentication and permissions),
//! and a handler of [`api`] or [`pages`]. Any of them can return an [`error::ApiError`], which becomes a
//! problem document or a page.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make the files that they look at"))]

mod accounting;
pub mod alerts;
pub mod api;
mod archive;
mod assets;
pub mod audit;
pub mod auth;
pub mod belongings;
mod check;
pub mod clusters;
pub mod code;
pub mod error;
mod etag;
mod extract;
mod files;
mod forecast;
mod guard;
mod hooks;
mod limits;
pub mod live;
mod logs;
mod metrics;
pub(crate) mod monitoring;
pub(crate) mod named_limits;
mod page;
mod pages;
pub mod part;
mod pipelines;
mod plan;
pub mod policy;
pub(crate) mod quotas;
mod readable;
mod router;
mod routes;
mod runs;
pub mod said;
mod schedules;
pub mod secrets;
pub mod show;
mod sized;
mod sort;
mod state;
pub mod sub_runs;
mod surveys;
pub mod templates;
mod terminals;
pub mod texts;
pub mod time;
mod told;
mod volumes;

pub use assets::are_there as pages_are_there;
pub use metrics::{AskMetrics, WebTally, metrics};
pub use plan::Planner;
pub use router::router;
pub use state::{AskDesk, Folders, Keys, Parts, Settings, TerminalSettings, Web};
