//! A task as a line of a table: what is going on, in one sentence.

use super::tally::tally;
use crate::api::tasks::view::{StartView, TaskView, WaitView};
use crate::pages::Frame;
use crate::pages::runs::short;
use crate::show::about;
use crate::time::Time;

/// The needs that are named; of more, how many there are.
const NAMED: usize = 3;

/// A task.
pub(crate) struct Row {
    pub(crate) task: TaskView,
}

impl Row {
    /// How far its instances are.
    pub(crate) fn tally(&self, frame: &Frame) -> String {
        tally(frame, &self.task.instances)
    }

    /// Whether it waits for a place.
    pub(crate) fn waits(&self) -> bool {
        self.task.state == "waiting"
    }

    /// How many of its instances wait.
    pub(crate) fn waiting(&self) -> u64 {
        self.task.instances.states.get("waiting").copied().unwrap_or_default()
    }

    /// Whether it runs.
    pub(crate) fn runs(&self) -> bool {
        self.task.state == "running"
    }

    /// What is going on: why it waits, why it failed, where its result is from.
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
                // The sentence names the worker.
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

    /// Whether it says when it may start, which the clock makes untrue.
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

/// Why something waits, and when it may start, in words.
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

/// When something may start.
pub(crate) fn starts(frame: &Frame, start: &StartView) -> String {
    let within = |at: Time| about(frame.lang, at.0.since(frame.now.0));
    frame.t_with("run.wait-start", [("likely", within(start.p50)), ("late", within(start.p90))])
}

fn joined<const N: usize>(parts: [Option<String>; N], between: &str) -> String {
    let parts: Vec<String> = parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
    parts.join(between)
}
