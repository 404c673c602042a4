//! Users in a project's account who no longer have access to the project.

use std::collections::{BTreeMap, BTreeSet};

use cubeloom_domain::slurm::SlurmWay;

use super::Open;
use super::accounting::There;
use crate::config::SlurmConfig;

/// By account and user's account: users to remove from projects' accounts. If a project's users are unknown,
/// none are removed.
pub async fn left(
    config: &SlurmConfig,
    open: &BTreeMap<String, Open>,
    there: &There,
) -> BTreeSet<(String, String)> {
    let mut left = BTreeSet::new();
    let Some(people_of) = &config.people else { return left };
    for (project, open) in open {
        let are_in: Vec<String> = there.members_of(&open.account).map(|(person, _)| person.clone()).collect();
        if are_in.is_empty() {
            continue;
        }
        match people_of(project.clone()).await {
            Ok(people) => {
                let gone = gone(&config.way, project, &people, are_in);
                left.extend(gone.into_iter().map(|person| (open.account.clone(), person)));
            }
            Err(why) => {
                tracing::warn!(
                    cluster = config.name,
                    project,
                    why,
                    "the members of a project are unknown now"
                );
            }
        }
    }
    left
}

/// Users in a project's account whose jobs run on this cluster, but no longer for this project. Users whom
/// the settings do not know were added by someone else.
fn gone(way: &SlurmWay, project: &str, people: &BTreeSet<String>, are_in: Vec<String>) -> Vec<String> {
    // Slurm stores them in lower case.
    let named = way.named().map(|(_, account)| account);
    let known: BTreeSet<String> = named
        .chain(way.projects.values().map(String::as_str))
        .map(|account| account.to_lowercase())
        .collect();
    let of_people = people.iter().filter_map(|person| way.account_of(person));
    let stay: BTreeSet<String> = of_people
        .map(|(_, account)| account)
        .chain(way.projects.get(project).cloned())
        .map(|account| account.to_lowercase())
        .collect();
    let leaves = |person: &String| {
        // With the wildcard rule, jobs may run as any user's account.
        let is_known = known.contains(&person.to_lowercase()) || way.rule_gives(person);
        is_known && !stay.contains(&person.to_lowercase())
    };
    are_in.into_iter().filter(leaves).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(all: &[&str]) -> Vec<String> {
        all.iter().map(|one| (*one).to_owned()).collect()
    }

    #[test]
    fn who_is_in_the_project_no_more_leaves_its_account() {
        let of = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(name, account)| ((*name).to_owned(), (*account).to_owned())).collect()
        };
        let mut way = SlurmWay::of_accounts(of(&[
            ("ann", "ann"),
            ("bob", "RLee"),
            ("eve", "eve"),
            ("tom", "lab"),
            ("pia", "lab"),
        ]));
        way.projects = of(&[("seg", "svc-seg"), ("net", "svc-net")]);
        let are_in = names(&["ann", "rlee", "eve", "lab", "svc-seg", "svc-net", "guest"]);
        let people: BTreeSet<String> = ["bob", "pia", "nobody"].map(ToOwned::to_owned).into();
        let left = gone(&way, "seg", &people, are_in.clone());
        assert_eq!(left, ["ann", "eve", "svc-net"], "`guest` was put there by hand");
        let all = gone(&way, "other", &BTreeSet::new(), are_in);
        assert_eq!(all, ["ann", "rlee", "eve", "lab", "svc-seg", "svc-net"]);
    }

    #[test]
    fn where_names_are_equal_whoever_is_in_the_project_no_more_leaves_its_account() {
        let accounts = [("*", "u-{person}"), ("bob", "rlee")];
        let accounts = accounts.map(|(name, account)| (name.to_owned(), account.to_owned()));
        let way = SlurmWay::of_accounts(accounts.into());
        let people: BTreeSet<String> = ["ann", "bob"].map(ToOwned::to_owned).into();
        let are_in = names(&["u-ann", "rlee", "u-eve", "u-bob", "guest"]);
        let left = gone(&way, "seg", &people, are_in);
        assert_eq!(left, ["u-eve", "u-bob"], "another account than theirs is none that stays");
    }
}
