//! What lowering says beside the objects: what was decided, and what the cluster cannot give.

use cubeloom_domain::{Code, Problem, TaskIx};

/// Something of a task that this cluster cannot give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What kind of mistake.
    pub code: Code,
    /// Where, below the task: `resources/gpu`.
    pub place: String,
    /// A sentence that says what to do.
    pub message: String,
}

/// Collects both.
#[derive(Default)]
pub struct Notes {
    pub decisions: Vec<String>,
    pub refusals: Vec<Refusal>,
}

impl Notes {
    /// Notes what was decided, once.
    pub fn decide(&mut self, sentence: impl Into<String>) {
        let sentence = sentence.into();
        if !self.decisions.contains(&sentence) {
            self.decisions.push(sentence);
        }
    }

    /// Notes what cannot be given, once.
    pub fn refuse(&mut self, place: impl Into<String>, message: impl Into<String>) {
        let refusal = Refusal { code: Code::UnknownPlace, place: place.into(), message: message.into() };
        if !self.refusals.contains(&refusal) {
            self.refusals.push(refusal);
        }
    }
}

/// Refusals of a task's jobs as problems of its document, each told once.
pub fn problems(task: TaskIx, refusals: Vec<Refusal>) -> Vec<Problem> {
    let place = |refusal: Refusal| {
        Problem::error(refusal.code, format!("/tasks/{}/{}", task.0, refusal.place), refusal.message)
    };
    refusals.into_iter().map(place).collect()
}
