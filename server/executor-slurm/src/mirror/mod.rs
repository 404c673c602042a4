//! Mirrors the quota tree into Slurm's accounts. Users who submit to Slurm directly are then limited as well,
//! and `sshare` shows the same picture. Which Cubeloom job starts is decided before it reaches the cluster.
//!
//! Reconciles after every change of the tree, and once a minute. Only accounts with the configured name
//! prefix, whose description names this cluster, are touched. Refusals by Slurm are reported; affected jobs
//! use the account from the cluster's facts.

mod accounting;
mod people;
mod wanted;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cubeloom_domain::clusters::{Finding, Subject};
use cubeloom_domain::quota::{Queue, QueueRecord};
use tokio::sync::Notify;

use crate::cluster::Cluster;
use crate::commands::Trouble;

use accounting::Accounting;
use wanted::{Tres, wanted};

/// Reconciliation interval.
const LOOK: Duration = Duration::from_secs(60);

/// How long a user stays in an account after a job was assigned to it: the job may not be submitted yet.
/// After that Slurm knows the job, and keeps the user as long as the job exists.
const GIVEN: Duration = Duration::from_secs(600);

/// The accounts of a cluster.
#[derive(Default)]
pub struct Mirror {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    /// The quota tree; `None` until the engine has sent it.
    tree: Option<Arc<Vec<QueueRecord>>>,
    /// The account of each project that is in sync.
    open: BTreeMap<String, Open>,
    /// Pairs of account and user's account.
    members: BTreeSet<(String, String)>,
    /// By account and user's account: why the user's jobs do not count for the account. Cached until the next
    /// reconciliation, since jobs may arrive at any moment.
    left_out: BTreeMap<(String, String), String>,
    /// By account and user's account: when a job was last assigned.
    given: BTreeMap<(String, String), Instant>,
    /// Why Slurm refused an entry, by name.
    refused: BTreeMap<String, String>,
}

/// A project's account.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Open {
    account: String,
    /// The limit per user.
    per_person: Tres,
}

impl State {
    /// A project's account, and whether the user is in it; `None` if the project's jobs do not count for it.
    fn open_to(&self, project: &str, person: &str) -> Option<(Open, bool)> {
        let open = self.open.get(project)?.clone();
        let who = (open.account.clone(), person.to_owned());
        let is_in = self.members.contains(&who);
        (!self.left_out.contains_key(&who)).then_some((open, is_in))
    }

    /// The same for a job to submit now.
    fn give(&mut self, project: &str, person: &str) -> Option<(Open, bool)> {
        let (open, is_in) = self.open_to(project, person)?;
        self.given.insert((open.account.clone(), person.to_owned()), Instant::now());
        Some((open, is_in))
    }

    /// Records the current projects' accounts and their users. Returns the users to remove: those who lost
    /// access, and have no job that may be about to be submitted.
    fn take_in(
        &mut self,
        open: BTreeMap<String, Open>,
        members: &BTreeSet<(String, String)>,
        mut left: BTreeSet<(String, String)>,
    ) -> BTreeSet<(String, String)> {
        self.given.retain(|_, at| at.elapsed() < GIVEN);
        left.retain(|who| !self.given.contains_key(who));
        // From now on, no job gets an obsolete account.
        self.open = open;
        self.members = members.difference(&left).cloned().collect();
        self.left_out.clear();
        left
    }
}

impl Mirror {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the quota tree.
    pub fn share(&self, tree: &Arc<Vec<QueueRecord>>) {
        self.state().tree = Some(Arc::clone(tree));
        self.changed.notify_one();
    }

    /// The account of a user's next job in a project, as currently known.
    pub fn account(&self, project: &str, person: &str) -> Option<String> {
        self.state().open_to(project, person).map(|(open, _)| open.account)
    }

    /// Accounts in sync, and refusals by Slurm.
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

/// Reconciles the accounts with the tree for as long as the server runs.
pub async fn keep(cluster: Arc<Cluster>) {
    let mut look = tokio::time::interval(LOOK);
    loop {
        tokio::select! {
            _ = look.tick() => {}
            () = cluster.mirror.changed.notified() => {}
        }
        let Some(tree) = cluster.mirror.state().tree.clone() else { continue };
        if let Err(Trouble::Away(why) | Trouble::Refused(why)) = follow(&cluster, &tree).await {
            // The current accounts are unknown: keep the assignments.
            note(&cluster, [("accounts".to_owned(), why)].into());
        }
    }
}

/// Records refusals, and logs each reason once.
fn note(cluster: &Cluster, refused: BTreeMap<String, String>) {
    let mut state = cluster.mirror.state();
    for (name, why) in refused.iter().filter(|(name, why)| state.refused.get(*name) != Some(*why)) {
        tracing::warn!(cluster = cluster.config.name, name, why, "an account does not match the quotas");
    }
    state.refused = refused;
}

/// Reconciles the accounts, and records refusals.
async fn follow(cluster: &Cluster, tree: &[QueueRecord]) -> Result<(), Trouble> {
    let Some(mirror) = &cluster.config.mirror else { return Ok(()) };
    let accounting = Accounting::of(&cluster.commands, &cluster.config.name).await?;
    let there = accounting.list(&mirror.prefix).await?;
    let (wanted, mut refused) = wanted(tree, &cluster.config.name, &mirror.prefix);
    let mut open = BTreeMap::new();
    for account in &wanted {
        // The user needs access here to what the jobs request.
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
    let left = people::left(&cluster.config, &open, &there).await;
    let leaving = cluster.mirror.state().take_in(open, &there.people(), left);
    refused.extend(accounting.take_away(&there, &wanted).await?);
    refused.extend(accounting.take_out(&leaving).await?);
    note(cluster, refused);
    Ok(())
}

impl Cluster {
    /// The Slurm account that a user's job in a project counts for; adds the user to it before the first job.
    /// `None` without mirroring, or if Slurm refuses, which is reported.
    ///
    /// # Errors
    /// A sentence: this is unknown at present. A job that started now would count for no quota.
    pub async fn counted_as(&self, project: &str, person: &str) -> Result<Option<String>, String> {
        let known = || self.mirror.state().give(project, person);
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

    /// Records that Slurm refuses a user's jobs for an account: until the next reconciliation none count for
    /// it.
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

    use cubeloom_domain::quota::{Pool, Quota};
    use cubeloom_domain::slurm::{SlurmMirror, SlurmWay};

    use super::*;
    use crate::config::PeopleOf;
    use crate::executor::SlurmExecutor;
    use crate::executor::tests::{executor, program};

    /// A cluster with this fake `sacctmgr`, and the accounts in sync.
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

    /// A cluster whose project `p` has these users. An earlier server has left accounts with `ann` and `bob`
    /// in them; deletions fail while the file `busy` exists.
    fn mirrored(folder: &Path, people: &[&str]) -> Arc<SlurmExecutor> {
        let assocs = "cl-g-all||root|100||normal\ncl-p-p||cl-g-all|100||normal\ncl-p-p|ann||1||normal\n\
            cl-p-p|bob||1||normal\nvision||root|1||normal\nvision|ann||1||normal\n";
        std::fs::write(folder.join("assocs"), assocs).unwrap();
        let accounts = "cl-g-all|cubeloom hall\ncl-p-p|cubeloom hall\nvision|ours\n";
        std::fs::write(folder.join("accounts"), accounts).unwrap();
        let answers = format!(
            "cd {} || exit 9\ncase $* in\n*'show assoc'*) cat assocs ;;\n*'show account'*) cat accounts ;;\n\
             *'delete user'*) if test -e busy; then echo 'Job(s) active' >&2; exit 1; fi ;;\nesac",
            folder.display()
        );
        let mut executor = cluster(folder, &answers);
        let people: BTreeSet<String> = people.iter().map(|name| (*name).to_owned()).collect();
        let people_of: Arc<PeopleOf> = Arc::new(move |_| {
            let people = people.clone();
            Box::pin(async move { Ok(people) })
        });
        let inner = Arc::get_mut(&mut executor).unwrap();
        let config = &mut Arc::get_mut(&mut inner.cluster).unwrap().config;
        config.mirror = Some(SlurmMirror { prefix: "cl-".into() });
        config.way =
            SlurmWay::of_accounts(["ann", "bob"].map(|name| (name.to_owned(), name.to_owned())).into());
        config.people = Some(people_of);
        executor
    }

    /// The deletions that accounting received, verbatim.
    fn deleted(folder: &Path) -> Vec<String> {
        let said = std::fs::read_to_string(folder.join("calls")).unwrap_or_default();
        let deleted = said.lines().filter_map(|line| line.split_once(" delete "));
        deleted.map(|(_, what)| what.to_owned()).collect()
    }

    #[tokio::test]
    async fn who_is_in_the_project_no_more_is_taken_out_once_no_job_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let executor = mirrored(folder.path(), &["bob"]);
        let cluster = &executor.cluster;
        let record = |queue, parent: Option<&str>| QueueRecord {
            queue,
            parent: parent.map(Into::into),
            quotas: [(Pool::of("hall"), Quota::default())].into(),
            revision: 1,
        };
        let tree =
            [record(Queue::Group("all".into()), None), record(Queue::Project("p".into()), Some("all"))];
        let busy = folder.path().join("busy");
        std::fs::write(&busy, "").unwrap();
        follow(cluster, &tree).await.unwrap();
        let findings = cluster.mirror.findings();
        let told: Vec<(&str, bool)> = findings.iter().map(|one| (one.name.as_str(), one.found)).collect();
        assert_eq!(told, [("cl-p-p", true), ("cl-p-p (ann)", false)], "{findings:?}");
        let why = findings[1].detail.as_deref().unwrap();
        assert!(why.contains("`ann`") && why.contains("Job(s) active"), "{why}");
        std::fs::remove_file(&busy).unwrap();

        // A run of the user is active: a job with an account may be about to be submitted.
        assert_eq!(cluster.counted_as("p", "ann").await, Ok(Some("cl-p-p".into())));
        follow(cluster, &tree).await.unwrap();
        let of_ann = "user where name=ann account=cl-p-p cluster=hall";
        assert_eq!(deleted(folder.path()), [of_ann], "that of before");
        cluster.mirror.state().given.clear();
        follow(cluster, &tree).await.unwrap();
        assert_eq!(deleted(folder.path()), [of_ann, of_ann]);
        assert!(cluster.mirror.findings().iter().all(|one| one.found));
    }

    /// The last quota was removed while no server ran.
    #[tokio::test]
    async fn an_empty_tree_takes_the_accounts_of_an_earlier_server_away() {
        let folder = tempfile::tempdir().unwrap();
        let executor = mirrored(folder.path(), &["ann", "bob"]);
        let kept = tokio::spawn(keep(Arc::clone(&executor.cluster)));
        executor.cluster.mirror.share(&Arc::default());
        let both = async {
            while deleted(folder.path()).len() < 2 {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(20), both).await.unwrap();
        kept.abort();
        let inner_first =
            ["cl-p-p", "cl-g-all"].map(|name| format!("account where name={name} cluster=hall"));
        assert_eq!(deleted(folder.path())[..2], inner_first);
    }
}
