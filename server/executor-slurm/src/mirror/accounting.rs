//! Slurm's accounting through `sacctmgr`: the entries of one cluster.

use std::collections::{BTreeMap, BTreeSet};

use super::wanted::{Account, ROOT, Tres, read, written};
use crate::commands::{Commands, Trouble};

/// The name of Slurm's default quality of service.
const NORMAL: &str = "normal";

/// The accounting of a cluster.
pub struct Accounting<'c> {
    commands: &'c Commands,
    /// The cluster's name in accounting.
    cluster: String,
    /// The description of our accounts, with the name of Cubeloom's cluster: accounts with another
    /// description are not ours. One slurmdbd may have several clusters, including other servers', and a site
    /// may have its own accounts with such names.
    description: String,
}

/// An existing account.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Known {
    parent: String,
    weight: String,
    limit: Tres,
    qos: BTreeSet<String>,
}

/// Existing entries, as far as they are Cubeloom's.
#[derive(Debug, Default)]
pub struct There {
    accounts: BTreeMap<String, Known>,
    /// Other accounts with matching names, and their descriptions.
    others: BTreeMap<String, String>,
    /// By account and user: the limit of the user's jobs in it.
    members: BTreeMap<(String, String), Tres>,
}

impl<'c> Accounting<'c> {
    /// The accounting of the cluster that the commands use, which has this name in Cubeloom.
    pub async fn of(commands: &'c Commands, name: &str) -> Result<Self, Trouble> {
        // Slurm stores it in lower case.
        let description = format!("cubeloom {name}").to_lowercase();
        Ok(Self { commands, cluster: commands.cluster_name().await?, description })
    }

    /// Existing entries, by name prefix and description.
    pub async fn list(&self, prefix: &str) -> Result<There, Trouble> {
        let of = format!("cluster={}", self.cluster);
        let fields = "format=Account,User,ParentName,Fairshare,GrpTRES,QOS";
        let assocs = self.commands.sacctmgr(&["show", "assoc", &of, fields]).await?;
        // Of all clusters: accounts are global.
        let accounts = self.commands.sacctmgr(&["show", "account", "format=Account,Description"]).await?;
        Ok(There::read(&assocs, &accounts, prefix, &self.description))
    }

    /// Creates or updates an account; `qos` is what its users' jobs request.
    pub async fn put_account(
        &self,
        there: &There,
        account: &Account,
        qos: Option<&str>,
    ) -> Result<(), Trouble> {
        for name in [&account.name, &account.parent] {
            // Also create nothing inside one: its limits would apply.
            if let Some(description) = there.others.get(name) {
                let why = format!(
                    "the account `{name}` does not belong to this cluster: its description is `{description}`"
                );
                return Err(Trouble::Refused(why));
            }
        }
        let (name, cluster) = (account.name.as_str(), format!("cluster={}", self.cluster));
        let nothing = Known::default();
        let has = there.accounts.get(name).unwrap_or(&nothing);
        if !there.accounts.contains_key(name) {
            let parent = format!("parent={}", account.parent);
            let description = format!("description={}", self.description);
            let who = [&description, "organization=cubeloom"];
            self.commands.sacctmgr(&["add", "account", name, &cluster, &parent, who[0], who[1]]).await?;
        }
        let mut set = Vec::new();
        if there.accounts.contains_key(name) && has.parent != account.parent {
            set.push(format!("parent={}", account.parent));
        }
        if has.weight != account.weight.to_string() {
            set.push(format!("fairshare={}", account.weight));
        }
        if has.limit != account.limit {
            set.push(format!("GrpTRES={}", written(&has.limit, &account.limit)));
        }
        let needed: Vec<&str> = [NORMAL].into_iter().chain(qos).collect();
        if qos.is_some() && needed.iter().any(|one| !has.qos.contains(*one)) {
            set.push(format!("qos={}", needed.join(",")));
        }
        if !set.is_empty() {
            let of = format!("name={name}");
            let mut words = vec!["modify", "account", "where", &of, &cluster, "set"];
            words.extend(set.iter().map(String::as_str));
            self.commands.sacctmgr(&words).await?;
        }
        for (person, has) in there.members_of(name).filter(|(_, has)| **has != account.per_person) {
            let who = [format!("name={person}"), format!("account={name}"), cluster.clone()];
            let limit = format!("GrpTRES={}", written(has, &account.per_person));
            let words = ["modify", "user", "where", &who[0], &who[1], &who[2], "set", &limit];
            self.commands.sacctmgr(&words).await?;
        }
        Ok(())
    }

    /// Adds a user's account to an account, with this limit.
    pub async fn add(&self, account: &str, person: &str, limit: &Tres) -> Result<(), Trouble> {
        let (account, cluster) = (format!("account={account}"), format!("cluster={}", self.cluster));
        let limit = format!("GrpTRES={}", written(&Tres::new(), limit));
        let mut words = vec!["add", "user", person, &account, &cluster];
        if !limit.ends_with('=') {
            words.push(&limit);
        }
        self.commands.sacctmgr(&words).await.map(drop)
    }

    /// Removes users' associations, named by account and user. Returns those that Slurm does not remove yet,
    /// because they have jobs, by both names.
    pub async fn take_out(
        &self,
        leaving: &BTreeSet<(String, String)>,
    ) -> Result<BTreeMap<String, String>, Trouble> {
        let cluster = format!("cluster={}", self.cluster);
        let mut refused = BTreeMap::new();
        for (account, person) in leaving {
            // Name the account: otherwise Slurm would delete the user.
            let who = [format!("name={person}"), format!("account={account}")];
            match self.commands.sacctmgr(&["delete", "user", "where", &who[0], &who[1], &cluster]).await {
                Err(Trouble::Refused(why)) => {
                    let why =
                        format!("`{person}` has left the project, but stays in its account for now: {why}");
                    // Under a separate name: the account itself is in sync.
                    refused.insert(format!("{account} ({person})"), why);
                }
                done => done.map(drop)?,
            }
        }
        Ok(refused)
    }

    /// Removes obsolete accounts, children first. Returns those that Slurm does not remove yet, because they
    /// have running jobs, by name.
    pub async fn take_away(
        &self,
        there: &There,
        wanted: &[Account],
    ) -> Result<BTreeMap<String, String>, Trouble> {
        let stays = |name: &String| wanted.iter().any(|one| one.name == *name);
        let mut leaving: Vec<&String> = there.accounts.keys().filter(|name| !stays(name)).collect();
        leaving.sort_by_key(|name| std::cmp::Reverse(there.depth(name)));
        let cluster = format!("cluster={}", self.cluster);
        let mut refused = BTreeMap::new();
        for name in leaving {
            let of = format!("name={name}");
            match self.commands.sacctmgr(&["delete", "account", "where", &of, &cluster]).await {
                Err(Trouble::Refused(why)) => _ = refused.insert(name.clone(), why),
                done => done.map(drop)?,
            }
        }
        Ok(refused)
    }
}

impl There {
    fn read(assocs: &str, accounts: &str, prefix: &str, description: &str) -> Self {
        let mut there = Self::default();
        let is_like_ours = |name: &str| {
            name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with("g-") || rest.starts_with("p-"))
        };
        let described: BTreeMap<&str, &str> =
            accounts.lines().filter_map(|line| line.split_once('|')).collect();
        let others = described.iter().filter(|(name, text)| is_like_ours(name) && **text != description);
        there.others = others.map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
        for line in assocs.lines() {
            let [account, user, parent, weight, limit, qos] = line.split('|').collect::<Vec<_>>()[..] else {
                continue;
            };
            if !is_like_ours(account) {
                continue;
            }
            if described.get(account) != Some(&description) {
                // Also one without a description, as when only operators may list accounts.
                there.others.entry(account.to_owned()).or_default();
                continue;
            }
            if !user.is_empty() {
                there.members.insert((account.to_owned(), user.to_owned()), read(limit));
                continue;
            }
            let parent = if parent.is_empty() { ROOT } else { parent };
            let qos = qos.split(',').map(ToOwned::to_owned).collect();
            let known = Known { parent: parent.into(), weight: weight.into(), limit: read(limit), qos };
            there.accounts.insert(account.to_owned(), known);
        }
        there
    }

    /// All pairs of account and user.
    pub fn people(&self) -> BTreeSet<(String, String)> {
        self.members.keys().cloned().collect()
    }

    /// The users of an account, with the limits of their jobs.
    pub fn members_of(&self, account: &str) -> impl Iterator<Item = (&String, &Tres)> {
        let of = self.members.iter().filter(move |((name, _), _)| name == account);
        of.map(|((_, person), limit)| (person, limit))
    }

    /// Depth of an account in the tree.
    fn depth(&self, name: &str) -> usize {
        let above = std::iter::successors(self.accounts.get(name), |one| self.accounts.get(&one.parent));
        above.take(self.accounts.len()).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_such_a_name_and_description_is_ones_own() {
        let assocs = "root||||||\nvision|||1||normal\nvision|ann||1||normal\ncl-g-a||root|100|cpu=4|normal\n\
            cl-p-b||cl-g-a|7|cpu=2,mem=3G|high,normal\ncl-p-b|ann||1|cpu=1|high\n\
            cl-physics||root|1||normal\ncl-p-own||root|1||normal\ncl-p-own|bob||1||normal\ncl-p-x||root|1||normal\n";
        let accounts = "root|default root account\nvision|vision\ncl-g-a|cubeloom hall\ncl-p-b|cubeloom hall\n\
            cl-physics|cubeloom hall\ncl-p-own|the site's\ncl-p-far|cubeloom lab\n";
        let there = There::read(assocs, accounts, "cl-", "cubeloom hall");
        let others: Vec<(&str, &str)> =
            there.others.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        assert_eq!(others, [("cl-p-far", "cubeloom lab"), ("cl-p-own", "the site's"), ("cl-p-x", "")]);
        assert_eq!(there.accounts.keys().collect::<Vec<_>>(), ["cl-g-a", "cl-p-b"]);
        assert_eq!(there.accounts["cl-p-b"].limit, read("cpu=2,mem=3072M"));
        assert_eq!((there.depth("cl-p-b"), there.depth("cl-g-a")), (2, 1));
        assert_eq!(there.people(), [("cl-p-b".to_owned(), "ann".to_owned())].into());
        assert_eq!(there.members_of("cl-p-b").next(), Some((&"ann".to_owned(), &read("cpu=1"))));
    }
}
