//! The local executor: runs jobs as processes, each worker under a shim that outlives the server.
//!
//! [`LocalExecutor`] is the adapter; [`shim_main`] is the other half, a separate program. They communicate
//! through files only: the worker's folder says whether it runs or has ended. So a restarted server resumes
//! its work by reading them.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests make the files that they look at"))]

pub mod afar;
pub mod alone;
mod attempt;
mod cgroup;
mod check;
mod conclude;
mod config;
mod descriptor;
mod disk_limits;
mod earlier;
mod error;
mod executor;
mod facts;
pub mod failpoint;
mod folders;
mod gang;
mod gpu;
mod grow;
mod leases;
mod log_files;
mod look;
mod machine;
mod meter;
mod notes;
mod owner;
mod paths;
mod python;
mod room;
mod sandbox;
mod scale;
mod secrets;
mod shim;
mod spares;
mod spawn;
mod spec;
mod stacks;
mod start;
mod templates;
mod terminal;
mod token;
mod usage_files;
mod waits;
mod walk;
mod watch;
mod xid;

pub use check::{CheckLine, CheckReport, check};
pub use config::{LocalConfig, Sandbox, SecretSource, is_for_installers};
pub use error::{LocalError, reason};
pub use executor::LocalExecutor;
pub use shim::{SHIM_ARG, server_pid, shim_main};
pub use spec::{StopWhy, StopWish};

/// Failpoints of this crate, including the shim's: the crash test must reach them.
pub const FAILPOINTS: &[&str] = &[
    "local.token.before",
    "local.token.after",
    "local.owner.before",
    "local.owner.after",
    "local.submit.folders",
    "local.spawn.before",
    "local.spawn.after",
    "local.order.before",
    "local.order.written",
    "local.order.after",
    "local.exit.seen",
    "local.cancel.before",
    "local.wish.before",
    "local.wish.after",
    "local.cancel.after",
    "local.scale.before",
    "local.scale.after",
    "local.cleanup.before",
    "local.cleanup.after",
    "local.python.before",
    "local.python.after",
    "local.venv.before",
    "local.venv.after",
    "shim.lock.after",
    "shim.started.after",
    "shim.fork.before",
    "shim.fork.after",
    "shim.stop.before",
    "shim.stop.after",
    "shim.kill.before",
    "shim.kill.after",
    "shim.exit.rename.before",
    "shim.exit.rename.after",
];
