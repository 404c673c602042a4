//! A task as a table row, with its status as one sentence.

use super::tally::tally;
use crate::api::tasks::view::{StartView, TaskView, WaitView};
use crate::pages::Frame;
use crate::pages::runs::short;
use crate::show::about;
use crate::time::Time;

/// Number of listed dependencies. The rest is counted.
const NAMED: usize = 3;

pub(crate) struct Row {
    pub(crate) task: TaskView,
}

impl Row {
    /// Progress of its instances.
    pub(crate) fn tally(&self, frame: &Frame) -> String {
        tally(frame, &self.task.instances)
    }

    /// Whether it is pending.
    pub(crate) fn waits(&self) -> bool {
        self.task.state == "waiting"
    }

    /// Number of pending instances.
    pub(crate) fn waiting(&self) -> u64 {
        self.task.instances.states.get("waiting").copied().unwrap_or_default()
    }

    pub(crate) fn runs(&self) -> bool {
        self.task.state == "running"
    }

    /// Status: why it is pending, why it failed, or the source of its result.
    pub(crate) fn detail(&self, frame: &Frame) -> String {
        let task = &self.task;
        match task.state.as_str() {
            "waiting" => self.wait(frame),
            "running" => self.running(frame),
            "backoff" => {
                let why = task.failure.as_ref().map(|failure| frame.said(&failure.message));
                joined([Some(frame.t("run.tried-again").to_owned()), why], ": ")
            }
            "failed" => {
                // The message names the worker.
                task.failure.as_ref().map(|failure| frame.said(&failure.message)).unwrap_or_default()
            }
            "upstream_failed" => frame.t("run.upstream").to_owned(),
            "reused" => {
                let from = task.reused.as_ref();
                from.map(|from| frame.t_with("run.reused-from", [("run", short(&from.run))]))
                    .unwrap_or_default()
            }
            "pending" => self.needs(frame),
            _ => task.note.as_deref().map(|note| frame.said(note)).unwrap_or_default(),
        }
    }

    fn wait(&self, frame: &Frame) -> String {
        self.task.wait.as_ref().map(|wait| waits(frame, wait)).unwrap_or_default()
    }

    /// Whether it shows an estimated start, which becomes outdated with time.
    pub(crate) fn is_estimated(&self) -> bool {
        self.waits() && self.task.wait.as_ref().is_some_and(|wait| wait.start.is_some())
    }

    fn running(&self, frame: &Frame) -> String {
        let task = &self.task;
        let workers: u32 = task.roles.iter().map(|role| role.replicas).sum();
        let parts = [
            task.preparing.as_deref().map(|what| frame.said(what)),
            (workers > 1).then(|| frame.t_with("run.workers", [("n", workers)])),
            (task.attempts > 1 && !task.for_each)
                .then(|| frame.t_with("run.attempts", [("n", task.attempts)])),
        ];
        joined(parts, ", ")
    }

    fn needs(&self, frame: &Frame) -> String {
        match self.task.needs.as_slice() {
            [] => String::new(),
            few if few.len() <= NAMED => frame.t_with("run.after", [("tasks", few.join(", "))]),
            many => {
                let values = [("tasks", many[..NAMED].join(", ")), ("n", (many.len() - NAMED).to_string())];
                frame.t_with("run.after-more", values)
            }
        }
    }
}

/// Pending reason and estimated start, as text.
pub(super) fn waits(frame: &Frame, wait: &WaitView) -> String {
    let rule = frame.t(match wait.rule.as_str() {
        "capacity" => "run.wait-capacity",
        "behind" => "run.wait-behind",
        "quota" => "run.wait-quota",
        "named_limit" => "run.wait-named-limit",
        "parallelism" => "run.wait-parallelism",
        _ => "run.wait-unknown",
    });
    let why = joined([Some(rule.to_owned()), Some(frame.said(&wait.message))], ": ");
    let start = wait.start.as_ref().map(|start| starts(frame, start));
    joined([Some(why), start], frame.t("run.wait-then"))
}

/// Estimated start, as text.
pub(crate) fn starts(frame: &Frame, start: &StartView) -> String {
    let within = |at: Time| about(frame.lang, at.0.since(frame.now.0));
    frame.t_with("run.wait-start", [("likely", within(start.p50)), ("late", within(start.p90))])
}

fn joined<const N: usize>(parts: [Option<String>; N], between: &str) -> String {
    let parts: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    parts.join(between)
}
