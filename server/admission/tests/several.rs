//! Properties with several resources and several node groups, and of elastic jobs and back-fill.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use common::{at, cards, project};
use cubeloom_admission::{Ask, Desk, Elastic, JobId, NamedLimit, Pass, Settings, Spec, Victim};
use cubeloom_domain::quota::{Amounts, Pool, Queue, QueueRecord, Quota, Resource};
use proptest::prelude::*;

const PROJECTS: [&str; 4] = ["a", "b", "c", "free"];
/// The whole cluster, and its node groups.
const POOLS: [Option<&str>; 3] = [None, Some("fast"), Some("slow")];
/// Their capacity: CPUs, memory, GPUs.
const ROOMS: [(u64, u64, u64); 3] = [(24, 48, 12), (8, 20, 6), (12, 16, 4)];

fn room(at: usize) -> Ask {
    let (cpu, memory, gpus) = ROOMS[at];
    let of = |name: &str, count: u64| (Some(Arc::from(name)), count);
    Ask { cards: vec![of("H100", gpus / 2), of("A100", gpus - gpus / 2)], ..Ask::of(cpu, memory, 0, 0) }
}

#[derive(Clone, Debug)]
enum Op {
    Wait(Box<Spec>),
    End(prop::sample::Index),
    /// This many seconds later.
    Pass(u64),
}

fn wait() -> impl Strategy<Value = Op> {
    let who = (0..4usize, 0..2u8, 0..3i32, 0..3usize, 0..3u128);
    let asks = (1..6u64, 1..9u64, 0..4u64, any::<bool>(), 0..4u32, any::<bool>());
    (who, asks, prop::option::of(10..200u64)).prop_map(|(who, asks, timeout)| {
        let (project, person, priority, pool, run) = who;
        let (cpu, memory, gpus, typed, more, named) = asks;
        let cards = vec![(typed.then(|| "H100".into()), gpus)];
        let each = Ask { cards: vec![(None, 1)], ..Ask::of(1, 2, 1, 0) };
        Op::Wait(Box::new(Spec {
            project: PROJECTS[project].into(),
            person: person.to_string(),
            run: run * 10 + project as u128,
            priority,
            node_group: POOLS[pool].map(Into::into),
            fixed: Ask { cards, ..Ask::of(cpu, memory, 1, 0) },
            elastic: (more > 0).then_some(Elastic { each, min: 0, max: more, scales: true }),
            named: named.then(|| "few".into()).into_iter().collect(),
            timeout: timeout.map(Duration::from_secs),
            ..Spec::default()
        }))
    })
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let end = any::<prop::sample::Index>().prop_map(Op::End);
    prop::collection::vec(prop_oneof![4 => wait(), 2 => end, 3 => (0..40u64).prop_map(Op::Pass)], 1..50)
}

/// A queue's quota of a pool: at most a fourth of it is guaranteed to each.
fn quota(pool: usize) -> impl Strategy<Value = Quota> {
    let (cpu, memory, gpus) = ROOMS[pool];
    let most = (0..=cpu / 8, 0..=memory / 8, 0..=gpus / 4, 0..=gpus / 8);
    let bounds = (prop::option::of(4..24u64), prop::option::of(1..4u64), prop::option::of(1..6u64));
    (most, bounds, any::<bool>(), any::<bool>(), 1..4u32).prop_map(
        move |(most, bounds, borrow, lend, weight)| {
            let h100 = Resource::GpusOf("H100".into());
            let own = [
                (Resource::Cpu, most.0),
                (Resource::Memory, most.1),
                (Resource::Gpus, most.2),
                (h100, most.3),
            ];
            let guarantee: Amounts = own.into_iter().filter(|(_, amount)| *amount > 0).collect();
            let limit = [(Resource::Cpu, bounds.0.map(|most| most.max(cpu / 8))), (Resource::Runs, bounds.1)];
            let some = |(resource, amount): (Resource, Option<u64>)| Some((resource, amount?));
            let per_person = [(Resource::Cpu, bounds.2), (Resource::Pods, bounds.0)];
            Quota {
                guarantee,
                limit: limit.into_iter().filter_map(some).collect(),
                per_person: per_person.into_iter().filter_map(some).collect(),
                borrow,
                lend,
                weight: weight * 100,
                ..Quota::default()
            }
        },
    )
}

fn tree() -> impl Strategy<Value = Vec<QueueRecord>> {
    let all = || (quota(0), quota(1), quota(2));
    let record = |(name, (whole, fast, slow)): (&str, (Quota, Quota, Quota))| QueueRecord {
        queue: Queue::Project(name.into()),
        parent: None,
        quotas: POOLS
            .into_iter()
            .zip([whole, fast, slow])
            .map(|(group, quota)| (Pool { cluster: "test".into(), node_group: group.map(Into::into) }, quota))
            .collect(),
        revision: 1,
    };
    (all(), all(), all())
        .prop_map(move |(a, b, c)| ["a", "b", "c"].into_iter().zip([a, b, c]).map(record).collect())
}

/// A scheduler with its history. Shrunk jobs shrink at once; preempted whole jobs are gone when a test says
/// so.
struct World {
    desk: Desk,
    there: Vec<JobId>,
    leaving: Vec<JobId>,
    now: u64,
}

impl World {
    fn new(records: Vec<QueueRecord>) -> Self {
        let mut desk = Desk::new("test", Settings::default());
        let groups = [1, 2].map(|at| (POOLS[at].unwrap().to_owned(), room(at)));
        desk.set_room(room(0), BTreeMap::from(groups));
        desk.set_queues(&Arc::new(records));
        desk.set_named(vec![NamedLimit { name: "few".into(), at_once: Some(3), a_minute: Some(4) }]);
        Self { desk, there: Vec::new(), leaving: Vec::new(), now: 0 }
    }

    fn does(&mut self, op: &Op) {
        match op {
            Op::Wait(spec) => {
                let key = format!("{}", self.there.len());
                let spec = Spec { name: key.clone(), key, ..(**spec).clone() };
                self.there.push(self.desk.wait(spec, at(self.now), None));
            }
            Op::End(which) => {
                if !self.there.is_empty() {
                    let job = self.there.remove(which.index(self.there.len()));
                    self.desk.remove(job, at(self.now));
                }
            }
            Op::Pass(later) => {
                self.now += later;
                self.pass();
            }
        }
    }

    fn pass(&mut self) -> Pass {
        let pass = self.desk.pass(at(self.now), usize::MAX);
        for victim in &pass.victims {
            match *victim {
                Victim::Workers { job, keeps, .. } => {
                    self.desk.resized(job, keeps, at(self.now));
                }
                Victim::Whole { job, .. } => self.leaving.push(job),
            }
        }
        pass
    }

    /// Preempted whole jobs are gone.
    fn leave(&mut self) {
        for job in self.leaving.drain(..) {
            if let Some(which) = self.there.iter().position(|there| *there == job) {
                self.there.remove(which);
                self.desk.remove(job, at(self.now));
            }
        }
    }
}

/// An elastic job of the four projects: its first worker has a GPU.
fn stretches() -> impl Strategy<Value = (usize, u32, u32, i32)> {
    (0..4usize, 0..3u32, 0..8u32, 0..2i32)
}

/// GPUs in use by a project's jobs.
fn held(desk: &Desk, jobs: &[JobId], project: &str) -> u64 {
    let of = jobs.iter().filter(|job| desk.spec(**job).unwrap().project == project);
    of.filter_map(|job| Some(u64::from(desk.workers(*job)?) + 1)).sum()
}

/// When a job starts, if every job ends at its timeout. `runs` has the running jobs, with their ends.
fn start_of(job: JobId, desk: &mut Desk, mut runs: Vec<(u64, JobId)>, mut now: u64) -> Option<u64> {
    loop {
        for start in desk.pass(at(now), usize::MAX).starts {
            if start.job == job {
                return Some(now);
            }
            runs.push((now + length(desk, start.job), start.job));
        }
        runs.sort_unstable();
        if runs.is_empty() {
            return None;
        }
        let (end, first) = runs.remove(0);
        now = end;
        desk.remove(first, at(now));
    }
}

fn length(desk: &Desk, job: JobId) -> u64 {
    desk.spec(job).unwrap().timeout.unwrap().as_secs()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_beyond_a_bound_of_any_resource_or_node_group(records in tree(), ops in ops()) {
        let mut world = World::new(records);
        for op in &ops {
            world.does(op);
            prop_assert_eq!(world.desk.check(), Ok(()));
            prop_assert!(world.desk.keeps_what_is_not_lent());
        }
    }

    #[test]
    fn workers_that_are_guaranteed_come_back_and_do_not_go_to_and_fro(
        own in prop::collection::vec(0..5u64, 3),
        jobs in prop::collection::vec(stretches(), 1..7),
        ends in prop::collection::vec(any::<prop::sample::Index>(), 0..3),
    ) {
        let mut world = World::new(["a", "b", "c"].into_iter().zip(&own).map(|(name, own)| project(name, None, cards(*own))).collect());
        world.desk.set_room(Ask::of(1 << 20, 1 << 20, 0, 12), BTreeMap::new());
        for (project, min, more, priority) in &jobs {
            let elastic = Elastic { each: Ask::of(1, 1, 1, 1), min: *min, max: min + more, scales: true };
            world.does(&Op::Wait(Box::new(Spec { project: PROJECTS[*project].into(), priority: *priority, fixed: Ask::of(1, 1, 1, 1), elastic: Some(elastic), ..Spec::default() })));
            world.does(&Op::Pass(5));
        }
        for which in &ends {
            world.does(&Op::End(*which));
            world.does(&Op::Pass(5));
        }
        // No job is pending or leaving, and all cool-downs are over.
        world.leave();
        world.there.retain(|job| {
            let holds = world.desk.workers(*job).is_some();
            if !holds {
                world.desk.remove(*job, at(world.now));
            }
            holds
        });
        world.now += 1000;
        let is_quiet = |pass: &Pass| pass.starts.is_empty() && pass.victims.is_empty() && pass.grows.is_empty();
        let mut rounds = 0;
        while !is_quiet(&world.pass()) {
            rounds += 1;
            prop_assert!(rounds < 10, "they go to and fro");
        }
        for _ in 0..3 {
            world.now += 1000;
            prop_assert!(is_quiet(&world.pass()), "after a cool-down they go to and fro");
        }
        let guarantee = |project: &str| PROJECTS.iter().zip(&own).find(|(name, _)| **name == project).map_or(0, |(_, own)| *own);
        let range = |job: &JobId| world.desk.spec(*job).unwrap().elastic.clone().unwrap();
        for job in &world.there {
            let project = &world.desk.spec(*job).unwrap().project;
            let is_short = world.desk.workers(*job).unwrap() < range(job).max;
            if !is_short || held(&world.desk, &world.there, project) >= guarantee(project) {
                continue;
            }
            for other in &world.there {
                let theirs = &world.desk.spec(*other).unwrap().project;
                let borrows = held(&world.desk, &world.there, theirs) > guarantee(theirs);
                prop_assert!(!(borrows && world.desk.workers(*other).unwrap() > range(other).min), "{theirs} keeps what {project} is owed");
            }
        }
    }

    #[test]
    fn what_is_filled_in_does_not_delay_the_head(
        before in prop::collection::vec((0..3u64, 1..5u64, 5..100u64), 1..5),
        head in (0..5u64, 1..9u64),
        behind in prop::collection::vec((0..3u64, 1..5u64, 1..150u64), 1..8),
    ) {
        let spec = |key: String, cpu: u64, gpus: u64, seconds: Option<u64>| Spec {
            name: key.clone(),
            key,
            project: "one".into(),
            fixed: Ask::of(cpu, 0, 1, gpus),
            timeout: seconds.map(Duration::from_secs),
            ..Spec::default()
        };
        let mut desk = Desk::new("test", Settings::default());
        desk.set_room(Ask::of(4, 1 << 20, 0, 8), BTreeMap::new());
        let before = before.iter().enumerate().map(|(number, (cpu, gpus, seconds))| {
            desk.wait(spec(format!("before-{number}"), *cpu, *gpus, Some(*seconds)), at(0), None)
        });
        let before: Vec<JobId> = before.collect();
        let first = desk.pass(at(0), usize::MAX).starts;
        // The head is the first pending job.
        for job in before {
            if desk.workers(job).is_none() {
                desk.remove(job, at(0));
            }
        }
        let runs: Vec<(u64, JobId)> = first.iter().map(|start| (length(&desk, start.job), start.job)).collect();
        let head = desk.wait(spec("head".into(), head.0, head.1, Some(50)), at(1), None);
        let mut alone = desk.clone();
        for (number, (cpu, gpus, seconds)) in behind.iter().enumerate() {
            desk.wait(spec(format!("behind-{number}"), *cpu, *gpus, Some(*seconds)), at(2), None);
        }
        let (with, without) = (start_of(head, &mut desk, runs.clone(), 3), start_of(head, &mut alone, runs, 3));
        prop_assert!(without.is_some() && with == without, "{with:?} instead of {without:?}");
    }
}
