//! Concurrency limits that hold across pipelines and projects: `hdfs-prod`, ten at once, or a hundred a
//! minute.

use std::collections::VecDeque;
use std::time::Duration;

use cubeloom_domain::Timestamp;

use crate::desk::{Desk, JobId};

const MINUTE: Duration = Duration::from_secs(60);

/// A concurrency limit that tasks name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedLimit {
    pub name: String,
    /// Maximum number of jobs at once.
    pub at_once: Option<u32>,
    /// Maximum number of starts per minute.
    pub a_minute: Option<u32>,
}

/// A limit with its recent starts.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) limit: NamedLimit,
    /// Starts of the last minute.
    pub(crate) starts: VecDeque<Timestamp>,
}

impl Named {
    pub(crate) fn started(&mut self, at: Timestamp) {
        if self.limit.a_minute.is_none() {
            return;
        }
        while self.starts.front().is_some_and(|first| at.since(*first) >= MINUTE) {
            self.starts.pop_front();
        }
        // Starts on other replicas are reported late.
        let place = self.starts.partition_point(|start| *start <= at);
        self.starts.insert(place, at);
    }

    /// Removes the start at that time, which did not happen.
    fn not_started(&mut self, at: Timestamp) {
        if let Some(place) = self.starts.iter().position(|start| *start == at) {
            self.starts.remove(place);
        }
    }

    /// Number of starts in the last minute.
    pub(crate) fn lately(&self, now: Timestamp) -> u32 {
        let before = self.starts.iter().take_while(|start| now.since(**start) >= MINUTE).count();
        u32::try_from(self.starts.len() - before).unwrap_or(u32::MAX)
    }

    /// Whether any recorded minute has more starts than allowed.
    pub(crate) fn is_beyond_a_minute(&self) -> bool {
        let Some(most) = self.limit.a_minute else { return false };
        let later = self.starts.iter().skip(most as usize);
        self.starts.iter().zip(later).any(|(first, beyond)| beyond.since(*first) < MINUTE)
    }

    /// When the next start is allowed, if only the rate blocks it.
    pub(crate) fn opens_at(&self, now: Timestamp) -> Option<Timestamp> {
        let limit = self.limit.a_minute? as usize;
        let lately = self.lately(now) as usize;
        let until = lately.checked_sub(limit)?;
        self.starts.get(self.starts.len() - lately + until).map(|start| start.plus(MINUTE))
    }
}

/// Usage of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedUse {
    /// Number of jobs, including those of other replicas.
    pub held: u32,
    /// Maximum number at once.
    pub at_once: Option<u32>,
    /// Number of starts in the last minute. Counted only if it is limited.
    pub lately: u32,
    /// Maximum number per minute.
    pub a_minute: Option<u32>,
}

impl NamedUse {
    /// Whether the maximum number of jobs holds it.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.at_once.is_some_and(|limit| self.held >= limit)
    }

    /// Whether no other job may start with it now.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.is_held() || self.a_minute.is_some_and(|limit| self.lately >= limit)
    }
}

impl Desk {
    /// Counts a start with these limits on another replica, or before this scheduler existed.
    pub fn started_elsewhere(&mut self, names: &[String], at: Timestamp) {
        for named in self.named.iter_mut().filter(|named| names.contains(&named.limit.name)) {
            named.started(at);
        }
    }

    /// Removes a job that a cycle has started but whose cluster lacks what it needs: its start counts in no
    /// minute.
    pub fn unbegin(&mut self, job: JobId, now: Timestamp) {
        let begun = self.entry(job).and_then(|entry| Some((entry.known.named.clone(), entry.held()?.since)));
        if let Some((named, since)) = begun {
            named.into_iter().for_each(|name| self.named[name as usize].not_started(since));
        }
        self.remove(job, now);
    }

    /// Usage of a limit. `None` if no limit has this name.
    #[must_use]
    pub fn named_use(&self, name: &str, now: Timestamp) -> Option<NamedUse> {
        let at = self.named.iter().position(|named| named.limit.name == name)?;
        let named = &self.named[at];
        Some(NamedUse {
            held: self.ledger.named[at],
            at_once: named.limit.at_once,
            lately: named.lately(now),
            a_minute: named.limit.a_minute,
        })
    }
}
