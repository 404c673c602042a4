//! The tree of quotas as Slurm's accounts, so that who goes to Slurm directly is bound as well, and
//! `sshare` shows the same picture. Who of Cubeloom's jobs starts is decided before they come here.
//!
//! What is there is listed and compared whenever the tree has changed, and once a minute. Only accounts whose names begin as
//! the cluster's settings say, and whose description names this cluster, are touched. What Slurm does not take is told; jobs go on with the account that the cluster's
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
    /// By account, and the account of a person: why jobs of the one are not counted for the other. Nobody asks again before
    /// the next comparison, as a job may come every moment.
    left_out: BTreeMap<(String, String), String>,
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

impl State {
    /// A project's account, and whether the person is in it; none where its jobs are not counted for it.
    fn open_to(&self, project: &str, person: &str) -> Option<(Open, bool)> {
        let open = self.open.get(project)?.clone();
        let who = (open.account.clone(), person.to_owned());
        let is_in = self.members.contains(&who);
        (!self.left_out.contains_key(&who)).then_some((open, is_in))
    }
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

    /// The account for which a person's next job of a project is counted, as far as is known now.
    pub fn account(&self, project: &str, person: &str) -> Option<String> {
        self.state().open_to(project, person).map(|(open, _)| open.account)
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
        let left_out = state.left_out.iter().map(|((account, _), why)| (account, why));
        let refused: BTreeMap<_, _> = left_out.chain(&state.refused).collect();
        let open = open.filter(|name| !refused.contains_key(*name)).map(|name| finding(name, None));
        open.chain(refused.iter().map(|(name, why)| finding(name, Some((*why).clone())))).collect()
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
    let accounting = Accounting::of(&cluster.commands, &cluster.config.name).await?;
    let there = accounting.list(&mirror.prefix).await?;
    let (wanted, mut refused) = wanted(tree, &cluster.config.name, &mirror.prefix);
    let mut open = BTreeMap::new();
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
        state.left_out.clear();
    }
    for (name, why) in accounting.take_away(&there, &wanted).await? {
        refused.insert(name, why);
    }
    note(cluster, refused);
    Ok(())
}

impl Cluster {
    /// The account of Slurm for which a person's job of a project is counted; the person is put into it before its first job.
    /// None where nothing is mirrored, or Slurm does not take it, which is told.
    ///
    /// # Errors
    /// Nobody can say so now, in a sentence: a job that went on would be counted for no quota.
    pub async fn counted_as(&self, project: &str, person: &str) -> Result<Option<String>, String> {
        let known = || self.mirror.state().open_to(project, person);
        match known() {
            None => return Ok(None),
            Some((open, true)) => return Ok(Some(open.account)),
            Some((_, false)) => {}
        }
        // Never closed.
        let _call = self.calls.acquire().await;
        // Many jobs may have waited for the same.
        let Some((open, is_in)) = known() else { return Ok(None) };
        if is_in {
            return Ok(Some(open.account));
        }
        let added = match Accounting::of(&self.commands, &self.config.name).await {
            Ok(accounting) => accounting.add(&open.account, person, &open.per_person).await,
            Err(trouble) => Err(trouble),
        };
        match added {
            Ok(()) => {
                self.mirror.state().members.insert((open.account.clone(), person.to_owned()));
                Ok(Some(open.account))
            }
            Err(Trouble::Away(why)) => Err(why),
            Err(Trouble::Refused(why)) => {
                self.leave_out(open.account, person, why);
                Ok(None)
            }
        }
    }

    /// Slurm does not take a person's jobs for an account: until the next comparison none are counted for it.
    pub fn leave_out(&self, account: String, person: &str, why: String) {
        tracing::warn!(
            cluster = self.config.name,
            account,
            person,
            why,
            "jobs are not counted for their project"
        );
        self.mirror.state().left_out.insert((account, person.to_owned()), why);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::path::Path;

    use super::*;
    use crate::executor::SlurmExecutor;
    use crate::executor::tests::{executor, program};

    /// A cluster whose `sacctmgr` does this, and the accounts that are as they are to be.
    pub(crate) fn cluster(folder: &Path, sacctmgr: &str) -> Arc<SlurmExecutor> {
        program(folder, "scontrol", "#!/bin/sh\necho 'ClusterName = hall'\n");
        says(folder, sacctmgr);
        let executor = executor(folder, &format!("{}:/usr/bin:/bin", folder.display()), &[]);
        let open = Open { account: "cl-p-seg".into(), per_person: Tres::new() };
        executor.cluster.mirror.state().open.insert("p".into(), open);
        executor
    }

    fn says(folder: &Path, sacctmgr: &str) {
        let calls = folder.join("calls");
        let text = format!("#!/bin/sh\necho \"$*\" >>{}\n{sacctmgr}\n", calls.display());
        program(folder, "sacctmgr", &text);
    }

    fn calls(folder: &Path) -> usize {
        std::fs::read_to_string(folder.join("calls")).unwrap_or_default().lines().count()
    }

    #[tokio::test]
    async fn who_is_refused_is_not_asked_for_again_and_told() {
        let folder = tempfile::tempdir().unwrap();
        let executor = cluster(folder.path(), "echo 'not that one' >&2; exit 1");
        for _ in 0..2 {
            assert_eq!(executor.cluster.counted_as("p", "ann").await, Ok(None));
        }
        assert_eq!(calls(folder.path()), 1);
        let findings = executor.cluster.mirror.findings();
        let told: Vec<(&str, bool)> = findings.iter().map(|one| (one.name.as_str(), one.found)).collect();
        assert_eq!(told, [("cl-p-seg", false)], "{findings:?}");
        says(folder.path(), "exit 0");
        let bob = executor.cluster.counted_as("p", "bob").await;
        assert_eq!(bob, Ok(Some("cl-p-seg".into())), "another person's are counted");
    }

    #[tokio::test]
    async fn accounting_that_is_away_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let executor = cluster(folder.path(), "echo 'Connection refused' >&2; exit 1");
        let away = executor.cluster.counted_as("p", "ann").await.unwrap_err();
        assert!(away.contains("Connection refused"), "{away}");
        says(folder.path(), "exit 0");
        assert_eq!(executor.cluster.counted_as("p", "ann").await, Ok(Some("cl-p-seg".into())));
        assert_eq!(executor.cluster.counted_as("other", "ann").await, Ok(None));
        assert_eq!(calls(folder.path()), 2);
    }

    #[tokio::test]
    async fn many_jobs_of_one_person_are_a_few_calls() {
        let folder = tempfile::tempdir().unwrap();
        let executor = cluster(folder.path(), "sleep 0.1");
        let all: Vec<_> = (0..40)
            .map(|_| {
                let cluster = Arc::clone(&executor.cluster);
                tokio::spawn(async move { cluster.counted_as("p", "ann").await })
            })
            .collect();
        for one in all {
            assert_eq!(one.await.unwrap(), Ok(Some("cl-p-seg".into())));
        }
        assert!(
            calls(folder.path()) <= 8,
            "as many calls at once as there are permits: {}",
            calls(folder.path())
        );
    }
}
