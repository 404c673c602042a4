//! The wanted Slurm accounts: the quota tree, as far as it concerns this cluster as a whole. Pure.

use std::collections::BTreeMap;

use cubeloom_domain::quota::tree::Tree;
use cubeloom_domain::quota::{Amounts, Pool, Queue, QueueRecord, Resource};

/// Parent of all top-level accounts.
pub const ROOT: &str = "root";

/// Amounts by Slurm's TRES names: CPUs, MiB, GPUs.
pub type Tres = BTreeMap<String, u64>;

/// An account of Slurm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Its name in Slurm.
    pub name: String,
    /// The group or project.
    pub queue: Queue,
    pub parent: String,
    /// Its share among its siblings.
    pub weight: u32,
    /// The limit of all its jobs together.
    pub limit: Tres,
    /// The limit of one user's jobs in it; projects only.
    pub per_person: Tres,
}

/// The name of a queue's account. A group and a project may have the same name.
pub fn name(prefix: &str, queue: &Queue) -> String {
    let kind = match queue {
        Queue::Group(_) => 'g',
        Queue::Project(_) => 'p',
    };
    // Slurm's names are in lower case.
    format!("{prefix}{kind}-{}", queue.name()).to_lowercase()
}

/// The wanted accounts, parents before children: queues with a quota on this cluster, and the groups above
/// them. Also returns queues without an account, with the reason. Two queues whose names differ only in case
/// must not share an account: children of one would be subject to the other's limits.
pub fn wanted(
    records: &[QueueRecord],
    cluster: &str,
    prefix: &str,
) -> (Vec<Account>, BTreeMap<String, String>) {
    let (tree, pool) = (Tree::of(records), Pool::of(cluster));
    let (mut found, mut refused) = (Vec::<Account>::new(), BTreeMap::new());
    for record in tree.all().filter(|record| record.quotas.contains_key(&pool)) {
        let mut path = tree.above(&record.queue);
        path.reverse();
        for one in path.into_iter().chain([record]) {
            let name = name(prefix, &one.queue);
            if let Some(known) = found.iter().find(|known| known.name == name) {
                if known.queue == one.queue {
                    continue;
                }
                let other = known.queue.name();
                let why = format!(
                    "`{other}` already has an account of this name, because Slurm's names ignore case"
                );
                // Under a separate name: the account itself is in sync.
                refused.insert(format!("{name} ({})", one.queue.name()), why);
                if one.queue != record.queue {
                    let own = format!("{} ({})", self::name(prefix, &record.queue), record.queue.name());
                    refused.insert(own, format!("its parent group `{}` has no account", one.queue.name()));
                }
                break;
            }
            let quota = one.quota(&pool);
            let above = one.parent.clone().map(Queue::Group).filter(|group| tree.get(group).is_some());
            let bounds = [Resource::Cpu, Resource::Memory, Resource::Gpus].into_iter().chain(
                quota.limit.0.keys().filter(|resource| matches!(resource, Resource::GpusOf(_))).cloned(),
            );
            let bounds = bounds.filter_map(|resource| {
                let most = one.most(&pool, &resource)?;
                Some((resource, most))
            });
            found.push(Account {
                name,
                queue: one.queue.clone(),
                parent: above.map_or_else(|| ROOT.to_owned(), |group| self::name(prefix, &group)),
                weight: quota.weight,
                limit: tres(&bounds.collect()),
                per_person: tres(&quota.per_person),
            });
        }
    }
    (found, refused)
}

/// The countable part of amounts: whole CPUs and MiB, rounded up.
fn tres(amounts: &Amounts) -> Tres {
    let counted = amounts.0.iter().filter_map(|(resource, amount)| {
        Some(match resource {
            Resource::Cpu => ("cpu".to_owned(), amount.div_ceil(1000)),
            Resource::Memory => ("mem".to_owned(), amount.div_ceil(1 << 20)),
            Resource::Gpus => ("gres/gpu".to_owned(), *amount),
            Resource::GpusOf(kind) => (format!("gres/gpu:{}", kind.to_lowercase()), *amount),
            Resource::Pods | Resource::Runs => return None,
        })
    });
    counted.collect()
}

/// Parses `cpu=4,gres/gpu=2,mem=1.50G`. Ignores unreadable parts.
pub fn read(text: &str) -> Tres {
    let amount = |text: &str| -> Option<u64> {
        let plain = text.trim_end_matches(|last: char| last.is_ascii_alphabetic());
        let unit: f64 = match text.get(plain.len()..)? {
            "" | "M" => 1.0,
            "K" => 1.0 / 1024.0,
            "G" => 1024.0,
            "T" => 1_048_576.0,
            _ => return None,
        };
        let amount: f64 = plain.parse().ok()?;
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "amounts of a cluster")]
        Some((amount.max(0.0) * unit).round() as u64)
    };
    let entries = text.split(',').filter_map(|entry| {
        let (name, value) = entry.split_once('=')?;
        Some((name.to_owned(), amount(value)?))
    });
    entries.collect()
}

/// The change from `has` to `to_be`, for `sacctmgr`: -1 removes a limit.
pub fn written(has: &Tres, to_be: &Tres) -> String {
    let gone = has.keys().filter(|name| !to_be.contains_key(*name)).map(|name| format!("{name}=-1"));
    to_be.iter().map(|(name, amount)| format!("{name}={amount}")).chain(gone).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::quota::Quota;

    use super::*;

    fn record(queue: Queue, parent: Option<&str>, cluster: &str, quota: Quota) -> QueueRecord {
        let quotas = [(Pool::of(cluster), quota)].into();
        QueueRecord { queue, parent: parent.map(Into::into), quotas, revision: 1 }
    }

    fn amounts(all: &[(Resource, u64)]) -> Amounts {
        all.iter().cloned().collect()
    }

    #[test]
    fn the_tree_becomes_accounts_each_after_the_one_that_it_is_in() {
        let limit = amounts(&[(Resource::Cpu, 1500), (Resource::Memory, 3 << 30), (Resource::Pods, 9)]);
        let per_person = amounts(&[(Resource::GpusOf("H100".into()), 2)]);
        let own = Quota { limit, per_person, weight: 7, ..Quota::default() };
        let kept = Quota { guarantee: amounts(&[(Resource::Gpus, 4)]), borrow: false, ..Quota::default() };
        let records = [
            record(Queue::Project("seg".into()), Some("vision"), "hall", own),
            record(Queue::Project("Other".into()), None, "elsewhere", Quota::default()),
            record(Queue::Group("vision".into()), None, "hall", kept),
        ];
        let (found, refused) = wanted(&records, "hall", "cl-");
        assert!(refused.is_empty(), "{refused:?}");
        let names: Vec<(&str, &str, u32)> =
            found.iter().map(|one| (one.name.as_str(), one.parent.as_str(), one.weight)).collect();
        assert_eq!(names, [("cl-g-vision", "root", 100), ("cl-p-seg", "cl-g-vision", 7)]);
        assert_eq!(written(&Tres::new(), &found[1].limit), "cpu=2,mem=3072");
        assert_eq!(written(&Tres::new(), &found[1].per_person), "gres/gpu:h100=2");
        assert_eq!(found[0].limit.get("gres/gpu"), Some(&4), "what it may not borrow is its bound");
    }

    #[test]
    fn names_that_differ_only_in_capitals_share_no_account() {
        let of = |queue, parent| record(queue, parent, "hall", Quota::default());
        let records = [
            of(Queue::Group("Vision".into()), None),
            of(Queue::Group("vision".into()), None),
            of(Queue::Project("seg".into()), Some("vision")),
            of(Queue::Project("net".into()), Some("Vision")),
        ];
        let (found, refused) = wanted(&records, "hall", "cl-");
        let queues: Vec<&str> = found.iter().map(|one| one.queue.name()).collect();
        assert_eq!(queues, ["Vision", "net"]);
        assert_eq!(refused.keys().collect::<Vec<_>>(), ["cl-g-vision (vision)", "cl-p-seg (seg)"]);
        assert!(refused["cl-g-vision (vision)"].contains("`Vision`"), "{refused:?}");
    }

    #[test]
    fn amounts_are_read_as_slurm_writes_them_and_bounds_are_taken_away() {
        let has = read("cpu=4,gres/gpu=2,mem=3G,node=x,billing");
        assert_eq!(has, read("cpu=4,gres/gpu=2,mem=3072M"));
        assert_eq!(read("mem=1.50T")["mem"], 1_572_864);
        assert_eq!(written(&has, &read("cpu=4")), "cpu=4,gres/gpu=-1,mem=-1");
    }
}
