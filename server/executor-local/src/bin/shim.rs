//! The shim alone, for this crate's tests; the product's binary holds it as well.

use std::process::exit;

use cubeloom_domain::failpoint;
use cubeloom_executor_local::{server_pid, shim_main};

/// At this failpoint the server that ordered the shim is ended.
const AT: &str = "CUBELOOM_TEST_FAILPOINT";

fn main() {
    #[allow(clippy::disallowed_methods, reason = "this is a test's own program")]
    if std::env::var_os(AT).is_some() {
        failpoint::install(end_server);
    }
    exit(shim_main(std::env::args_os().skip(1)));
}

#[allow(clippy::disallowed_methods, reason = "this is a test's own program")]
fn end_server(point: &'static str) {
    let server = server_pid().and_then(|pid| rustix::process::Pid::from_raw(pid.cast_signed()));
    if let Some(server) = server.filter(|_| std::env::var(AT).is_ok_and(|at| at == point)) {
        let _ = rustix::process::kill_process(server, rustix::process::Signal::KILL);
    }
}
