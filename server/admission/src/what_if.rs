//! The outcome of hypothetical jobs: they are added to a copy of the scheduler.

use std::collections::HashMap;

use cubeloom_domain::Timestamp;
use cubeloom_domain::waiting::{Explanation, StartEstimate};

use crate::desk::{Desk, JobId};
use crate::job::{Spec, State};
use crate::pass::Victim;

/// Maximum number of consecutive cycles that simulate what starts now.
const PASSES: usize = 8;

#[derive(Clone, Debug, PartialEq)]
pub enum Prospect {
    Starts,
    /// It would be pending.
    Waits {
        /// Why, and which jobs hold what it needs.
        why: Box<Explanation>,
        /// Estimated start. `None` if too little is known.
        start: Option<StartEstimate>,
        /// Number of whole jobs that it would preempt.
        preempts: usize,
    },
    /// It can never start, even if all other jobs end.
    Never(Box<Explanation>),
    /// It depends on other jobs of its run, and could start at some time.
    Later,
}

/// A hypothetical job.
#[derive(Clone, Debug)]
pub struct Tried {
    pub spec: Spec,
    /// Whether it depends on no other job.
    pub is_first: bool,
}

impl Desk {
    /// The outcome of jobs that would all arrive now. For a job that depends on others of its run, the result
    /// only says whether it can ever start. `go_on` is called between the steps of the simulation: once it
    /// returns false, estimates are omitted. The same seed gives the same result.
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
        // Other tasks of a pipeline wait for what its first tasks take.
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

    /// Why a pending job can never start. `None` if it can.
    fn why_never(&self, job: JobId, now: Timestamp) -> Option<Explanation> {
        let entry = self.entry(job)?;
        self.never(&entry.known)?;
        self.explain(job, now)
    }

    /// The pending jobs, each with its spec.
    pub fn waiting_jobs(&self) -> impl Iterator<Item = (JobId, &Spec)> {
        self.entries().filter_map(|(job, entry)| match &entry.state {
            State::Waiting { .. } => Some((job, &entry.known.spec)),
            State::Held(_) => None,
        })
    }
}
