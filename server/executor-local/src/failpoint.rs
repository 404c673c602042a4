//! Kills the server at a named point, for the crash test; see docs/decisions/0003-failpoints-are-a-hook.md.
//!
//! `CUBELOOM_FAILPOINT=name` kills the server with SIGKILL when it first reaches the point, `name:3` at the
//! third time. `CUBELOOM_FAILPOINT_LOG=file` appends each point that a process reaches, once. In a shim,
//! whose own end is not under test, it kills the server that started the shim.

#![allow(clippy::disallowed_methods, reason = "the crash test speaks through the environment")]

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::{Mutex, OnceLock, PoisonError};

use cubeloom_domain::failpoint;
use cubeloom_files::own;
use rustix::process::{Pid, Signal, getpid, kill_process};

/// The variable with the failpoint that kills the server.
pub const POINT: &str = "CUBELOOM_FAILPOINT";
/// The variable with the log of reached points.
pub const LOG: &str = "CUBELOOM_FAILPOINT_LOG";

static PLAN: OnceLock<Plan> = OnceLock::new();

struct Plan {
    /// The point, and on which pass it kills.
    kill: Option<(String, u64)>,
    log: Option<File>,
    /// How often each point was reached.
    reached: Mutex<BTreeMap<&'static str, u64>>,
}

/// Installs the hook if the environment requests it.
pub fn install() {
    let kill = std::env::var(POINT).ok().map(|text| point(&text));
    let log = std::env::var_os(LOG)
        .and_then(|path| own::open_with(OpenOptions::new().append(true).create(true), path).ok());
    if kill.is_none() && log.is_none() {
        return;
    }
    if PLAN.set(Plan { kill, log, reached: Mutex::default() }).is_ok() {
        failpoint::install(hook);
    }
}

/// The variables to pass on to shims.
pub fn environment() -> BTreeMap<String, String> {
    [POINT, LOG].into_iter().filter_map(|name| Some((name.to_owned(), std::env::var(name).ok()?))).collect()
}

fn point(text: &str) -> (String, u64) {
    match text.rsplit_once(':').and_then(|(name, count)| Some((name, count.parse().ok()?))) {
        Some((name, count)) => (name.into(), count),
        None => (text.into(), 1),
    }
}

fn hook(name: &'static str) {
    let Some(plan) = PLAN.get() else { return };
    let times = {
        let mut reached = plan.reached.lock().unwrap_or_else(PoisonError::into_inner);
        let times = reached.entry(name).or_insert(0);
        *times += 1;
        *times
    };
    if times == 1
        && let Some(mut log) = plan.log.as_ref()
    {
        // One write, so that lines of several processes do not interleave.
        let _ = log.write_all(format!("{name}\n").as_bytes());
    }
    if plan.kill.as_ref().is_some_and(|(at, count)| at == name && *count == times) {
        let server = crate::server_pid().and_then(|pid| Pid::from_raw(pid.cast_signed()));
        let _ = kill_process(server.unwrap_or_else(getpid), Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_may_say_at_which_time() {
        assert_eq!(point("engine.commit.before"), ("engine.commit.before".into(), 1));
        assert_eq!(point("engine.commit.before:3"), ("engine.commit.before".into(), 3));
    }
}
