//! The tree of quotas as Slurm's accounts, so that who goes to Slurm directly is bound as well, and
//! `sshare` shows the same picture. Who of Cubeloom's jobs starts is decided before they come here.
//!
//! What is there is listed and compared whenever the tree has changed, and once a minute. Only entries whose names begin as
//! the cluster's settings say are touched. What Slurm does not take is told; jobs go on with the account that the cluster's
//! facts name.

mod accounting;
mod wanted;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cubeloom_domain::clusters::{Finding, Subject};
use cubeloom_domain::quota::{Queue, QueueRecord};
use tokio::sync::Notify;

use crate::cluster::Cluster;
use crate::commands::Trouble;

use accounting::Accounting;
use wanted::{Tres, wanted};

/// How often what is there is compared.
const LOOK: Duration = Duration::from_secs(60);

/// The accounts of a cluster.
#[derive(Default)]
pub struct Mirror {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    /// The tree, once it was told.
    tree: Option<Arc<Vec<QueueRecord>>>,
    /// By project: its account, which is as it is to be.
    open: BTreeMap<String, Open>,
    /// The accounts of people that are in an account, with its name.
    members: BTreeSet<(String, String)>,
    /// By name: what Slurm said of an entry that it did not take.
    refused: BTreeMap<String, String>,
}

/// A project's account.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Open {
    account: String,
    /// What one person may hold of it.
    per_person: Tres,
}

impl Mirror {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in the tree.
    pub fn share(&self, tree: &Arc<Vec<QueueRecord>>) {
        self.state().tree = Some(Arc::clone(tree));
        self.changed.notify_one();
    }

    /// The accounts that are as they are to be, and what Slurm does not take.
    pub fn findings(&self) -> Vec<Finding> {
        let state = self.state();
        let finding = |name: &String, detail: Option<String>| Finding {
            subject: Subject::Queue,
            name: name.clone(),
            found: detail.is_none(),
            detail,
        };
        let open = state.open.values().map(|open| &open.account);
        let open = open.filter(|name| !state.refused.contains_key(*name)).map(|name| finding(name, None));
        open.chain(state.refused.iter().map(|(name, why)| finding(name, Some(why.clone())))).collect()
    }
}

/// Keeps the accounts like the tree for as long as the server runs.
pub async fn keep(cluster: Arc<Cluster>) {
    let mut look = tokio::time::interval(LOOK);
    loop {
        tokio::select! {
            _ = look.tick() => {}
            () = cluster.mirror.changed.notified() => {}
        }
        let Some(tree) = cluster.mirror.state().tree.clone() else { continue };
        if let Err(Trouble::Away(why) | Trouble::Refused(why)) = follow(&cluster, &tree).await {
            // Nothing is known of what is there: what was given stays given.
            note(&cluster, [("accounts".to_owned(), why)].into());
        }
    }
}

/// Notes what Slurm does not take; each reason is logged once.
fn note(cluster: &Cluster, refused: BTreeMap<String, String>) {
    let mut state = cluster.mirror.state();
    for (name, why) in refused.iter().filter(|(name, why)| state.refused.get(*name) != Some(*why)) {
        tracing::warn!(cluster = cluster.config.name, name, why, "an account is not as the quotas say");
    }
    state.refused = refused;
}

/// Makes the accounts what they are to be, and notes what was refused.
async fn follow(cluster: &Cluster, tree: &[QueueRecord]) -> Result<(), Trouble> {
    let Some(mirror) = &cluster.config.mirror else { return Ok(()) };
    let accounting = Accounting::of(&cluster.commands).await?;
    let there = accounting.list(&mirror.prefix).await?;
    let wanted = wanted(tree, &cluster.config.name, &mirror.prefix);
    let (mut refused, mut open) = (BTreeMap::new(), BTreeMap::new());
    for account in &wanted {
        // What people's jobs ask for must be open to them here as well.
        let qos = match &account.queue {
            Queue::Project(project) => cluster.config.facts.of_project(project).qos,
            Queue::Group(_) => None,
        };
        match accounting.put_account(&there, account, qos.as_deref()).await {
            Ok(()) => {
                if let Queue::Project(project) = &account.queue {
                    let (account, per_person) = (account.name.clone(), account.per_person.clone());
                    open.insert(project.clone(), Open { account, per_person });
                }
            }
            Err(Trouble::Away(why)) => return Err(Trouble::Away(why)),
            Err(Trouble::Refused(why)) => _ = refused.insert(account.name.clone(), why),
        }
    }
    {
        // Nobody is given what is to go, from this moment on.
        let mut state = cluster.mirror.state();
        state.open = open;
        state.members = there.people();
    }
    for (name, why) in accounting.take_away(&there, &wanted).await? {
        refused.insert(name, why);
    }
    note(cluster, refused);
    Ok(())
}

impl Cluster {
    /// More words for `sbatch`, which go over the script's: the project's account, in which a person's is put before its first
    /// job. None where nothing is mirrored, or Slurm does not take it, which is told.
    pub async fn counted_as(&self, project: &str, person: &str) -> Vec<String> {
        let Some((open, is_in)) = ({
            let state = self.mirror.state();
            let open = state.open.get(project).cloned();
            open.map(|open| {
                let is_in = state.members.contains(&(open.account.clone(), person.to_owned()));
                (open, is_in)
            })
        }) else {
            return Vec::new();
        };
        if !is_in {
            let added = match Accounting::of(&self.commands).await {
                Ok(accounting) => accounting.add(&open.account, person, &open.per_person).await,
                Err(trouble) => Err(trouble),
            };
            let mut state = self.mirror.state();
            match added {
                Ok(()) => _ = state.members.insert((open.account.clone(), person.to_owned())),
                Err(Trouble::Away(why) | Trouble::Refused(why)) => {
                    tracing::warn!(cluster = self.config.name, person, why, "nobody is put into an account");
                    state.refused.insert(open.account, why);
                    return Vec::new();
                }
            }
        }
        vec![format!("--account={}", open.account)]
    }
}
