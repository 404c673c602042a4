//! Standby nodes of a node group: they stay empty as long as all others of the group are healthy, and replace
//! those that are not.

use std::collections::{BTreeMap, BTreeSet};

/// A node, as far as standby nodes are concerned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    pub name: String,
    /// Its groups, or those it would have if it were healthy.
    pub groups: Vec<String>,
    /// Whether jobs may go there: it is neither unreachable nor cordoned.
    pub is_well: bool,
}

/// The current standby nodes, sorted by name. `wanted` is the number per group; `spares` and `used` are the
/// nodes that were standby, or not, before. A standby node stays one, and a recovered node becomes one before
/// another with jobs. A group keeps at least one node for jobs.
#[must_use]
pub fn spares(
    wanted: &BTreeMap<String, u32>,
    members: &[Member],
    spares: &[String],
    used: &BTreeSet<&str>,
) -> Vec<String> {
    let mut found = BTreeSet::new();
    for (group, count) in wanted.iter().filter(|(_, count)| **count > 0) {
        let of_group = || members.iter().filter(|member| member.groups.contains(group));
        let away = of_group().filter(|member| !member.is_well).count();
        let mut well: Vec<&str> =
            of_group().filter(|member| member.is_well).map(|member| member.name.as_str()).collect();
        let kept = (*count as usize).saturating_sub(away).min(well.len().saturating_sub(1));
        let was_spare = |name: &str| spares.iter().any(|spare| spare == name);
        // A standby node of one of its groups also serves the other.
        well.sort_by_key(|name| {
            let is_new = !used.contains(name);
            (std::cmp::Reverse((found.contains(*name), was_spare(name), is_new)), std::cmp::Reverse(*name))
        });
        found.extend(well.into_iter().take(kept).map(str::to_owned));
    }
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(spares: u32) -> BTreeMap<String, u32> {
        BTreeMap::from([("cards".to_owned(), spares)])
    }

    /// The nodes `a` to `e`, with these unreachable.
    fn five(away: &[&str]) -> Vec<Member> {
        let member = |name: &str| Member {
            name: name.into(),
            groups: vec!["cards".into()],
            is_well: !away.contains(&name),
        };
        ["a", "b", "c", "d", "e"].map(member).to_vec()
    }

    fn now(spares: u32, away: &[&str], before: &[&str]) -> Vec<String> {
        let before: Vec<String> = before.iter().map(|name| (*name).to_owned()).collect();
        let used = ["a", "b", "c", "d", "e"].into_iter().filter(|name| !before.iter().any(|one| one == name));
        let used = if before.is_empty() { BTreeSet::new() } else { used.collect() };
        super::spares(&groups(spares), &five(away), &before, &used)
    }

    #[test]
    fn a_spare_takes_the_place_of_each_node_that_is_away() {
        assert_eq!(now(2, &[], &[]), ["d", "e"]);
        assert_eq!(now(2, &["b"], &["d", "e"]).len(), 1, "one of them works");
        assert!(now(2, &["a", "b"], &["d", "e"]).is_empty());
        assert!(now(2, &["a", "b", "c"], &["d", "e"]).is_empty(), "there are no more");
        assert!(now(2, &["e"], &["d", "e"]) == ["d"], "one that is away itself is none");
        assert!(now(0, &[], &["d", "e"]).is_empty());
    }

    #[test]
    fn who_is_a_spare_stays_one_and_who_comes_back_becomes_one() {
        assert_eq!(now(2, &[], &["a", "b"]), ["a", "b"]);
        // `b` was unreachable and `d` replaced it: `b` is empty.
        let used = BTreeSet::from(["a", "c", "d"]);
        let before = ["e".to_owned()];
        assert_eq!(spares(&groups(2), &five(&[]), &before, &used), ["b", "e"]);
    }

    #[test]
    fn a_group_keeps_a_node_for_jobs() {
        assert_eq!(now(9, &[], &[]).len(), 4);
        assert!(now(9, &["a", "b", "c", "d"], &[]).is_empty());
    }

    #[test]
    fn a_node_of_two_groups_is_a_spare_of_both() {
        let mut both = groups(1);
        both.insert("all".to_owned(), 2);
        let mut members = five(&[]);
        members.iter_mut().for_each(|member| member.groups.push("all".into()));
        members[4].groups = vec!["all".into()];
        assert_eq!(spares(&both, &members, &[], &BTreeSet::new()), ["d", "e"]);
    }
}
