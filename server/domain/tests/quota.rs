//! Quotas: edits, and the status of queues.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::BTreeMap;

use cubeloom_domain::executor::{GpuFacts, NodeFacts};
use cubeloom_domain::quota::check::{Edit, Fault, FaultKind, faults};
use cubeloom_domain::quota::held::Job;
use cubeloom_domain::quota::room::{Room, Rooms};
use cubeloom_domain::quota::standing::shares;
use cubeloom_domain::quota::tree::Tree;
use cubeloom_domain::quota::{Amounts, Pool, Queue, QueueRecord, Quota, Resource};
use cubeloom_domain::{Bytes, Cpu, RunId, Timestamp};
use proptest::collection::vec;
use proptest::prelude::*;

fn pool() -> Pool {
    Pool::of("prod")
}

/// The pool of the cluster's only node group, which has all of its GPUs.
fn cards() -> Pool {
    Pool { node_group: Some("h100".into()), ..pool() }
}

/// Eight GPUs in one node.
fn rooms() -> Rooms {
    let card = GpuFacts { name: "NVIDIA H100 80GB".into(), ..GpuFacts::default() };
    let node =
        NodeFacts { cpu: Cpu(64_000), memory: Bytes(512 << 30), gpus: vec![card; 8], ..NodeFacts::default() };
    [(pool(), Room::of([&node])), (cards(), Room::of([&node]))].into()
}

fn project(name: &str) -> Queue {
    Queue::Project(name.into())
}

fn group(name: &str) -> Queue {
    Queue::Group(name.into())
}

fn gpus(amount: u64) -> Amounts {
    [(Resource::Gpus, amount)].into_iter().collect()
}

fn queue(queue: Queue, parent: Option<&str>, quota: Quota) -> QueueRecord {
    QueueRecord { queue, parent: parent.map(Into::into), quotas: [(pool(), quota)].into(), revision: 1 }
}

/// A guarantee of this many GPUs.
fn guaranteed(amount: u64) -> Quota {
    Quota { guarantee: gpus(amount), ..Quota::default() }
}

/// A limit of this many GPUs.
fn limited(amount: u64) -> Quota {
    Quota { limit: gpus(amount), ..Quota::default() }
}

/// The `n`th job, of a project, with this many GPUs.
fn job(n: u32, project: &str, amount: u64) -> Job {
    Job {
        run: RunId::new(Timestamp(1), u128::from(n)),
        task: format!("task-{n}"),
        instance: 0,
        project: project.into(),
        pipeline: "p".into(),
        user: "ada".into(),
        pool: pool(),
        amounts: gpus(amount),
        since: Timestamp(i64::from(n)),
    }
}

/// Problems with adding this queue to the tree.
fn put(tree: &[QueueRecord], change: &QueueRecord, jobs: &[Job]) -> Vec<Fault> {
    let mut after: Vec<QueueRecord> = tree.iter().filter(|one| one.queue != change.queue).cloned().collect();
    after.push(change.clone());
    let rooms = rooms();
    faults(&Edit { before: tree, after: &after, queue: &change.queue, rooms: &rooms, jobs })
}

#[track_caller]
fn one(faults: &[Fault], field: &str, kind: FaultKind, said: &str) {
    let [fault] = faults else { panic!("{faults:?}") };
    assert_eq!((fault.field.as_str(), fault.kind), (field, kind), "{fault:?}");
    assert!(fault.message.contains(said), "{fault:?}");
}

#[test]
fn a_group_is_in_another_that_there_is_and_not_in_itself() {
    let tree = [
        queue(group("a"), None, Quota::default()),
        queue(group("b"), Some("a"), Quota::default()),
        queue(group("c"), Some("b"), Quota::default()),
    ];
    let put = |change: QueueRecord| put(&tree, &change, &[]);
    one(
        &put(queue(group("a"), Some("c"), Quota::default())),
        "/parent",
        FaultKind::Cycle,
        "`c` is in `a` itself",
    );
    one(&put(queue(group("a"), Some("a"), Quota::default())), "/parent", FaultKind::Cycle, "in itself");
    one(
        &put(queue(project("p"), Some("z"), Quota::default())),
        "/parent",
        FaultKind::Unknown,
        "no group `z`",
    );
    assert_eq!(put(queue(group("c"), Some("a"), Quota::default())), []);
}

#[test]
fn a_group_that_holds_others_stays() {
    let tree = [queue(group("a"), None, Quota::default()), queue(project("p"), Some("a"), Quota::default())];
    let rooms = rooms();
    let delete = |name: &Queue| {
        let after: Vec<QueueRecord> = tree.iter().filter(|one| one.queue != *name).cloned().collect();
        faults(&Edit { before: &tree, after: &after, queue: name, rooms: &rooms, jobs: &[] })
    };
    one(&delete(&group("a")), "", FaultKind::Conflict, "`p` is in the group `a`");
    assert_eq!(delete(&project("p")), []);
}

#[test]
fn no_more_is_guaranteed_than_there_is() {
    let tree = [queue(project("a"), None, guaranteed(5)), queue(project("b"), None, guaranteed(3))];
    let field = "/quotas/prod/guarantee/gpus";
    let more = put(&tree, &queue(project("b"), None, guaranteed(4)), &[]);
    one(&more, field, FaultKind::Over, "4 gpus and the 5 guaranteed to others exceed the 8");
    assert_eq!(put(&tree, &queue(project("b"), None, guaranteed(2)), &[]), []);
    // Typed GPUs count as GPUs.
    let typed: Amounts = [(Resource::GpusOf("H100".into()), 4)].into_iter().collect();
    let typed = Quota { guarantee: typed, ..Quota::default() };
    one(&put(&tree, &queue(project("b"), None, typed), &[]), field, FaultKind::Over, "4 gpus and the 5");
    // GPUs of a node group are GPUs of its cluster.
    let mut in_group = queue(project("c"), None, Quota::default());
    in_group.quotas = [(cards(), guaranteed(1))].into();
    let field = "/quotas/prod~1h100/guarantee/gpus";
    one(
        &put(&tree, &in_group, &[]),
        field,
        FaultKind::Over,
        "9 gpus of `prod` are guaranteed, but it has only 8",
    );
}

#[test]
fn what_was_too_much_may_become_less() {
    let tree = [queue(project("a"), None, guaranteed(9)), queue(project("b"), None, guaranteed(9))];
    assert_eq!(put(&tree, &queue(project("b"), None, guaranteed(5)), &[]), []);
    assert_eq!(put(&tree, &queue(project("b"), None, guaranteed(10)), &[]).len(), 1);
}

#[test]
fn a_group_gives_what_it_has() {
    let tree = [
        queue(group("g"), None, guaranteed(6)),
        queue(project("a"), Some("g"), guaranteed(4)),
        queue(project("b"), Some("g"), guaranteed(2)),
    ];
    let field = "/quotas/prod/guarantee/gpus";
    let more = put(&tree, &queue(project("b"), Some("g"), guaranteed(3)), &[]);
    one(&more, field, FaultKind::Over, "exceed the group's guarantee of 6");
    let less = put(&tree, &queue(group("g"), None, guaranteed(5)), &[]);
    one(&less, field, FaultKind::Over, "guaranteed 6 gpus of `prod`, but it only 5");
    let none = put(&tree, &QueueRecord { quotas: BTreeMap::new(), ..tree[0].clone() }, &[]);
    one(&none, field, FaultKind::Over, "but it only 0");
}

#[test]
fn what_a_quota_says_agrees_with_itself() {
    let put = |queue_: Queue, quota: Quota| put(&[], &queue(queue_, None, quota), &[]);
    let over = Quota { guarantee: gpus(4), limit: gpus(2), ..Quota::default() };
    one(&put(project("a"), over), "/quotas/prod/guarantee/gpus", FaultKind::Conflict, "its limit of 2");
    for most in [-1001, 1001] {
        let quota = Quota { max_priority: Some(most), ..Quota::default() };
        one(
            &put(project("a"), quota),
            "/quotas/prod/max_priority",
            FaultKind::Conflict,
            "from -1000 to 1000",
        );
    }
    for weight in [0, 1001] {
        let quota = Quota { weight, ..Quota::default() };
        one(&put(project("a"), quota), "/quotas/prod/weight", FaultKind::Conflict, "from 1 to 1000");
    }
    let each = Quota { per_person: gpus(1), ..Quota::default() };
    one(&put(group("g"), each.clone()), "/quotas/prod/per_person", FaultKind::Conflict, "not to a group");
    assert_eq!(put(project("a"), each), []);
    let mut elsewhere = queue(project("a"), None, Quota::default());
    elsewhere.quotas = [(Pool::of("away"), Quota::default())].into();
    one(&self::put(&[], &elsewhere, &[]), "/quotas/away", FaultKind::Unknown, "`away`");
}

#[test]
fn a_bound_below_what_is_held_says_what_would_happen() {
    let jobs = [job(1, "a", 4), job(2, "a", 2)];
    let tree = [queue(group("g"), None, limited(8)), queue(project("a"), None, limited(6))];
    let limit = put(&tree, &queue(project("a"), None, limited(5)), &jobs);
    let said = "`a` uses 6 gpus of `prod`, more than its new maximum of 5: no job starts until";
    one(&limit, "/quotas/prod/limit/gpus", FaultKind::BelowUse, said);
    let alone = Quota { borrow: false, ..guaranteed(4) };
    let borrow = put(&tree, &queue(project("a"), None, alone), &jobs);
    one(&borrow, "/quotas/prod/borrow", FaultKind::BelowUse, "maximum of 4");
    let tight = [queue(group("g"), None, limited(4)), tree[1].clone()];
    let moved = put(&tight, &queue(project("a"), Some("g"), limited(6)), &jobs);
    one(&moved, "/parent", FaultKind::BelowUse, "`g` uses 6 gpus");
    // A queue above the limit may get a slightly higher one.
    let over = [queue(project("a"), None, limited(2))];
    assert_eq!(put(&over, &queue(project("a"), None, limited(3)), &jobs), []);
}

#[test]
fn what_one_borrows_others_lend() {
    let tree = [
        queue(group("g"), None, guaranteed(4)),
        queue(project("a"), Some("g"), guaranteed(4)),
        queue(project("b"), None, guaranteed(2)),
        queue(project("c"), None, Quota::default()),
    ];
    let jobs = [job(1, "c", 5), job(2, "b", 1)];
    let shares = shares(&tree, &rooms(), &jobs, &pool(), &Resource::Gpus);
    let numbers = |queue: Queue| {
        let share = &shares[&queue];
        (share.held, share.borrowed, share.lent)
    };
    // Two of the five have no guarantee; of the other three `g` lends more, because it uses less.
    assert_eq!(numbers(project("c")), (5, 5, 0));
    assert_eq!(numbers(project("b")), (1, 0, 1));
    assert_eq!(numbers(group("g")), (0, 0, 2));
    assert_eq!(numbers(project("a")), (0, 0, 2));
}

#[test]
fn in_a_group_its_own_lend_first() {
    let tree = [
        queue(group("g"), None, guaranteed(6)),
        queue(project("a"), Some("g"), guaranteed(3)),
        queue(project("b"), Some("g"), guaranteed(3)),
        queue(project("c"), None, guaranteed(2)),
    ];
    let shares = shares(&tree, &rooms(), &[job(1, "a", 7)], &pool(), &Resource::Gpus);
    let numbers = |queue: Queue| (shares[&queue].borrowed, shares[&queue].lent);
    assert_eq!(numbers(group("g")), (1, 0));
    assert_eq!(numbers(project("a")), (4, 0));
    assert_eq!(numbers(project("b")), (0, 3));
    assert_eq!(numbers(project("c")), (0, 1));
}

/// A queue's quota in the cluster's pool and, randomly, in that of the node group.
type Quotas = BTreeMap<Pool, Quota>;

fn a_quota() -> impl Strategy<Value = Quota> {
    (0..10_u64, 0..5_u64, prop::option::of(0..12_u64)).prop_map(|(any, typed, limit)| Quota {
        guarantee: [(Resource::Gpus, any), (Resource::GpusOf("h100".into()), typed)].into_iter().collect(),
        limit: limit.map(gpus).unwrap_or_default(),
        ..Quota::default()
    })
}

/// An edit of one of a few queues: its position and quotas, or its removal.
fn an_edit() -> impl Strategy<Value = (Queue, Option<(Option<&'static str>, Quotas)>)> {
    let names = prop::sample::select(vec!["a", "b", "c"]);
    let queue = (any::<bool>(), names.clone())
        .prop_map(|(is_group, name)| if is_group { group(name) } else { project(name) });
    let quotas = (a_quota(), prop::option::of(a_quota())).prop_map(|(all, group)| {
        [(pool(), Some(all)), (cards(), group)]
            .into_iter()
            .filter_map(|(pool, quota)| Some((pool, quota?)))
            .collect()
    });
    (queue, prop::option::weighted(0.9, (prop::option::of(names), quotas)))
}

/// Makes an edit if it has no problems.
fn edited(tree: Vec<QueueRecord>, (name, to): (Queue, Option<(Option<&str>, Quotas)>)) -> Vec<QueueRecord> {
    let mut after: Vec<QueueRecord> = tree.iter().filter(|one| one.queue != name).cloned().collect();
    after.extend(
        to.map(|(parent, quotas)| QueueRecord { quotas, ..queue(name.clone(), parent, Quota::default()) }),
    );
    let rooms = rooms();
    let found = faults(&Edit { before: &tree, after: &after, queue: &name, rooms: &rooms, jobs: &[] });
    if found.is_empty() { after } else { tree }
}

/// A queue's guarantee, in terms of all GPUs in a pool.
fn claimed(one: &QueueRecord, pool: &Pool) -> u64 {
    one.quotas.get(pool).map_or(0, |quota| quota.claimed(&Resource::Gpus))
}

/// Guarantees of a group's children, or of the top-level queues, in terms of all GPUs in a pool.
fn guaranteed_in(tree: &[QueueRecord], parent: Option<&str>, pool: &Pool) -> u64 {
    let inside = tree.iter().filter(|one| one.parent.as_deref() == parent);
    inside.map(|one| claimed(one, pool)).sum()
}

proptest! {
    #[test]
    fn whatever_is_accepted_guarantees_what_there_is(edits in vec(an_edit(), 1..40)) {
        let tree = edits.into_iter().fold(Vec::new(), edited);
        // The node group's GPUs are the cluster's.
        let at_the_top = [pool(), cards()].map(|pool| guaranteed_in(&tree, None, &pool));
        prop_assert!(at_the_top.iter().sum::<u64>() <= 8, "{tree:?}");
        for one in &tree {
            for quota in one.quotas.values() {
                for (resource, amount) in &quota.guarantee.0 {
                    prop_assert!(quota.limit.get(resource).is_none_or(|limit| *amount <= limit));
                }
            }
            let Queue::Group(name) = &one.queue else { continue };
            for pool in [pool(), cards()] {
                prop_assert!(guaranteed_in(&tree, Some(name), &pool) <= claimed(one, &pool), "{tree:?}");
            }
            let mut above = one.parent.clone();
            while let Some(name_above) = above {
                prop_assert_ne!(&name_above, name);
                above = tree.iter().find(|up| up.queue == group(&name_above)).unwrap().parent.clone();
            }
        }
    }

    #[test]
    fn all_that_is_lent_is_borrowed(
        edits in vec(an_edit(), 1..20),
        held in vec((prop::sample::select(vec!["a", "b", "c"]), 1..4_u64), 0..6),
    ) {
        let mut tree = edits.into_iter().fold(Vec::new(), edited);
        for name in ["a", "b", "c"] {
            if tree.iter().all(|one| one.queue != project(name)) {
                tree.push(queue(project(name), None, Quota::default()));
            }
        }
        let jobs: Vec<Job> = (0..).zip(&held).map(|(n, (name, amount))| job(n, name, *amount)).collect();
        let shares = shares(&tree, &rooms(), &jobs, &pool(), &Resource::Gpus);
        let projects = || shares.iter().filter(|(queue, _)| matches!(queue, Queue::Project(_)));
        let borrowed: u64 = projects().map(|(_, share)| share.borrowed).sum();
        let lent: u64 = projects().map(|(_, share)| share.lent).sum();
        prop_assert!(lent <= borrowed, "{shares:?}");
        for share in shares.values() {
            prop_assert!(share.lent <= share.guarantee.saturating_sub(share.held), "{share:?}");
        }
    }
}

#[test]
fn the_least_of_what_is_said_above_bounds_a_priority() {
    let said = |pool: &str, most: i32| {
        (pool.parse::<Pool>().unwrap(), Quota { max_priority: Some(most), ..Quota::default() })
    };
    let record = |queue: Queue, parent: Option<&str>, quotas: Vec<(Pool, Quota)>| QueueRecord {
        queue,
        parent: parent.map(Into::into),
        quotas: quotas.into_iter().collect(),
        revision: 1,
    };
    let queues = [
        record(Queue::Group("all".into()), None, vec![said("prod", 5)]),
        record(Queue::Project("a".into()), Some("all"), vec![said("prod", 9), said("prod/fast", 2)]),
        record(Queue::Project("b".into()), None, vec![said("prod/fast", 3)]),
    ];
    let most = |project: &str, pool: &str| {
        Tree::of(&queues).max_priority(&Queue::Project(project.into()), &pool.parse().unwrap())
    };
    assert_eq!(
        (most("a", "prod"), most("a", "prod/fast"), most("a", "prod/slow")),
        (Some(5), Some(2), Some(5))
    );
    assert_eq!((most("b", "prod"), most("b", "prod/fast"), most("b", "far")), (None, Some(3), None));
    assert_eq!(most("unknown", "prod"), None);
}

#[test]
fn cards_count_as_what_they_can_only_be_also_without_a_type() {
    let h100 = |job: &Job| job.amount(&Resource::GpusOf("h100".into()));
    let untyped = job(1, "a", 3);
    assert_eq!(h100(&untyped), 0);
    let told = untyped.clone().told(&rooms());
    assert_eq!((h100(&told), told.amount(&Resource::Gpus)), (3, 3));
    // With part of it requested by type, the rest.
    let mut both = untyped.clone();
    both.amounts.0.insert(Resource::GpusOf("H100".into()), 2);
    assert_eq!(h100(&both.told(&rooms())), 3);
    // With other types, too, its type is unknown; also if no types are known.
    let cards =
        ["NVIDIA H100", "NVIDIA A100"].map(|name| GpuFacts { name: name.into(), ..GpuFacts::default() });
    let node = NodeFacts { gpus: cards.into(), ..NodeFacts::default() };
    assert_eq!(untyped.clone().told(&[(pool(), Room::of([&node]))].into()), untyped);
    assert_eq!(untyped.clone().told(&Rooms::new()), untyped);
}
