//! Properties that hold in every case.

#![allow(clippy::unwrap_used, reason = "tests")]

mod common;

use std::collections::BTreeMap;
use std::sync::Arc;

use common::{Case, at, cards, group, job, project};
use cubeloom_admission::{Ask, Desk, Elastic, JobId, NamedLimit, Preemption, Settings, Spec, Victim};
use cubeloom_domain::quota::{Amounts, QueueRecord, Quota, Resource};
use proptest::prelude::*;

const PROJECTS: [&str; 4] = ["a", "b", "c", "free"];

#[derive(Clone, Debug)]
enum Op {
    Wait {
        project: usize,
        person: u8,
        priority: i32,
        gpus: u64,
        more: u32,
        named: bool,
        timeout: Option<u64>,
        /// Whether it preempts lower ones, and whether it is protected from higher ones.
        class: (bool, bool),
    },
    /// A pending job changes its request to this many GPUs.
    Ask(prop::sample::Index, u64),
    End(prop::sample::Index),
    Pass(u64),
}

fn op() -> impl Strategy<Value = Op> {
    let class = (prop::bool::weighted(0.3), prop::bool::weighted(0.2));
    let timeout = prop::option::of(10..200u64);
    let wait = (0..4usize, 0..2u8, 0..3i32, 1..6u64, 0..5u32, any::<bool>(), timeout, class);
    prop_oneof![
        4 => wait.prop_map(|(project, person, priority, gpus, more, named, timeout, class)| {
            Op::Wait { project, person, priority, gpus, more, named, timeout, class }
        }),
        1 => (any::<prop::sample::Index>(), 1..6u64).prop_map(|(which, gpus)| Op::Ask(which, gpus)),
        2 => any::<prop::sample::Index>().prop_map(Op::End),
        3 => (0..40u64).prop_map(Op::Pass),
    ]
}

fn amount(count: Option<u64>) -> Amounts {
    count.map(|count| (Resource::Gpus, count)).into_iter().collect()
}

/// A tree whose guarantees together do not exceed the twelve GPUs of the cluster.
fn tree() -> impl Strategy<Value = Vec<QueueRecord>> {
    let quota = |most: u64| {
        (
            0..=most,
            prop::option::of(4..12u64),
            any::<bool>(),
            any::<bool>(),
            prop::option::of(2..6u64),
            1..4u32,
        )
            .prop_map(|(guarantee, limit, borrow, lend, cap, weight)| Quota {
                guarantee: amount(Some(guarantee).filter(|count| *count > 0)),
                limit: amount(limit.map(|limit| limit.max(guarantee))),
                borrow,
                lend,
                weight: weight * 100,
                per_person: amount(cap),
                max_priority: None,
            })
    };
    (quota(8), quota(4), quota(4), quota(4)).prop_map(|(above, a, b, c)| {
        let own = |quota: &Quota| quota.guarantee.get(&Resource::Gpus).unwrap_or(0);
        let sum = own(&above).max(own(&a) + own(&b));
        let above = Quota { guarantee: amount(Some(sum)), limit: amount(None), borrow: true, ..above };
        vec![
            group("up", None, Quota { per_person: amount(None), ..above }),
            project("a", Some("up"), a),
            project("b", Some("up"), b),
            project("c", None, c),
        ]
    })
}

struct World {
    desk: Desk,
    waiting: Vec<JobId>,
    held: Vec<JobId>,
    leaving: Vec<JobId>,
    now: u64,
    count: u64,
}

impl World {
    fn new(records: Vec<QueueRecord>) -> Self {
        let mut desk = Desk::new("test", Settings::default());
        desk.set_room(Ask::of(1 << 30, 1 << 40, 0, 12), BTreeMap::new());
        desk.set_queues(&Arc::new(records));
        desk.set_named(vec![NamedLimit { name: "few".into(), at_once: Some(2), a_minute: Some(4) }]);
        Self { desk, waiting: Vec::new(), held: Vec::new(), leaving: Vec::new(), now: 0, count: 0 }
    }

    fn does(&mut self, op: &Op) {
        match op {
            Op::Wait { project, person, priority, gpus, more, named, timeout, class } => {
                self.count += 1;
                let elastic = (*more > 0).then(|| Elastic {
                    each: Ask::of(1, 1, 1, 1),
                    min: 1,
                    max: *more + 1,
                    scales: true,
                });
                let spec = Spec {
                    key: self.count.to_string(),
                    name: self.count.to_string(),
                    project: PROJECTS[*project].into(),
                    person: person.to_string(),
                    run: u128::from(self.count / 2 * 10 + *project as u64),
                    priority: *priority,
                    preempts: class.0,
                    protected: class.1,
                    fixed: Ask::of(1, 1, 1, *gpus),
                    elastic,
                    named: named.then(|| "few".into()).into_iter().collect(),
                    timeout: timeout.map(std::time::Duration::from_secs),
                    ..Spec::default()
                };
                self.waiting.push(self.desk.wait(spec, at(self.now), None));
            }
            Op::Ask(which, gpus) => {
                if !self.waiting.is_empty() {
                    self.asks(*which.get(&self.waiting), *gpus);
                }
            }
            Op::End(which) => {
                let all = [self.leaving.clone(), self.held.clone()].concat();
                if !all.is_empty() {
                    self.end(*which.get(&all));
                }
            }
            Op::Pass(later) => {
                self.now += later;
                self.pass();
            }
        }
    }

    fn asks(&mut self, job: JobId, gpus: u64) {
        let spec = self.desk.spec(job).unwrap().clone();
        self.desk.ask_for(job, Spec { fixed: Ask::of(1, 1, 1, gpus), ..spec });
    }

    fn end(&mut self, job: JobId) {
        self.desk.remove(job, at(self.now));
        self.held.retain(|one| *one != job);
        self.leaving.retain(|one| *one != job);
    }

    /// Runs a cycle; workers that it removes are gone at once.
    fn pass(&mut self) -> Vec<JobId> {
        let pass = self.desk.pass(at(self.now), usize::MAX);
        let started: Vec<JobId> = pass.starts.iter().map(|start| start.job).collect();
        self.waiting.retain(|job| !started.contains(job));
        self.held.extend(&started);
        for victim in &pass.victims {
            match *victim {
                Victim::Workers { job, keeps, .. } => self.desk.resized(job, keeps, at(self.now)),
                Victim::Whole { job, .. } => {
                    self.held.retain(|one| *one != job);
                    self.leaving.push(job);
                }
            }
        }
        started
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_let_in_is_never_more_than_there_is_or_may_be(records in tree(), ops in prop::collection::vec(op(), 1..60)) {
        let mut world = World::new(records);
        for op in &ops {
            world.does(op);
            prop_assert_eq!(world.desk.check(), Ok(()));
            prop_assert!(world.desk.keeps_what_is_not_lent());
        }
    }

    #[test]
    fn only_lower_and_preemptible_jobs_are_preempted_by_priority(
        records in tree(), ops in prop::collection::vec(op(), 1..60)
    ) {
        let mut world = World::new(records);
        for op in &ops {
            world.does(op);
            let mut desk = world.desk.clone();
            let pass = desk.pass(at(world.now), usize::MAX);
            for victim in &pass.victims {
                let Victim::Whole { job, by, why: Preemption::Outranked } = *victim else { continue };
                let (lower, higher) = (desk.spec(job).unwrap(), desk.spec(by).unwrap());
                prop_assert!(higher.preempts && !lower.protected && lower.priority < higher.priority);
            }
        }
    }

    #[test]
    fn what_is_named_as_the_reason_is_it(records in tree(), ops in prop::collection::vec(op(), 1..40)) {
        let mut world = World::new(records);
        for op in &ops {
            world.does(op);
        }
        world.pass();
        for job in world.waiting.clone() {
            let Some(why) = world.desk.explain(job, at(world.now)) else { continue };
            if why.holders.is_empty() {
                continue;
            }
            let mut after = World { desk: world.desk.clone(), waiting: world.waiting.clone(), held: world.held.clone(), leaving: world.leaving.clone(), ..world };
            let named: Vec<JobId> = [world.held.clone(), world.leaving.clone()].concat().into_iter()
                .filter(|held| why.holders.iter().any(|holder| world.desk.spec(*held).unwrap().key == holder.key))
                .collect();
            prop_assert_eq!(named.len(), why.holders.len());
            for holder in named {
                after.end(holder);
            }
            prop_assert!(after.pass().contains(&job), "{:?}", why);
        }
    }

    #[test]
    fn passes_settle(records in tree(), ops in prop::collection::vec(op(), 1..40)) {
        let mut world = World::new(records);
        for op in &ops {
            world.does(op);
        }
        // A started job may clear the way for others: it ends before the head needs the capacity. Or a limit
        // is now full, and what waited for capacity waits for that limit. No job starts and is preempted in
        // turns.
        let mut starts = 0;
        for _ in 0..=world.waiting.len() + 1 {
            let pass = world.desk.pass(at(world.now), usize::MAX);
            starts += pass.starts.len();
            if pass.starts.is_empty() && pass.victims.is_empty() && pass.grows.is_empty() {
                prop_assert!(starts <= world.waiting.len());
                return Ok(());
            }
        }
        prop_assert!(false, "passes go on and on");
    }

    #[test]
    fn who_asks_for_something_else_by_now_is_treated_as_if_it_always_had(
        records in tree(), ops in prop::collection::vec(op(), 1..40), asked in prop::collection::vec(1..6u64, 40)
    ) {
        let waits: Vec<&Op> = ops.iter().filter(|op| matches!(op, Op::Wait { .. })).collect();
        let (mut changed, mut always) = (World::new(records.clone()), World::new(records));
        for (op, asked) in waits.iter().zip(&asked) {
            let Op::Wait { project, person, priority, more, named, timeout, class, .. } = **op else { continue };
            changed.does(op);
            always.does(&Op::Wait { project, person, priority, gpus: *asked, more, named, timeout, class });
        }
        for (job, asked) in changed.waiting.clone().into_iter().zip(&asked) {
            changed.asks(job, *asked);
        }
        for _ in 0..3 {
            let (one, other) = (changed.pass(), always.pass());
            prop_assert_eq!(&one, &other);
            one.first().into_iter().for_each(|job| {
                changed.end(*job);
                always.end(*job);
            });
        }
        prop_assert_eq!(changed.waiting, always.waiting);
    }

    #[test]
    fn what_is_lent_comes_back(records in tree(), ops in prop::collection::vec(op(), 1..40), project in 0..3usize) {
        let mut world = World::new(records.clone());
        for op in &ops {
            world.does(op);
        }
        // Only this project's first job is pending, and it requests one GPU.
        for job in std::mem::take(&mut world.waiting) {
            world.desk.remove(job, at(world.now));
        }
        let one = Op::Wait { project, person: 9, priority: 0, gpus: 1, more: 0, named: false, timeout: None, class: (false, false) };
        let quota = records.iter().find(|record| record.queue.name() == PROJECTS[project]).unwrap().quotas.values().next().unwrap().clone();
        let own = quota.guarantee.get(&Resource::Gpus).unwrap_or(0);
        let of_project = |world: &World| {
            let held = world.held.iter().chain(&world.leaving);
            let sum: u64 = held.map(|job| {
                let spec = world.desk.spec(*job).unwrap();
                let cards: u64 = spec.fixed.cards.iter().map(|(_, count)| count).sum();
                let workers = u64::from(world.desk.workers(*job).unwrap());
                if spec.project == PROJECTS[project] { cards + workers } else { 0 }
            }).sum();
            sum
        };
        if of_project(&world) + 1 > own {
            return Ok(());
        }
        world.does(&one);
        let job = *world.waiting.last().unwrap();
        let mut started = world.pass();
        for gone in std::mem::take(&mut world.leaving) {
            world.end(gone);
        }
        started.extend(world.pass());
        prop_assert!(started.contains(&job), "{:?}", world.desk.explain(job, at(world.now)));
    }
}

/// Found by the property above: a group that uses its guarantee, and reserves as much again for one of its
/// projects.
#[test]
fn a_group_that_holds_more_with_what_it_keeps_than_it_is_guaranteed_gives_back() {
    let kept = |count| Quota { lend: false, ..cards(count) };
    let records = vec![
        group("up", None, kept(5)),
        project("a", Some("up"), Quota { borrow: false, ..kept(4) }),
        project("b", Some("up"), kept(1)),
        project("c", None, cards(4)),
    ];
    let mut case = Case::new(12, records);
    case.wait(Spec { project: "b".into(), ..job("b", 5) });
    case.wait(Spec { project: "c".into(), ..job("c", 3) });
    assert_eq!(case.pass(0), ["b", "c"]);
    case.wait(Spec { project: "c".into(), ..job("owed", 1) });
    assert!(case.pass(1).is_empty());
    assert_eq!(case.victims(), ["b"], "it holds five of one, and four are kept for its sibling");
    case.end("b", 2);
    assert_eq!(case.pass(2), ["owed"]);
}

/// Also found by the property above: a job that was asked to stop holds a concurrency limit until it has
/// stopped.
#[test]
fn a_named_limit_is_held_by_who_is_on_its_way_out() {
    let records = vec![project("a", None, cards(4)), project("b", None, Quota::default())];
    let mut case = Case::new(8, records);
    case.desk.set_named(vec![NamedLimit { name: "few".into(), at_once: Some(1), a_minute: None }]);
    let few = |name: &str, count| Spec { named: vec!["few".into()], ..job(name, count) };
    case.wait(Spec { project: "b".into(), ..few("borrows", 6) });
    assert_eq!(case.pass(0), ["borrows"]);
    case.wait(Spec { project: "a".into(), priority: 1, ..job("owed", 4) });
    case.wait(Spec { project: "a".into(), ..few("next", 0) });
    assert!(case.pass(1).is_empty(), "both wait until it has ended");
    assert_eq!(case.victims(), ["borrows"]);
    case.end("borrows", 2);
    assert_eq!(case.pass(2), ["owed", "next"]);
}
