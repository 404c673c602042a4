//! Names: an attempt's manifests have valid names on Kubernetes, which never change and are unique.

use std::collections::BTreeSet;

use cubeloom_domain::{AttemptKey, RunId, Timestamp};
use proptest::prelude::*;

fn key(entropy: u64, task: &str, instance: u32, n: u32) -> AttemptKey {
    let run = RunId::new(Timestamp(1_784_097_000_000_000), entropy.into());
    AttemptKey { run, task: task.to_owned(), instance, n }
}

/// DNS-1035: required of a job's name by Services and the operators' webhooks.
pub fn is_dns_1035(name: &str) -> bool {
    (1..=63).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && !name.ends_with('-')
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

proptest! {
    #[test]
    fn every_name_is_taken_and_leaves_room_for_roles_and_indexes(
        entropy: u64, task in "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", instance: u32, n: u32
    ) {
        let name = key(entropy, &task, instance, n).object_name();
        prop_assert_eq!(&name, &key(entropy, &task, instance, n).object_name());
        prop_assert!(is_dns_1035(&name), "{}", name);
        // The longest derived name: a pod of the role with the longest name.
        let pod = format!("{name}-evaluator-{}", u32::MAX);
        prop_assert!(is_dns_1035(&pod), "{}", pod);
    }
}

#[test]
fn no_two_attempts_share_a_name() {
    let mut names = BTreeSet::new();
    for entropy in 0..10 {
        for task in ["a", "the-same-sixteen-letters-1", "the-same-sixteen-letters-2", "0"] {
            for instance in 0..50 {
                for n in 1..5 {
                    assert!(names.insert(key(entropy, task, instance, n).object_name()));
                }
            }
        }
    }
}
