//! Notes of lowering besides the manifests: decisions, and requests that the cluster cannot satisfy.

use cubeloom_domain::{Code, Problem, TaskIx};

/// A request of a task that this cluster cannot satisfy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub code: Code,
    /// Position below the task: `resources/gpu`.
    pub place: String,
    /// A message that says what to do.
    pub message: String,
}

/// Collects decisions and refusals.
#[derive(Default)]
pub struct Notes {
    pub decisions: Vec<String>,
    pub refusals: Vec<Refusal>,
}

impl Notes {
    /// Adds a decision, without duplicates.
    pub fn decide(&mut self, sentence: impl Into<String>) {
        let sentence = sentence.into();
        if !self.decisions.contains(&sentence) {
            self.decisions.push(sentence);
        }
    }

    /// Adds a refusal, without duplicates.
    pub fn refuse(&mut self, place: impl Into<String>, message: impl Into<String>) {
        let refusal = Refusal { code: Code::UnknownPlace, place: place.into(), message: message.into() };
        if !self.refusals.contains(&refusal) {
            self.refusals.push(refusal);
        }
    }
}

/// Refusals of a task's jobs as problems of its document, without duplicates.
pub fn problems(task: TaskIx, refusals: Vec<Refusal>) -> Vec<Problem> {
    let place = |refusal: Refusal| {
        Problem::error(refusal.code, format!("/tasks/{}/{}", task.0, refusal.place), refusal.message)
    };
    refusals.into_iter().map(place).collect()
}
