//! What would become of jobs that nobody has asked for yet: they are put on a copy of the desk.

use std::collections::HashMap;

use cubeloom_domain::Timestamp;
use cubeloom_domain::waiting::{Explanation, StartEstimate};

use crate::desk::{Desk, JobId};
use crate::job::{Spec, State};
use crate::pass::Victim;

/// How many passes in a row are made for what starts in this moment.
const PASSES: usize = 8;

/// What would become of a job.
#[derive(Clone, Debug, PartialEq)]
pub enum Prospect {
    /// It would start in this moment.
    Starts,
    /// It would wait.
    Waits {
        /// Why, and who holds what it needs.
        why: Box<Explanation>,
        /// When it may start; nothing where too little is known.
        start: Option<StartEstimate>,
        /// How many whole jobs would be preempted for it.
        preempts: usize,
    },
    /// It can never start, whatever ends.
    Never(Box<Explanation>),
    /// It waits for other jobs of its run first, and could start some day.
    Later,
}

/// A job that is tried.
#[derive(Clone, Debug)]
pub struct Tried {
    /// The job.
    pub spec: Spec,
    /// Whether it needs nothing first.
    pub is_first: bool,
}

impl Desk {
    /// What would become of jobs that came in this moment, all together. Of a job that others of its run come before, only
    /// whether it can ever start is said. `go_on` is asked between the steps of the simulation: estimates are left out when
    /// it says no. The same seed gives the same answer.
    #[must_use]
    pub fn what_if(
        &self,
        tried: Vec<Tried>,
        now: Timestamp,
        seed: u64,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Vec<Prospect> {
        let mut desk = self.leading_all();
        let jobs: Vec<(JobId, bool)> =
            tried.into_iter().map(|tried| (desk.wait(tried.spec, now, None), tried.is_first)).collect();
        let never: Vec<Option<Box<Explanation>>> =
            jobs.iter().map(|(job, _)| desk.why_never(*job, now).map(Box::new)).collect();
        for (job, is_first) in &jobs {
            if !is_first {
                desk.remove(*job, now);
            }
        }
        // What the first tasks of a pipeline take, others of it wait for.
        let mut preempts: HashMap<JobId, usize> = HashMap::new();
        for _ in 0..PASSES {
            let pass = desk.pass(now, usize::MAX);
            for victim in &pass.victims {
                if let Victim::Whole { by, .. } = victim {
                    *preempts.entry(*by).or_default() += 1;
                }
            }
            if !pass.more {
                break;
            }
        }
        let whys: Vec<Option<Explanation>> = jobs.iter().map(|(job, _)| desk.explain(*job, now)).collect();
        let waiting: Vec<JobId> = jobs
            .iter()
            .zip(whys.iter().zip(&never))
            .filter(|(_, (why, never))| why.is_some() && never.is_none())
            .map(|((job, _), _)| *job)
            .collect();
        let starts = desk.estimates(&waiting, now, seed, go_on);
        let found = jobs.into_iter().zip(whys.into_iter().zip(never));
        let prospect =
            |((job, is_first), (why, never)): ((JobId, bool), (Option<Explanation>, _))| match never {
                Some(never) => Prospect::Never(never),
                None if !is_first => Prospect::Later,
                None => match why {
                    Some(why) => Prospect::Waits {
                        why: Box::new(why),
                        start: starts.get(&job).copied(),
                        preempts: preempts.get(&job).copied().unwrap_or_default(),
                    },
                    None => Prospect::Starts,
                },
            };
        found.map(prospect).collect()
    }

    /// Why a job that waits can never start; `None` where it can.
    fn why_never(&self, job: JobId, now: Timestamp) -> Option<Explanation> {
        let entry = self.entry(job)?;
        self.never(&entry.known)?;
        self.explain(job, now)
    }

    /// The jobs that wait, each with what is known of it.
    pub fn waiting_jobs(&self) -> impl Iterator<Item = (JobId, &Spec)> {
        self.entries().filter_map(|(job, entry)| match &entry.state {
            State::Waiting { .. } => Some((job, &entry.known.spec)),
            State::Held(_) => None,
        })
    }
}
