//! Limits that have a name and hold across pipelines and projects: `hdfs-prod`, ten at once, or a hundred a minute.

use std::collections::VecDeque;
use std::time::Duration;

use cubeloom_domain::Timestamp;

const MINUTE: Duration = Duration::from_secs(60);

/// A limit that tasks name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedLimit {
    /// Its name.
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
    pub(crate) fn started(&mut self, now: Timestamp) {
        if self.limit.a_minute.is_none() {
            return;
        }
        while self.starts.front().is_some_and(|first| now.since(*first) >= MINUTE) {
            self.starts.pop_front();
        }
        self.starts.push_back(now);
    }

    /// How many were started within the minute before.
    pub(crate) fn lately(&self, now: Timestamp) -> u32 {
        let before = self.starts.iter().take_while(|start| now.since(**start) >= MINUTE).count();
        u32::try_from(self.starts.len() - before).unwrap_or(u32::MAX)
    }

    /// When the next may be started, if only the minute is in the way.
    pub(crate) fn opens_at(&self, now: Timestamp) -> Option<Timestamp> {
        let limit = self.limit.a_minute? as usize;
        let lately = self.lately(now) as usize;
        let until = lately.checked_sub(limit)?;
        self.starts.get(self.starts.len() - lately + until).map(|start| start.plus(MINUTE))
    }
}
