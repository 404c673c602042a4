//! Quotas as queues, and the steps to them, against a fake of Volcano's webhook rules (v1.14.1,
//! `pkg/webhooks/admission/queues/validate`).

use std::collections::BTreeMap;

use cubeloom_domain::executor::{Facts, GpuFacts, NodeFacts};
use cubeloom_domain::kubernetes::CardFacts;
use cubeloom_domain::quota::{Pool, Queue, QueueRecord, Quota};
use cubeloom_domain::{Bytes, Cpu};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::steps::{Step, steps};
use super::wanted::{Amounts, ROOT, Spec, Wanted, wanted};
use super::{read, written};

const GIB: u64 = 1 << 30;

/// Two nodes with 32 cores, 128 GiB and 8 GPUs each; one belongs to the node group `a100`.
fn facts() -> Facts {
    let node = |name: &str, groups: &[&str]| NodeFacts {
        name: name.into(),
        cpu: Cpu(32_000),
        memory: Bytes(128 * GIB),
        gpus: vec![GpuFacts::default(); 8],
        groups: groups.iter().map(|&group| group.into()).collect(),
        ..NodeFacts::default()
    };
    Facts {
        cluster: "prod".into(),
        nodes: vec![node("a", &["a100"]), node("b", &[])],
        node_groups: vec!["a100".into()],
        ..Facts::default()
    }
}

fn record(queue: Queue, parent: Option<&str>, quotas: &[(&str, Value)]) -> QueueRecord {
    let quota = |(pool, quota): &(&str, Value)| -> (Pool, Quota) {
        (pool.parse().unwrap(), serde_json::from_value(quota.clone()).unwrap())
    };
    QueueRecord {
        queue,
        parent: parent.map(Into::into),
        quotas: quotas.iter().map(quota).collect(),
        revision: 1,
    }
}

fn group(name: &str, parent: Option<&str>, quotas: &[(&str, Value)]) -> QueueRecord {
    record(Queue::Group(name.into()), parent, quotas)
}

fn project(name: &str, parent: Option<&str>, quotas: &[(&str, Value)]) -> QueueRecord {
    record(Queue::Project(name.into()), parent, quotas)
}

fn amounts(amounts: &[(&str, u64)]) -> Amounts {
    amounts.iter().map(|&(name, amount)| (name.to_owned(), amount)).collect()
}

fn spec_of(wanted: &[Wanted], name: &str) -> Spec {
    wanted.iter().find(|one| one.name == name).unwrap_or_else(|| panic!("there is no {name}")).spec.clone()
}

#[test]
fn a_tree_becomes_queues_in_each_other() {
    let records = [
        group("vision", None, &[("prod", json!({"guarantee": {"gpus": 8, "cpu": "16"}, "weight": 300}))]),
        project("ads", None, &[("elsewhere", json!({"guarantee": {"gpus": 1}}))]),
        project("quiet", Some("vision"), &[]),
        project("shop", Some("vision"), &[("prod", json!({"guarantee": {"gpus": 4}, "lend": false}))]),
    ];
    let wanted = wanted(&records, &facts(), &CardFacts::default());
    let names: Vec<&str> = wanted.iter().map(|one| one.name.as_str()).collect();
    // `ads` has no quota on this cluster; a project in a group with a quota counts to it.
    assert_eq!(names, ["cubeloom-group-vision", "cubeloom-project-quiet", "cubeloom-project-shop"]);
    let vision = spec_of(&wanted, "cubeloom-group-vision");
    assert_eq!((vision.parent.as_str(), vision.weight), (ROOT, 300));
    assert_eq!(vision.deserved, amounts(&[("cpu", 16_000), ("nvidia.com/gpu", 8)]));
    // Lent resources may be in use by others meanwhile. Resources not lent must be available.
    assert_eq!(vision.guarantee, amounts(&[("nvidia.com/gpu", 4)]));
    assert_eq!(vision.capability, Amounts::new());
    let shop = spec_of(&wanted, "cubeloom-project-shop");
    assert_eq!((shop.parent.as_str(), shop.weight), ("cubeloom-group-vision", 100));
    assert_eq!((&shop.guarantee, &shop.deserved), (&vision.guarantee, &vision.guarantee));
    assert_eq!(spec_of(&wanted, "cubeloom-project-quiet").deserved, Amounts::new());
}

#[test]
fn a_limit_bounds_where_all_pools_have_one() {
    let own = json!({"guarantee": {"cpu": "2"}, "limit": {"gpus": 2, "cpu": "4"}});
    let records = [
        project("both", None, &[("prod", own.clone()), ("prod/a100", json!({"limit": {"gpus": 3}}))]),
        project("none", None, &[("prod/a100", json!({"borrow": false})), ("prod", json!({"borrow": false}))]),
        project("one", None, &[("prod", own)]),
    ];
    let wanted = wanted(&records, &facts(), &CardFacts::default());
    let all = [("cpu", 64_000), ("memory", 256 * GIB), ("nvidia.com/gpu", 5)];
    assert_eq!(spec_of(&wanted, "cubeloom-project-both").capability, amounts(&all));
    // A zero limit would mean no limit.
    let least = [("cpu", 1), ("memory", 1), ("nvidia.com/gpu", 1)];
    assert_eq!(spec_of(&wanted, "cubeloom-project-none").capability, amounts(&least));
    assert_eq!(spec_of(&wanted, "cubeloom-project-one").capability, Amounts::new());
}

#[test]
fn cards_of_a_type_are_cards_and_slices_are_resources_of_their_own() {
    let said = json!({"guarantee": {"gpus": 1, "gpus/H100": 2, "gpus/A100": 1, "gpus/1g.10gb": 7}});
    let cards = CardFacts { mig: vec!["1g.10gb".into()], ..CardFacts::default() };
    let wanted = wanted(&[project("shop", None, &[("prod", said)])], &facts(), &cards);
    let expected = amounts(&[("nvidia.com/gpu", 3), ("nvidia.com/mig-1g.10gb", 7)]);
    assert_eq!(wanted[0].spec.deserved, expected);
}

#[test]
fn a_limit_of_a_group_bounds_what_is_in_it() {
    let records = [
        group("vision", None, &limits(6)),
        project("shop", Some("vision"), &limits(10)),
        project("free", Some("vision"), &[]),
    ];
    let wanted = wanted(&records, &facts(), &CardFacts::default());
    assert_eq!(spec_of(&wanted, "cubeloom-project-shop").capability["nvidia.com/gpu"], 12);
    assert_eq!(spec_of(&wanted, "cubeloom-project-free").capability, Amounts::new());
}

/// GPU limits of the whole cluster and of the node group.
fn limits(cards: u64) -> [(&'static str, Value); 2] {
    ["prod", "prod/a100"].map(|pool| (pool, json!({"limit": {"gpus": cards}})))
}

#[test]
fn a_long_name_is_cut_and_stays_its_own() {
    let long = |end: &str| Queue::Project(format!("{}{end}", "a".repeat(60)));
    let names = ["b", "c"].map(|end| cubeloom_domain::kubernetes::queue_name(&long(end)));
    assert_ne!(names[0], names[1]);
    assert!(names.iter().all(|name| name.len() == 63), "{names:?}");
}

#[test]
fn a_queue_is_read_as_it_is_written() {
    let said = json!({"guarantee": {"gpus": 1, "cpu": "1500m", "memory": "3Gi"}, "lend": false, "limit": {"cpu": 3}});
    let pools = [("prod", said.clone()), ("prod/a100", said)];
    let one = wanted(&[project("shop", None, &pools)], &facts(), &CardFacts::default()).remove(0);
    let step = Step { name: one.name, queue: Some(one.queue), spec: one.spec };
    let object = written(&step, "jobs");
    assert_eq!(object["metadata"]["annotations"]["cubeloom/project"], "shop");
    assert_eq!(
        object["spec"]["guarantee"]["resource"],
        json!({"cpu": "3", "memory": "6Gi", "nvidia.com/gpu": "2"})
    );
    assert_eq!(read(&serde_json::from_value(object).unwrap()), step.spec);
}

/// Whether one has less of some resource than the other; absent counts as zero.
fn less(one: &Amounts, other: &Amounts) -> bool {
    other.iter().any(|(name, amount)| one.get(name).copied().unwrap_or(0) < *amount)
}

fn together<'s>(queues: impl Iterator<Item = &'s Spec>, part: fn(&Spec) -> &Amounts) -> Amounts {
    queues.flat_map(part).fold(Amounts::new(), |mut sum, (name, amount)| {
        *sum.entry(name.clone()).or_default() += amount;
        sum
    })
}

/// The webhook's refusal of a queue, given the existing ones.
fn refused(there: &BTreeMap<String, Spec>, name: &str, spec: &Spec) -> Option<String> {
    let Spec { parent, guarantee, deserved, capability, .. } = spec;
    if !capability.is_empty() && (less(capability, deserved) || less(capability, guarantee)) {
        return Some(format!("{name}: more than its capability"));
    }
    if !guarantee.is_empty() && less(deserved, guarantee) {
        return Some(format!("{name}: guarantee above deserved"));
    }
    let mut after = there.clone();
    after.insert(name.to_owned(), spec.clone());
    let mut families = vec![name];
    if parent != ROOT {
        if !there.contains_key(parent) {
            return Some(format!("{name}: no parent {parent}"));
        }
        families.push(parent);
    }
    families.into_iter().find_map(|family| {
        let own = &after[family];
        let inside: Vec<&Spec> = after.values().filter(|one| one.parent == family).collect();
        if inside.iter().any(|one| less(&own.capability, &one.capability)) {
            return Some(format!("{family}: less capability than in it"));
        }
        let parts: [fn(&Spec) -> &Amounts; 2] = [|one| &one.guarantee, |one| &one.deserved];
        let is_over = |part: fn(&Spec) -> &Amounts| {
            let sum = together(inside.iter().copied(), part);
            let limit = if part(own).is_empty() { &own.capability } else { part(own) };
            !limit.is_empty() && less(limit, &sum)
        };
        parts.into_iter().any(is_over).then(|| format!("{family}: more in it than it has"))
    })
}

/// Applies the steps, and returns the resulting queues.
fn taken(mut there: BTreeMap<String, Spec>, steps: Vec<Step>) -> Result<BTreeMap<String, Spec>, String> {
    for step in steps {
        if let Some(why) = refused(&there, &step.name, &step.spec) {
            return Err(format!("{why}, of {:?} on {there:?}", step.spec));
        }
        there.insert(step.name, step.spec);
    }
    Ok(there)
}

fn quota() -> impl Strategy<Value = Value> {
    let bounds = (0u64..12, 0u64..12, prop::option::of(0u64..20), prop::option::of(0u64..20));
    (bounds, any::<bool>(), any::<bool>(), 1u32..1000).prop_map(|(amounts, lend, borrow, weight)| {
        let (cpu, cards, most_cpu, most_cards) = amounts;
        let mut limit = serde_json::Map::new();
        limit.extend(most_cpu.map(|cpu| ("cpu".to_owned(), cpu.into())));
        limit.extend(most_cards.map(|cards| ("gpus".to_owned(), cards.into())));
        let guarantee = json!({"cpu": cpu, "gpus": cards});
        json!({"guarantee": guarantee, "limit": limit, "lend": lend, "borrow": borrow, "weight": weight})
    })
}

/// Four groups, each at the top level or in an earlier one, and five projects anywhere. Quotas are arbitrary,
/// including ones that validation would refuse.
fn tree() -> impl Strategy<Value = Vec<QueueRecord>> {
    let one = || (any::<prop::sample::Index>(), prop::option::of(quota()), prop::option::of(quota()));
    prop::collection::vec(one(), 9).prop_map(|all| {
        let records = all.into_iter().enumerate().map(|(at, (place, whole, part))| {
            let place = place.index(at.min(4) + 1);
            let parent = place.checked_sub(1).map(|before| format!("g{before}"));
            let pools = [("prod", whole), ("prod/a100", part)];
            let quotas: Vec<(&str, Value)> =
                pools.into_iter().filter_map(|(pool, quota)| Some((pool, quota?))).collect();
            match at {
                0..4 => group(&format!("g{at}"), parent.as_deref(), &quotas),
                _ => project(&format!("p{at}"), parent.as_deref(), &quotas),
            }
        });
        records.collect()
    })
}

proptest! {
    #[test]
    fn every_step_from_one_tree_to_another_is_taken(before in tree(), after in tree(), broken in 0usize..20) {
        let of = |tree: &[QueueRecord]| wanted(tree, &facts(), &CardFacts::default());
        let (before, after) = (of(&before), of(&after));
        let there = taken(BTreeMap::new(), steps(&BTreeMap::new(), &before)).map_err(TestCaseError::fail)?;
        // An interruption at any step must be recoverable.
        let mut first = steps(&there, &after);
        first.truncate(broken);
        let there = taken(there, first).map_err(TestCaseError::fail)?;
        let there = taken(there.clone(), steps(&there, &after)).map_err(TestCaseError::fail)?;
        prop_assert_eq!(steps(&there, &after), Vec::new());
        for one in &after {
            prop_assert_eq!(there.get(&one.name), Some(&one.spec));
        }
        let gone = there.iter().filter(|(name, _)| !after.iter().any(|one| one.name == **name));
        for (_, spec) in gone {
            prop_assert_eq!(spec, &Spec::empty());
        }
    }
}
