//! Supervises a worker: its exit, a stop request, periodic samples, and the removal of leftover processes.

use std::time::{Duration, Instant};

use cubeloom_domain::Timestamp;
use cubeloom_domain::failpoint::hit;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions};

use super::now::now;
use super::program::{Program, StartError};
use super::streams::Streams;
use super::tree;
use super::usage::Sampler;
use super::watch::Watch;
use cubeloom_workers::ends::End;

use crate::cgroup::Own;
use crate::spec::{ExitRecord, ShimSpec};

/// How often to repeat a kill while a process survives.
const AGAIN: Duration = Duration::from_millis(100);
/// How much later than its worker a shim may receive TERM, from a batch system that signals every process of
/// a job. The first value applies if the worker ended by TERM, the second otherwise.
const LATE_FOR_TERM: Duration = Duration::from_secs(1);
const LATE: Duration = Duration::from_millis(50);

/// Supervises one worker.
pub(super) struct Supervisor<'a> {
    order: &'a ShimSpec,
    streams: Streams,
    sampler: Sampler<'a>,
    watch: Watch,
    /// When KILL follows TERM; set by a stop request.
    kill_at: Option<Instant>,
    /// The worker was already ending at the stop request.
    by_itself: bool,
    /// The kernel, or the limit without control groups, detected excessive memory use.
    out_of_memory: bool,
    /// The batch system's cgroup, if one started this process.
    own: Option<Own>,
}

impl<'a> Supervisor<'a> {
    pub(super) fn new(order: &'a ShimSpec, streams: Streams) -> Self {
        let sampler = Sampler::new(order);
        let watch = Watch::new(order);
        let own = order.alone.then(Own::find);
        Self { order, streams, sampler, watch, kill_at: None, by_itself: false, out_of_memory: false, own }
    }

    /// Starts one of the worker's programs.
    pub(super) fn start(&self, program: &Program<'_>) -> Result<Pid, StartError> {
        program.start(self.streams.stdio())
    }

    /// Whether a stop was requested.
    pub(super) fn stopping(&self) -> bool {
        self.kill_at.is_some()
    }

    /// Whether the stop caused its end.
    fn was_stopped(&self) -> bool {
        self.stopping() && !self.by_itself
    }

    /// Runs `work` unless a stop came first, cleans up, and returns the record.
    pub(super) fn run(&mut self, work: impl FnOnce(&mut Self) -> (End, Option<Timestamp>)) -> ExitRecord {
        if self.order.is_to_stop() {
            return ExitRecord::without_run(End::NeverRan, true, now());
        }
        let (end, started_at) = work(self);
        if let End::CouldNotStart { message } = &end {
            self.streams.say(message);
        }
        let (stopped, ended_at) = (self.was_stopped() || end == End::NeverRan, now());
        self.end_rest();
        self.streams.finish();
        self.watch.finish();
        let usage = self.sampler.summary();
        ExitRecord { end, stopped, started_at, ended_at, usage }
    }

    /// Waits for the process `main`, and handles everything else meanwhile.
    pub(super) fn wait(&mut self, main: Pid) -> End {
        loop {
            if let Some(end) = self.reap(main) {
                self.hear_late(&end);
                return self.judge(end);
            }
            let pause = self.pause();
            let pause = if self.streams.pass_on(pause) { Duration::ZERO } else { pause };
            match next_signal(pause) {
                Some(libc::SIGTERM) => {
                    // A peer may notice that a worker dies before the worker is dead. A batch system signals
                    // the shim together with the worker, which may be ending because of that.
                    self.by_itself |= !self.order.alone && !self.stopping() && tree::is_ending(main);
                    self.begin_stop(main);
                }
                _ => self.tick(main),
            }
        }
    }

    /// Reaps all ended processes; returns the end of `main`, if it is among them.
    fn reap(&self, main: Pid) -> Option<End> {
        let mut end = None;
        while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
            if pid == main {
                end = Some(match (status.exit_status(), status.terminating_signal()) {
                    (Some(code), _) => End::Exit { code },
                    (None, signal) => End::Signal { signal: signal.unwrap_or(0) },
                });
            }
        }
        end
    }

    /// A batch system signals every process of a job, the worker perhaps before its shim: a worker that has
    /// ended may still have been stopped.
    fn hear_late(&mut self, end: &End) {
        if !self.order.alone || self.stopping() {
            return;
        }
        let by_term = *end == End::Signal { signal: libc::SIGTERM };
        let until = Instant::now() + if by_term { LATE_FOR_TERM } else { LATE };
        while let Some(signal) = next_signal(until.saturating_duration_since(Instant::now())) {
            if signal == libc::SIGTERM {
                // No process is left to signal.
                self.kill_at = Some(Instant::now());
                return;
            }
        }
    }

    /// Attributes a failure after an OOM kill to the OOM kill.
    fn judge(&mut self, end: End) -> End {
        let failed = end != End::Exit { code: 0 };
        let kills = || {
            self.order.cgroup.as_ref().is_some_and(|cgroup| cgroup.oom_kills() > 0)
                || self.own.as_ref().is_some_and(Own::ran_out)
        };
        if failed && !self.was_stopped() && (self.out_of_memory || kills()) { End::OutOfMemory } else { end }
    }

    /// Time until the next action is due.
    fn pause(&self) -> Duration {
        let due = self.sampler.next().min(self.watch.next());
        let until = self.kill_at.map_or(due, |kill| kill.min(due));
        until.saturating_duration_since(Instant::now())
    }

    /// Performs due actions.
    fn tick(&mut self, main: Pid) {
        let present = Instant::now();
        if self.kill_at.is_some_and(|at| at <= present) {
            hit("shim.kill.before");
            self.signal(main, Signal::KILL);
            hit("shim.kill.after");
            self.kill_at = Some(present + AGAIN);
        }
        if !self.stopping() && self.streams.hung_up() {
            self.begin_stop(main);
        }
        if self.order.alone && !self.stopping() && self.order.is_to_stop() {
            self.by_itself |= tree::is_ending(main);
            self.begin_stop(main);
        }
        self.watch.tick();
        if self.sampler.next() <= present {
            let over = self.sampler.sample();
            if over && !self.out_of_memory && !self.stopping() {
                self.out_of_memory = true;
            }
            if self.out_of_memory {
                self.signal(main, Signal::KILL);
            }
        }
    }

    /// Sends TERM to all, and schedules KILL. A repeated request can only make it earlier. Interactive shells
    /// ignore TERM: they get a hangup.
    fn begin_stop(&mut self, main: Pid) {
        let kill = Instant::now() + self.order.grace();
        if self.kill_at.is_none() {
            hit("shim.stop.before");
            self.signal(main, if self.order.terminal.is_some() { Signal::HUP } else { Signal::TERM });
            hit("shim.stop.after");
        }
        self.kill_at = Some(self.kill_at.map_or(kill, |earlier| earlier.min(kill)));
    }

    /// Signals every process of the worker.
    fn signal(&self, main: Pid, signal: Signal) {
        let _ = rustix::process::kill_process(main, signal);
        for pid in self.others() {
            if pid != main {
                let _ = rustix::process::kill_process(pid, signal);
            }
        }
    }

    /// All processes of the worker: those in its group, and its descendants.
    fn others(&self) -> Vec<Pid> {
        let raw = match &self.order.cgroup {
            Some(cgroup) => cgroup.processes(),
            None => tree::descendants(),
        };
        raw.into_iter().filter_map(Pid::from_raw).collect()
    }

    /// Kills leftover processes. Orphans become children of this process, so no children means that none is
    /// left; the usual case costs one system call.
    fn end_rest(&self) {
        let mut closed = false;
        loop {
            match rustix::process::wait(WaitOptions::NOHANG) {
                Err(Errno::CHILD) => return,
                Ok(Some(_)) => continue,
                Err(_) | Ok(None) => {}
            }
            if let Some(cgroup) = self.order.cgroup.as_ref().filter(|_| !closed) {
                cgroup.close();
                closed = true;
            }
            for pid in self.others().into_iter().chain(tree::children()) {
                let _ = rustix::process::kill_process(pid, Signal::KILL);
            }
            next_signal(AGAIN);
        }
    }

    /// Writes the usage series, if it is long enough to be meaningful.
    pub(super) fn write_series(&mut self) {
        self.sampler.finish();
    }
}

/// The awaited signals.
#[allow(unsafe_code)]
pub(super) fn signals() -> libc::sigset_t {
    // SAFETY: `sigemptyset` initialises the set before any read.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        for signal in [libc::SIGCHLD, libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
            libc::sigaddset(&mut set, signal);
        }
        set
    }
}

/// Blocks signals until they are awaited, so that none is lost.
pub(super) fn block_signals() {
    // SAFETY: changes this process's own mask with an initialised set.
    #[allow(unsafe_code)]
    unsafe {
        libc::sigprocmask(libc::SIG_BLOCK, &signals(), std::ptr::null_mut());
    }
}

/// Restores the default signal handling for a program.
pub(super) fn restore_signals() {
    // SAFETY: changes this process's own mask; Rust's runtime ignores SIGPIPE, which exec would inherit.
    #[allow(unsafe_code)]
    unsafe {
        let mut none = std::mem::zeroed();
        libc::sigemptyset(&mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
    }
}

/// Waits for a signal, at most for `pause`.
fn next_signal(pause: Duration) -> Option<i32> {
    let timeout = libc::timespec {
        tv_sec: i64::try_from(pause.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(pause.subsec_nanos()),
    };
    // SAFETY: the set and the time are initialised; the info pointer may be null.
    #[allow(unsafe_code)]
    let signal = unsafe { libc::sigtimedwait(&signals(), std::ptr::null_mut(), &timeout) };
    (signal > 0).then_some(signal)
}
