//! Checks a cluster: whether it responds, and whether its nodes have what its settings name. It also tests
//! whether the accounts of jobs are reachable and can write where jobs must. Otherwise the first job would
//! fail on each problem.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cubeloom_domain::clusters::{Finding, Subject, Survey};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use crate::CLEAN_ARG;
use crate::cluster::Cluster;
use crate::commands::{Commands, Trouble};
use crate::config::SlurmConfig;
use crate::named::{absent, wrong};

/// Maximum number of accounts to test, those of the project first.
const ACCOUNTS: usize = 32;

/// How many to test concurrently: each takes a process or two, beside those of jobs.
const AT_ONCE: usize = 4;

/// Timeout of all tests together: the caller waits at most a minute.
const LIMIT: Duration = Duration::from_secs(15);

/// Checks the cluster for a project.
pub async fn look(cluster: &Arc<Cluster>, project: &str) -> Survey {
    let (version, nodes) = tokio::join!(cluster.speech.version(), cluster.speech.nodes());
    let error = match (&version, &nodes) {
        (Err(Trouble::Away(why) | Trouble::Refused(why)), _)
        | (_, Err(Trouble::Away(why) | Trouble::Refused(why))) => Some(why.clone()),
        _ => None,
    };
    // For an unreachable cluster, report nothing else.
    let of_accounts =
        async { if error.is_none() { of_accounts(cluster, project).await } else { Vec::new() } };
    let (accounting, of_accounts) = tokio::join!(accounting(cluster), of_accounts);
    let mut findings = vec![accounting];
    findings.extend(cluster.mirror.findings());
    findings.extend(nodes.iter().flat_map(|seen| absent(seen, &cluster.config.facts)));
    findings.extend(of_accounts);
    Survey { version: version.ok(), error, findings, refusals: None }
}

async fn accounting(cluster: &Cluster) -> Finding {
    let detail = cluster.commands.sacct("--name=cl-none").await.err().map(said);
    Finding { subject: Subject::Program, name: "slurmdbd".into(), found: detail.is_none(), detail }
}

fn said(trouble: Trouble) -> String {
    match trouble {
        Trouble::Away(why) | Trouble::Refused(why) => why,
    }
}

/// An account that jobs run as.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Who {
    /// The setting that names it.
    field: String,
    account: String,
    /// Whether jobs of the project run as it: others need no write access to the project's folders.
    is_of_project: bool,
}

/// All accounts, those of the project first. If the project's users are unknown, they count as others.
async fn accounts(config: &SlurmConfig, project: &str) -> Vec<Who> {
    let people = match &config.people {
        Some(people_of) => people_of(project.to_owned()).await.unwrap_or_default(),
        None => BTreeSet::new(),
    };
    let way = &config.way;
    let entry = |(name, account): (&str, String), is_of_project| Who {
        field: format!("way.accounts.{name}"),
        account,
        is_of_project,
    };
    let own = people.iter().filter_map(|person| way.account_of(person)).map(|found| entry(found, true));
    let others = way.named().map(|(name, account)| entry((name, account.to_owned()), false));
    let of_projects = way.projects.iter().map(|(name, account)| Who {
        field: format!("way.projects.{name}"),
        account: account.clone(),
        is_of_project: name == project,
    });
    let mut all: Vec<Who> = own.chain(others).chain(of_projects).collect();
    all.sort_by_key(|who| !who.is_of_project);
    let mut seen = BTreeSet::new();
    all.retain(|who| seen.insert(who.account.clone()));
    all
}

/// A problem of one account.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Wrong {
    /// It is unreachable, or does not exist: the setting that names it, and the reason.
    Account(String, String),
    /// It was not tested, or not completely: the setting that names it, and the reason.
    Untried(String, String),
    /// The program cannot start: the reason, and the account.
    Program(String, String),
    /// A folder can be neither written nor created: the setting, and the account.
    Folder(&'static str, String),
}

/// Tests accounts, some concurrently.
async fn of_accounts(cluster: &Arc<Cluster>, project: &str) -> Vec<Finding> {
    let all = accounts(&cluster.config, project).await;
    let until = Instant::now() + LIMIT;
    let (mut found, mut at_work) = (Vec::new(), JoinSet::new());
    for who in all.iter().take(ACCOUNTS) {
        if at_work.len() >= AT_ONCE {
            found.extend(next(&mut at_work).await);
        }
        let (cluster, who, project) = (Arc::clone(cluster), who.clone(), project.to_owned());
        at_work.spawn(async move { tried(&cluster, &who, &project, until).await });
    }
    while !at_work.is_empty() {
        found.extend(next(&mut at_work).await);
    }
    let mut findings = told(found);
    if all.len() > ACCOUNTS {
        let why =
            format!("only {ACCOUNTS} of {} accounts were checked, those of the project first", all.len());
        findings.push(untried("way.accounts", why));
    }
    findings
}

async fn next(at_work: &mut JoinSet<Vec<Wrong>>) -> Vec<Wrong> {
    at_work.join_next().await.and_then(Result::ok).unwrap_or_default()
}

/// Tests an account as a job would: its uid, whether it is reachable, and its access rights.
async fn tried(cluster: &Cluster, who: &Who, project: &str, until: Instant) -> Vec<Wrong> {
    match timeout_at(until, works(cluster, who, project)).await {
        Ok(Ok(wrong)) => wrong,
        Ok(Err(trouble)) => vec![of_trouble(who, trouble)],
        Err(_) => {
            let why = format!("`{}` could not be checked within {} seconds", who.account, LIMIT.as_secs());
            vec![Wrong::Untried(who.field.clone(), why)]
        }
    }
}

/// The problem that a failed call shows; no response says nothing about the account.
fn of_trouble(who: &Who, trouble: Trouble) -> Wrong {
    match trouble {
        Trouble::Refused(why) => Wrong::Account(who.field.clone(), why),
        Trouble::Away(why) => Wrong::Untried(who.field.clone(), why),
    }
}

fn untried(field: impl Into<String>, why: impl Into<String>) -> Finding {
    Finding { subject: Subject::Untried, ..wrong(field, why) }
}

/// Problems beyond the account itself.
///
/// # Errors
/// Jobs cannot run as the account, or this is unknown at present.
async fn works(cluster: &Cluster, who: &Who, project: &str) -> Result<Vec<Wrong>, Trouble> {
    let (config, commands, account) = (&cluster.config, &cluster.commands, who.account.as_str());
    cluster.uid(account).await?;
    // An empty list on standard input cleans nothing.
    let program = commands.program(account, &config.facts.program, &[CLEAN_ARG], b"[]".to_vec()).await;
    if config.calls.slurmrestd.is_some() {
        // `become` may be restricted to that program: nothing more can be tested.
        return Ok(program.err().map(|trouble| bound(who, trouble)).into_iter().collect());
    }
    let mut found = Vec::new();
    if let Err(trouble) = program {
        if let Err(trouble) = commands.nothing(account).await {
            return Ok(vec![unreached(who, trouble)]);
        }
        found.push(Wrong::Program(said(trouble), account.to_owned()));
    }
    if who.is_of_project {
        for (field, folder) in folders(config, project, account) {
            match may_write(commands, account, Path::new(&folder)).await {
                Ok(true) => {}
                Ok(false) => found.push(Wrong::Folder(field, account.to_owned())),
                Err(trouble) => {
                    found.push(of_trouble(who, trouble));
                    break;
                }
            }
        }
    }
    Ok(found)
}

fn unreached(who: &Who, trouble: Trouble) -> Wrong {
    let (account, why) = (&who.account, said(trouble));
    let why = format!("`become` in the server's settings cannot switch to the account `{account}`: {why}");
    Wrong::Account(who.field.clone(), why)
}

fn bound(who: &Who, trouble: Trouble) -> Wrong {
    let (account, why) = (&who.account, said(trouble));
    let why =
        format!("`become` in the server's settings cannot start `program` as the account `{account}`: {why}");
    Wrong::Account(who.field.clone(), why)
}

/// The folders that an account's jobs of a project write to, each with its setting.
fn folders(config: &SlurmConfig, project: &str, account: &str) -> Vec<(&'static str, String)> {
    let facts = config.facts.of_project(project).of_account(account);
    let mut found = vec![
        ("facts.workspace", format!("{}/runs", facts.workspace)),
        ("facts.templates", facts.templates.clone()),
    ];
    // Otherwise it is in the workspace.
    if !config.facts.code.is_empty() {
        found.push(("facts.code", facts.code.clone()));
    }
    found
}

/// Whether an account can write to a folder, or create it if missing: then it must be able to write to the
/// parent.
async fn may_write(commands: &Commands, account: &str, folder: &Path) -> Result<bool, Trouble> {
    for path in folder.ancestors().filter_map(Path::to_str) {
        if commands.holds(account, &["-d", path, "-a", "-w", path, "-a", "-x", path]).await? {
            return Ok(true);
        }
        if commands.holds(account, &["-e", path]).await? {
            return Ok(false);
        }
    }
    Ok(false)
}

/// The findings, one per setting.
fn told(mut found: Vec<Wrong>) -> Vec<Finding> {
    found.sort_unstable();
    let mut folders: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut programs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut findings = Vec::new();
    for one in found {
        match one {
            Wrong::Account(field, why) => findings.push(wrong(field, why)),
            Wrong::Untried(field, why) => findings.push(untried(field, why)),
            Wrong::Program(why, account) => programs.entry(why).or_default().push(account),
            Wrong::Folder(field, account) => folders.entry(field).or_default().push(account),
        }
    }
    findings.extend(programs.into_iter().map(|(why, accounts)| {
        let why = format!("it cannot be started as {}: {why}", listed(&accounts));
        wrong("facts.program", why)
    }));
    findings.extend(folders.into_iter().map(|(field, accounts)| {
        wrong(field, format!("it can be neither written nor created as {}", listed(&accounts)))
    }));
    findings
}

fn listed(accounts: &[String]) -> String {
    let named: Vec<String> = accounts.iter().map(|account| format!("`{account}`")).collect();
    named.join(", ")
}

#[cfg(test)]
mod tests {
    use cubeloom_domain::slurm::{SlurmFacts, SlurmRest, SlurmWay};

    use super::*;
    use crate::config::PeopleOf;
    use crate::executor::SlurmExecutor;
    use crate::executor::tests::{executor, program};

    /// A fake sudo: switches to the user in its argument.
    const LEAD: &str = "#!/bin/sh\ncase $1 in bob) echo 'sudo: a password is required' >&2; exit 1 ;; esac\nshift\nexec \"$@\"\n";

    /// A cluster of one node, with these accounts of users in the project `p`; `eve` is in another one.
    fn cluster(folder: &Path, accounts: &[(&str, &str)]) -> Arc<SlurmExecutor> {
        let node = "NodeName=n1 AvailableFeatures=ssd Gres=(null) State=IDLE Partitions=all";
        let says = |name: &str, line: &str| program(folder, name, &format!("#!/bin/sh\n{line}\n"));
        says("sinfo", "echo slurm 22.05.8");
        says("scontrol", &format!("echo '{node}'"));
        says("sacct", "exit 0");
        says("id", "case $3 in gone) echo 'no such user' >&2; exit 1 ;; esac; echo 54321");
        says("cubeloom", "test \"$1\" = __slurm-clean && test \"$(cat)\" = '[]'");
        program(folder, "lead", LEAD);
        let (path, lead) = (format!("{}:/usr/bin:/bin", folder.display()), folder.join("lead"));
        let mut executor = executor(folder, &path, &[lead.to_str().unwrap(), "{account}"]);
        let inner = Arc::get_mut(&mut executor).unwrap();
        let config = &mut Arc::get_mut(&mut inner.cluster).unwrap().config;
        let accounts = accounts.iter().map(|(name, account)| ((*name).to_owned(), (*account).to_owned()));
        config.way = SlurmWay::of_accounts(accounts.collect());
        config.facts = SlurmFacts {
            workspace: format!("{}/{{project}}", folder.display()),
            templates: format!("{}/templates", folder.display()),
            program: folder.join("cubeloom").to_str().unwrap().into(),
            ..SlurmFacts::default()
        };
        let people_of: Arc<PeopleOf> = Arc::new(|_| {
            let people: BTreeSet<String> = ["ann", "bob", "cid"].map(ToOwned::to_owned).into();
            Box::pin(async move { Ok(people) })
        });
        config.people = Some(people_of);
        executor
    }

    fn change(executor: &mut Arc<SlurmExecutor>, change: impl FnOnce(&mut SlurmConfig)) {
        let inner = Arc::get_mut(executor).unwrap();
        change(&mut Arc::get_mut(&mut inner.cluster).unwrap().config);
    }

    /// The problems: each setting, and the reason.
    async fn missing(executor: &SlurmExecutor) -> Vec<(String, String)> {
        let survey = look(&executor.cluster, "p").await;
        assert_eq!(survey.error, None);
        let missing = survey.findings.into_iter().filter(|one| !one.found);
        missing.map(|one| (one.name, one.detail.unwrap_or_default())).collect()
    }

    #[tokio::test]
    async fn a_cluster_that_can_run_jobs_has_nothing_to_be_told() {
        let folder = tempfile::tempdir().unwrap();
        let mut executor = cluster(folder.path(), &[("ann", "ann"), ("eve", "eve")]);
        let found = missing(&executor).await;
        assert!(found.is_empty(), "{found:?}");
        // With the wildcard rule, all users of the project are tested.
        change(&mut executor, |config| {
            config.way = SlurmWay::of_accounts([("*".to_owned(), "{person}".to_owned())].into());
        });
        let found = missing(&executor).await;
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].0 == "way.accounts.*" && found[0].1.contains("account `bob`: "), "{found:?}");
    }

    #[tokio::test]
    async fn an_account_that_is_none_or_is_not_reached_is_told_with_its_setting() {
        let folder = tempfile::tempdir().unwrap();
        let mut executor = cluster(folder.path(), &[("ann", "ann"), ("cid", "gone"), ("eve", "bob")]);
        change(&mut executor, |config| {
            config.way.projects =
                [("p".to_owned(), "svc".to_owned()), ("q".to_owned(), "bob".to_owned())].into();
        });
        let found = missing(&executor).await;
        let fields: Vec<&str> = found.iter().map(|(field, _)| field.as_str()).collect();
        assert_eq!(fields, ["way.accounts.cid", "way.accounts.eve"], "{found:?}");
        assert!(found[0].1.contains("no such user"), "{found:?}");
        let why = &found[1].1;
        assert!(why.contains("cannot switch to the account `bob`: ") && why.contains("a password"), "{why}");
    }

    #[tokio::test]
    async fn a_program_or_a_folder_that_is_not_there_is_told_once_for_all_accounts() {
        let folder = tempfile::tempdir().unwrap();
        let mut executor = cluster(folder.path(), &[("ann", "ann"), ("cid", "cid"), ("eve", "eve")]);
        // No account, not even root, can create a folder in a file.
        let in_file = folder.path().join("lead");
        change(&mut executor, |config| {
            config.facts.workspace = format!("{}/{{project}}", in_file.display());
            config.facts.code = format!("{}/code", in_file.display());
            config.facts.program = folder.path().join("none").to_str().unwrap().into();
        });
        let found = missing(&executor).await;
        let fields: Vec<&str> = found.iter().map(|(field, _)| field.as_str()).collect();
        assert_eq!(fields, ["facts.program", "facts.code", "facts.workspace"], "{found:?}");
        assert!(found[0].1.contains("started as `ann`, `cid`, `eve`: "), "{found:?}");
        // Users of other projects need no write access in this one.
        assert_eq!(found[2].1, "it can be neither written nor created as `ann`, `cid`");
    }

    #[tokio::test]
    async fn where_only_the_program_may_be_called_nothing_else_is() {
        let folder = tempfile::tempdir().unwrap();
        let mut executor = cluster(folder.path(), &[("ann", "ann"), ("bob", "bob")]);
        let slurmrestd = SlurmRest {
            url: "unix:/nonexistent".into(),
            key: "/nonexistent".into(),
            user: "cubeloom".into(),
            version: "v0.0.38".into(),
        };
        change(&mut executor, |config| config.calls.slurmrestd = Some(slurmrestd));
        let who = |account: &str| Who { field: "f".into(), account: account.into(), is_of_project: true };
        // The commands were created before: they run without slurmrestd.
        let (ann, bob) = (who("ann"), who("bob"));
        assert_eq!(works(&executor.cluster, &ann, "p").await, Ok(Vec::new()));
        let found = works(&executor.cluster, &bob, "p").await.unwrap();
        assert!(
            matches!(&found[..], [Wrong::Account(_, why)] if why.contains("cannot start `program`")),
            "{found:?}"
        );
    }

    #[tokio::test]
    async fn many_accounts_are_not_tried_all() {
        let folder = tempfile::tempdir().unwrap();
        let names: Vec<String> = (0..ACCOUNTS + 2).map(|number| format!("x{number:02}")).collect();
        let accounts: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), name.as_str())).collect();
        let executor = cluster(folder.path(), &accounts);
        let found = missing(&executor).await;
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].0 == "way.accounts" && found[0].1.starts_with("only 32 of 34 accounts "),
            "{found:?}"
        );
    }
}
