//! Slurm's last state of all jobs: polled once for all of them, read by each attempt.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cubeloom_domain::AttemptKey;
use tokio::sync::watch;

use crate::seen::{Jobs, SeenJob, Who};

pub struct Board {
    state: Mutex<State>,
    /// Notifies of every response.
    news: watch::Sender<()>,
}

#[derive(Default)]
struct State {
    /// Number of polls begun.
    begun: u64,
    /// The number of the last answered poll.
    answered: u64,
    listed: Jobs,
    /// Attempts to search for, and how to identify them.
    followed: HashMap<AttemptKey, Who>,
    /// Attempts to query accounting about.
    asked: HashSet<AttemptKey>,
    /// Accounting's answers for these attempts.
    accounted: HashMap<AttemptKey, Vec<SeenJob>>,
}

impl Board {
    pub fn new() -> Self {
        Self { state: Mutex::default(), news: watch::channel(()).0 }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts searching for an attempt.
    pub fn follow(&self, key: &AttemptKey, who: Who) {
        self.state().followed.insert(key.clone(), who);
    }

    /// Adds job ids to an attempt.
    pub fn learn(&self, key: &AttemptKey, ids: impl IntoIterator<Item = String>) {
        if let Some(who) = self.state().followed.get_mut(key) {
            for id in ids {
                if !who.ids.contains(&id) {
                    who.ids.push(id);
                }
            }
        }
    }

    /// The ids of an attempt's jobs; more than one only after a submission in doubt.
    pub fn ids_of(&self, key: &AttemptKey) -> Vec<String> {
        self.state().followed.get(key).map(|who| who.ids.clone()).unwrap_or_default()
    }

    /// Begins a poll of all jobs; returns its number.
    pub fn begin(&self) -> u64 {
        let mut state = self.state();
        state.begun += 1;
        state.begun
    }

    /// Number of polls begun: later polls include everything that happened before now.
    pub fn begun(&self) -> u64 {
        self.state().begun
    }

    /// The job ids of all attempts.
    pub fn ids(&self) -> HashSet<String> {
        self.state().followed.values().flat_map(|who| who.ids.iter().cloned()).collect()
    }

    /// Records the response to a poll.
    pub fn listed(&self, number: u64, jobs: Jobs) {
        let mut state = self.state();
        for who in state.followed.values_mut() {
            // A job found by name is identified by its id from now on.
            for job in jobs.of(who) {
                if !who.ids.contains(&job.id) {
                    who.ids.push(job.id);
                }
            }
        }
        (state.answered, state.listed) = (number, jobs);
        drop(state);
        self.news.send_replace(());
    }

    /// Attempts to query accounting about, at most this many.
    pub fn asked(&self, most: usize) -> HashMap<AttemptKey, Who> {
        let state = self.state();
        let known = |key: &AttemptKey| Some((key.clone(), state.followed.get(key)?.clone()));
        state.asked.iter().filter_map(known).take(most).collect()
    }

    /// Records accounting's response.
    pub fn accounted(&self, asked: &HashMap<AttemptKey, Who>, jobs: &Jobs) {
        let mut state = self.state();
        for (key, who) in asked {
            if state.asked.remove(key) {
                state.accounted.insert(key.clone(), jobs.of(who));
            }
        }
        drop(state);
        self.news.send_replace(());
    }

    /// The listed jobs of an attempt, and the number of the poll that listed them.
    pub fn jobs(&self, key: &AttemptKey) -> (u64, Vec<SeenJob>) {
        let state = self.state();
        (state.answered, state.followed.get(key).map(|who| state.listed.of(who)).unwrap_or_default())
    }

    /// Requests a query of accounting about an attempt.
    pub fn ask(&self, key: &AttemptKey) {
        self.state().asked.insert(key.clone());
    }

    /// Takes accounting's answer.
    pub fn answer(&self, key: &AttemptKey) -> Option<Vec<SeenJob>> {
        self.state().accounted.remove(key)
    }

    /// Stops searching for an attempt.
    pub fn forget(&self, key: &AttemptKey) {
        let mut state = self.state();
        state.asked.remove(key);
        state.accounted.remove(key);
        state.followed.remove(key);
    }

    /// Finds an attempt's jobs by polls from now on: in the list, else in accounting. Waits for as long as
    /// the cluster is unreachable.
    pub async fn find(&self, key: &AttemptKey) -> Vec<SeenJob> {
        let mut news = self.news.subscribe();
        let begun = self.begun();
        let mut has_asked = false;
        loop {
            let (answered, jobs) = self.jobs(key);
            if answered > begun {
                if !jobs.is_empty() {
                    return jobs;
                }
                if let Some(jobs) = self.answer(key).filter(|_| has_asked) {
                    return jobs;
                }
                if !has_asked {
                    self.ask(key);
                    has_asked = true;
                }
            }
            if news.changed().await.is_err() {
                return Vec::new();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cubeloom_domain::{RunId, Timestamp};

    use super::*;
    use crate::seen::{accounted, lines, listed};

    #[tokio::test]
    async fn an_attempt_is_found_by_what_is_known_later_only() {
        let key = AttemptKey { run: RunId::new(Timestamp(0), 1), task: "t".into(), instance: 0, n: 1 };
        let name = key.object_name();
        let (listing, entry) =
            (format!("7|1000|RUNNING|None|n1|{name}\n"), format!("7|1000|RUNNING|n1|{name}\n"));
        let board = Arc::new(Board::new());
        board.follow(&key, Who { name, uid: 1000, ids: Vec::new() });
        let old = board.begin();
        let (finder, wanted) = (Arc::clone(&board), key.clone());
        let found = tokio::spawn(async move { finder.find(&wanted).await });
        tokio::task::yield_now().await;
        board.listed(old, listed(lines(&listing), &board.ids()));
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        assert!(!found.is_finished(), "that look had begun before");
        let number = board.begin();
        board.listed(number, Jobs::default());
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        let asked = board.asked(10);
        assert!(asked.contains_key(&key));
        board.accounted(&asked, &accounted(&entry));
        assert_eq!(found.await.unwrap()[0].id, "7");
        assert!(board.asked(10).is_empty());
    }
}
