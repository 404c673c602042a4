//! Limits that have a name and hold across pipelines and projects: `hdfs-prod`, ten at once, or a hundred a minute.

use std::collections::VecDeque;
use std::time::Duration;

use cubeloom_domain::Timestamp;

use crate::desk::{Desk, JobId};

const MINUTE: Duration = Duration::from_secs(60);

/// A limit that tasks name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedLimit {
    /// Name.
    pub name: String,
    /// How many jobs may hold it at once.
    pub at_once: Option<u32>,
    /// How many may be started with it in a minute.
    pub a_minute: Option<u32>,
}

/// A limit with what has been started.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) limit: NamedLimit,
    /// The starts of the last minute.
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
        // What was started elsewhere is heard of later.
        let place = self.starts.partition_point(|start| *start <= at);
        self.starts.insert(place, at);
    }

    /// What was started then was not started after all.
    fn not_started(&mut self, at: Timestamp) {
        if let Some(place) = self.starts.iter().position(|start| *start == at) {
            self.starts.remove(place);
        }
    }

    /// How many were started within the minute before.
    pub(crate) fn lately(&self, now: Timestamp) -> u32 {
        let before = self.starts.iter().take_while(|start| now.since(**start) >= MINUTE).count();
        u32::try_from(self.starts.len() - before).unwrap_or(u32::MAX)
    }

    /// Whether more were started within some minute, of those that are remembered, than may be.
    pub(crate) fn is_beyond_a_minute(&self) -> bool {
        let Some(most) = self.limit.a_minute else { return false };
        let later = self.starts.iter().skip(most as usize);
        self.starts.iter().zip(later).any(|(first, beyond)| beyond.since(*first) < MINUTE)
    }

    /// When the next may be started, if only the minute is in the way.
    pub(crate) fn opens_at(&self, now: Timestamp) -> Option<Timestamp> {
        let limit = self.limit.a_minute? as usize;
        let lately = self.lately(now) as usize;
        let until = lately.checked_sub(limit)?;
        self.starts.get(self.starts.len() - lately + until).map(|start| start.plus(MINUTE))
    }
}

/// How much of a limit is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedUse {
    /// How many jobs hold it, those elsewhere included.
    pub held: u32,
    /// How many may at once.
    pub at_once: Option<u32>,
    /// How many were started with it within the minute before; counted only where that is limited.
    pub lately: u32,
    /// How many may be in a minute.
    pub a_minute: Option<u32>,
}

impl NamedUse {
    /// Whether as many hold it as may.
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
    /// A job was started elsewhere with these limits, or here before the desk was: its start counts.
    pub fn started_elsewhere(&mut self, names: &[String], at: Timestamp) {
        for named in self.named.iter_mut().filter(|named| names.contains(&named.limit.name)) {
            named.started(at);
        }
    }

    /// A job that a pass has started leaves, as its cluster does not have what it needs yet: it counts among the starts of no minute.
    pub fn unbegin(&mut self, job: JobId, now: Timestamp) {
        let begun = self.entry(job).and_then(|entry| Some((entry.known.named.clone(), entry.held()?.since)));
        if let Some((named, since)) = begun {
            named.into_iter().for_each(|name| self.named[name as usize].not_started(since));
        }
        self.remove(job, now);
    }

    /// How much of a limit is used. `None` where there is none of this name.
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
