//! Waiting for a worker: its exit, a wish to stop, a sample a second, and nothing left behind.

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

/// How often killing is repeated while something survives it.
const AGAIN: Duration = Duration::from_millis(100);
/// How much later than its worker a shim may be told to stop, by who tells every process of a job: where the worker ended by
/// TERM, and where it ended otherwise.
const LATE_FOR_TERM: Duration = Duration::from_secs(1);
const LATE: Duration = Duration::from_millis(50);

/// Watches over one worker.
pub(super) struct Supervisor<'a> {
    order: &'a ShimSpec,
    streams: Streams,
    sampler: Sampler<'a>,
    watch: Watch,
    /// Set by a wish to stop: when KILL follows TERM.
    kill_at: Option<Instant>,
    /// The wish to stop found the worker ending already.
    by_itself: bool,
    /// The kernel, or the limit without control groups, found too much memory used.
    out_of_memory: bool,
    /// The cgroup of a batch system, where one started this process.
    own: Option<Own>,
}

impl<'a> Supervisor<'a> {
    pub(super) fn new(order: &'a ShimSpec, streams: Streams) -> Self {
        let sampler = Sampler::new(order);
        let watch = Watch::new(order);
        let own = order.alone.then(Own::find);
        Self { order, streams, sampler, watch, kill_at: None, by_itself: false, out_of_memory: false, own }
    }

    /// Starts a program of the worker's.
    pub(super) fn start(&self, program: &Program<'_>) -> Result<Pid, StartError> {
        program.start(self.streams.stdio())
    }

    /// Whether the worker has been told to stop.
    pub(super) fn stopping(&self) -> bool {
        self.kill_at.is_some()
    }

    /// Whether it ended because of that.
    fn was_stopped(&self) -> bool {
        self.stopping() && !self.by_itself
    }

    /// Does `work` unless a stop came first, sees to it that nothing is left, and says how it was.
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

    /// Waits for the process `main` and meanwhile does everything else.
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
                    // A peer may notice that a worker dies before the worker is dead. Who is alone is told together with the
                    // worker, which may be ending because of it.
                    self.by_itself |= !self.order.alone && !self.stopping() && tree::is_ending(main);
                    self.begin_stop(main);
                }
                _ => self.tick(main),
            }
        }
    }

    /// Takes all ended processes; the end of `main`, if it is among them.
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

    /// A batch system tells every process of a job to stop, the worker perhaps before its shim: a worker that has ended may
    /// have been stopped all the same.
    fn hear_late(&mut self, end: &End) {
        if !self.order.alone || self.stopping() {
            return;
        }
        let by_term = *end == End::Signal { signal: libc::SIGTERM };
        let until = Instant::now() + if by_term { LATE_FOR_TERM } else { LATE };
        while let Some(signal) = next_signal(until.saturating_duration_since(Instant::now())) {
            if signal == libc::SIGTERM {
                // There is nobody left to be told.
                self.kill_at = Some(Instant::now());
                return;
            }
        }
    }

    /// A program that failed after memory ran out failed because of that.
    fn judge(&mut self, end: End) -> End {
        let failed = end != End::Exit { code: 0 };
        let kills = || {
            self.order.cgroup.as_ref().is_some_and(|cgroup| cgroup.oom_kills() > 0)
                || self.own.as_ref().is_some_and(Own::ran_out)
        };
        if failed && !self.was_stopped() && (self.out_of_memory || kills()) { End::OutOfMemory } else { end }
    }

    /// How long nothing is to be done.
    fn pause(&self) -> Duration {
        let due = self.sampler.next().min(self.watch.next());
        let until = self.kill_at.map_or(due, |kill| kill.min(due));
        until.saturating_duration_since(Instant::now())
    }

    /// What is due by time.
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

    /// TERM to all, and the hour of KILL. Asked again, it may only come earlier. Shells that somebody types into do not
    /// listen to TERM: they are told that their terminal is gone.
    fn begin_stop(&mut self, main: Pid) {
        let kill = Instant::now() + self.order.grace();
        if self.kill_at.is_none() {
            hit("shim.stop.before");
            self.signal(main, if self.order.terminal.is_some() { Signal::HUP } else { Signal::TERM });
            hit("shim.stop.after");
        }
        self.kill_at = Some(self.kill_at.map_or(kill, |earlier| earlier.min(kill)));
    }

    /// Sends to every process of the worker.
    fn signal(&self, main: Pid, signal: Signal) {
        let _ = rustix::process::kill_process(main, signal);
        for pid in self.others() {
            if pid != main {
                let _ = rustix::process::kill_process(pid, signal);
            }
        }
    }

    /// All processes of the worker: those in its group, and what descends from it.
    fn others(&self) -> Vec<Pid> {
        let raw = match &self.order.cgroup {
            Some(cgroup) => cgroup.processes(),
            None => tree::descendants(),
        };
        raw.into_iter().filter_map(Pid::from_raw).collect()
    }

    /// Ends what the program left behind. Orphans become this process's children, so that when it has none,
    /// nothing is left; the usual case costs one system call.
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

    /// Puts the usage series on the disk, if it is long enough to say something.
    pub(super) fn write_series(&mut self) {
        self.sampler.finish();
    }
}

/// The signals that are waited for.
#[allow(unsafe_code)]
pub(super) fn signals() -> libc::sigset_t {
    // SAFETY: `sigemptyset` initialises the set before anything reads it.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        for signal in [libc::SIGCHLD, libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
            libc::sigaddset(&mut set, signal);
        }
        set
    }
}

/// Keeps signals until they are waited for, so that none is missed.
pub(super) fn block_signals() {
    // SAFETY: changes this process's own mask with a set that is initialised.
    #[allow(unsafe_code)]
    unsafe {
        libc::sigprocmask(libc::SIG_BLOCK, &signals(), std::ptr::null_mut());
    }
}

/// Gives a program the signals as it expects to find them.
pub(super) fn restore_signals() {
    // SAFETY: changes this process's own mask; SIGPIPE is ignored by Rust's runtime and inherited over exec.
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
    // SAFETY: the set and the time are initialised; no information is asked for.
    #[allow(unsafe_code)]
    let signal = unsafe { libc::sigtimedwait(&signals(), std::ptr::null_mut(), &timeout) };
    (signal > 0).then_some(signal)
}
