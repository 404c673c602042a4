//! The accounts that a cluster's jobs run as.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::is_account;

/// The entry of `accounts` for users without one of their own.
const OTHERS: &str = "*";
/// Placeholder for the user's name in it.
const PERSON: &str = "{person}";

/// The accounts that a cluster's jobs run as.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SlurmWay {
    /// The account of each user's jobs, by the user's name here. `*` applies to users without an entry:
    /// `{person}` is replaced by the user's name. A user without an account runs nothing there.
    pub accounts: BTreeMap<String, String>,
    /// The account for runs without a user (schedules, hooks, tokens of a project), by project.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub projects: BTreeMap<String, String>,
    /// Was configured here once, and is in the server's settings now.
    #[serde(rename = "become", skip_serializing_if = "Option::is_none")]
    become_account: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    conf: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<Value>,
}

impl SlurmWay {
    #[must_use]
    pub fn of_accounts(accounts: BTreeMap<String, String>) -> Self {
        Self { accounts, ..Self::default() }
    }

    /// The account of a user's jobs, and the entry of `accounts` that defines it: their own entry comes
    /// before the rule `*`. The rule gives no account for a name that would result in an invalid account, or
    /// in root.
    #[must_use]
    pub fn account_of(&self, person: &str) -> Option<(&str, String)> {
        let own = self.accounts.get_key_value(person).filter(|(name, _)| *name != OTHERS);
        if let Some((name, account)) = own {
            return Some((name.as_str(), account.clone()));
        }
        let account = self.accounts.get(OTHERS)?.replace(PERSON, person);
        is_account(&account).then_some((OTHERS, account))
    }

    /// The accounts in entries, without those from the rule `*`.
    pub fn named(&self) -> impl Iterator<Item = (&str, &str)> {
        let named = self.accounts.iter().filter(|(name, _)| *name != OTHERS);
        named.map(|(name, account)| (name.as_str(), account.as_str()))
    }

    /// Whether the rule `*` gives an account to any user. Slurm stores names in lower case, so they are
    /// compared that way.
    #[must_use]
    pub fn rule_gives(&self, account: &str) -> bool {
        let rule = self.accounts.get(OTHERS).map(|rule| rule.to_lowercase());
        let Some((before, behind)) = rule.as_deref().and_then(|rule| rule.split_once(PERSON)) else {
            return false;
        };
        let lower = account.to_lowercase();
        let person = lower.strip_prefix(before).and_then(|rest| rest.strip_suffix(behind));
        is_account(account) && person.is_some_and(|person| !person.is_empty())
    }

    /// Problems, one sentence each that begins with the field.
    #[must_use]
    pub fn mistakes(&self) -> Vec<String> {
        let programs = [("become", &self.become_account), ("conf", &self.conf), ("path", &self.path)];
        let said = programs.into_iter().filter(|(_, value)| value.is_some());
        let mut found: Vec<String> = said
            .map(|(field, _)| {
                format!(
                    "{field}: it can be set only in the server's settings, in the cluster's section: remove it"
                )
            })
            .collect();
        let fields = [("accounts", &self.accounts), ("projects", &self.projects)];
        for (field, name, account) in fields
            .into_iter()
            .flat_map(|(field, all)| all.iter().map(move |(name, account)| (field, name, account)))
        {
            if field == "accounts" && name == OTHERS {
                if !is_rule(account) {
                    found.push(format!(
                        "{field}.{name}: write `{PERSON}` once, for the user's name, and otherwise only letters, digits and `._-+`"
                    ));
                }
            } else if !is_account(account) {
                found.push(format!(
                    "{field}.{name}: write an account name: a letter or `_`, then letters, digits and `._-+`; not a number, and not `root`"
                ));
            }
        }
        found
    }
}

/// Whether a text converts names of users to names of accounts.
fn is_rule(text: &str) -> bool {
    text.matches(PERSON).count() == 1 && is_account(&text.replace(PERSON, "p"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(mistakes: &[String]) -> Vec<&str> {
        mistakes.iter().map(|text| text.split(": ").next().unwrap()).collect()
    }

    #[test]
    fn an_account_has_a_name_that_is_no_option_no_number_and_not_roots() {
        let accounts =
            [("ann", "-x"), ("bob", "root"), ("cid", "1000"), ("dot", ".a"), ("eve", "eve-2"), ("fox", "")];
        let way = SlurmWay {
            accounts: accounts.map(|(person, account)| (person.to_owned(), account.to_owned())).into(),
            projects: [("vision".to_owned(), "0".to_owned()), ("audio".to_owned(), "svc-audio".to_owned())]
                .into(),
            ..SlurmWay::default()
        };
        let wrong = [
            "accounts.ann",
            "accounts.bob",
            "accounts.cid",
            "accounts.dot",
            "accounts.fox",
            "projects.vision",
        ];
        assert_eq!(fields(&way.mistakes()), wrong);
    }

    fn by_rule(rule: &str) -> SlurmWay {
        let accounts = [("*", rule), ("bob", "rlee")];
        let accounts = accounts.map(|(name, account)| (name.to_owned(), account.to_owned()));
        SlurmWay::of_accounts(accounts.into())
    }

    #[test]
    fn whom_no_entry_names_has_the_account_that_the_rule_makes_of_the_name() {
        let way = by_rule("{person}");
        assert_eq!(way.mistakes(), Vec::<String>::new());
        let of = |person: &str| way.account_of(person);
        assert_eq!(of("ann"), Some(("*", "ann".to_owned())));
        assert_eq!(of("bob"), Some(("bob", "rlee".to_owned())), "their own entry goes before it");
        for nobody in ["root", "*", "", "1000", "-x", ".a", "a b", "a;b", "a@b", "schedule:nightly"] {
            assert_eq!(of(nobody), None, "{nobody:?}");
        }
        assert_eq!(by_rule("roo{person}").account_of("t"), None, "no rule makes root");
        assert_eq!(by_rule("u-{person}").account_of("7"), Some(("*", "u-7".to_owned())));
        assert_eq!(SlurmWay::default().account_of("ann"), None, "there is no rule");
        assert_eq!(way.named().collect::<Vec<_>>(), [("bob", "rlee")]);
    }

    #[test]
    fn a_rule_has_the_persons_name_in_it_once() {
        for wrong in ["ann", "", "*", "{person}{person}", "1{person}", "-{person}", "{person} x", "{user}"] {
            assert_eq!(fields(&by_rule(wrong).mistakes()), ["accounts.*"], "{wrong:?}");
        }
        for well in ["{person}", "u-{person}", "{person}.x"] {
            assert_eq!(by_rule(well).mistakes(), Vec::<String>::new(), "{well:?}");
        }
        let way = by_rule("U-{person}");
        let given: Vec<&str> =
            ["u-ann", "U-Bob", "u-", "ann", "root"].into_iter().filter(|name| way.rule_gives(name)).collect();
        assert_eq!(given, ["u-ann", "U-Bob"]);
        assert!(by_rule("{person}").rule_gives("ann") && !by_rule("{person}").rule_gives("root"));
        assert!(!SlurmWay::default().rule_gives("ann"));
        // A rule applies to users' names only.
        let way =
            SlurmWay { projects: [("*".to_owned(), "{person}".to_owned())].into(), ..SlurmWay::default() };
        assert_eq!(fields(&way.mistakes()), ["projects.*"]);
    }

    #[test]
    fn programs_are_none_of_who_adds_a_cluster() {
        let said =
            serde_json::json!({"become": ["sh", "{account}"], "path": "/tmp", "conf": "/tmp/slurm.conf"});
        let way: SlurmWay = serde_json::from_value(said).unwrap();
        assert_eq!(fields(&way.mistakes()), ["become", "conf", "path"]);
    }
}
