//! Progress that programs report while they run, and the preparation before they start. It is not stored, and
//! dropped when the attempt ends.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cubeloom_domain::event::RunEvent;
use cubeloom_domain::executor::Progress;
use cubeloom_domain::{AttemptKey, RunId};

/// The last report of an attempt.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Note {
    /// What is being prepared before the attempt can start.
    pub preparing: Option<String>,
    pub progress: Option<Progress>,
}

type Key = (String, u32, u32);

/// Notes of all active attempts on this server.
#[derive(Default)]
pub(crate) struct Notes(Mutex<HashMap<RunId, HashMap<Key, Note>>>);

impl Notes {
    /// Applies an event of the engine.
    pub(crate) fn take(&self, event: &RunEvent) {
        match event {
            RunEvent::Preparing(key, what) => self.change(key, |note| {
                note.preparing = Some(what.clone()).filter(|what| !what.is_empty());
            }),
            RunEvent::Progress(key, progress) => self.change(key, |note| note.progress = Some(*progress)),
            RunEvent::Attempt(attempt) if !attempt.state.is_live() => self.forget(&attempt.key),
            RunEvent::Attempt(attempt) if attempt.state.started_at().is_some() => {
                self.change(&attempt.key, |note| note.preparing = None);
            }
            RunEvent::Run(run) if run.state.is_final() => {
                self.lock().remove(&run.id);
            }
            _ => {}
        }
    }

    /// The last report of an attempt.
    pub(crate) fn of(&self, run: &RunId, task: &str, instance: u32, n: u32) -> Note {
        let notes = self.lock();
        let of_run = notes.get(run);
        of_run.and_then(|notes| notes.get(&(task.to_owned(), instance, n))).cloned().unwrap_or_default()
    }

    fn change(&self, key: &AttemptKey, change: impl FnOnce(&mut Note)) {
        let mut notes = self.lock();
        let of_run = notes.entry(key.run.clone()).or_default();
        change(of_run.entry((key.task.clone(), key.instance, key.n)).or_default());
    }

    fn forget(&self, key: &AttemptKey) {
        let mut notes = self.lock();
        if let Some(of_run) = notes.get_mut(&key.run) {
            of_run.remove(&(key.task.clone(), key.instance, key.n));
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RunId, HashMap<Key, Note>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
