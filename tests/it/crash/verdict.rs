//! Compares a disturbed run with an undisturbed one, and both with the ledger.

use std::collections::{BTreeMap, BTreeSet};
use std::thread::sleep;
use std::time::{Duration, Instant};

use cubeloom_domain::outcome::Outcome;
use cubeloom_domain::record::{AttemptRecord, InstanceRecord};
use cubeloom_domain::state::AttemptState;
use cubeloom_domain::{AttemptKey, RunId};
use serde_json::Value;

use super::document::Document;
use super::ledger::Told;
use super::site::{Site, exists};
use crate::support::processes;

/// How long stopped processes may take to be gone.
const TIDYING: Duration = Duration::from_secs(30);

/// The part of a run that must not depend on crashes.
#[derive(Debug, Default, PartialEq)]
pub struct Result {
    pub state: String,
    /// By task and instance: the state, and the outputs.
    instances: BTreeMap<(String, u32), (String, Value)>,
    /// By task, instance and attempt number: how it ended.
    attempts: BTreeMap<(String, u32, u32), String>,
}

impl Result {
    /// How the attempts of a task's first instance ended, in order.
    pub fn ends_of(&self, task: &str) -> Vec<String> {
        let of_task = self.attempts.iter().filter(|((name, instance, _), _)| name == task && *instance == 0);
        of_task.map(|(_, end)| end.clone()).collect()
    }

    /// The outputs of a task's first instance.
    pub fn outputs_of(&self, task: &str) -> Value {
        self.instances.get(&(task.to_owned(), 0)).map(|(_, outputs)| outputs.clone()).unwrap_or_default()
    }
}

/// A run as stored in the database.
pub struct Stored {
    pub result: Result,
    attempts: Vec<AttemptRecord>,
}

impl Stored {
    pub fn of(site: &Site, run: &RunId) -> Self {
        let (record, plan, instances, attempts) = site.database.with_store(async |store| {
            (
                store.run(run).await,
                store.plan(run).await,
                store.instances(run).await,
                store.attempts(run).await,
            )
        });
        let plan = plan.expect("the database answers").expect("the run's plan");
        let record = record.expect("the database answers").expect("the run");
        let attempts = attempts.expect("the database answers");
        let instance = |it: InstanceRecord| {
            let name = plan.tasks[it.task.index()].name.clone();
            ((name, it.instance), (it.state.as_str().to_owned(), Value::Object(it.report.outputs)))
        };
        let attempt =
            |it: &AttemptRecord| ((it.key.task.clone(), it.key.instance, it.key.n), word(&it.state));
        let result = Result {
            state: record.state.as_str().to_owned(),
            instances: instances.expect("the database answers").into_iter().map(instance).collect(),
            attempts: attempts.iter().map(attempt).collect(),
        };
        Self { result, attempts }
    }

    /// The memory of the attempts, in bytes.
    pub fn memory(&self) -> Vec<u64> {
        self.attempts.iter().map(|attempt| attempt.amount.memory.0).collect()
    }

    /// Sums that differ from the expected ones.
    pub fn wrong_sums(&self, document: &Document) -> Vec<String> {
        let expected = document.sums().iter().flat_map(|(task, sums)| {
            (0u32..).zip(sums).map(move |(instance, sum)| ((task.clone(), instance), *sum))
        });
        expected
            .filter_map(|(at, sum)| {
                let found = self.result.instances.get(&at).map(|(_, outputs)| &outputs["sum"]);
                (found != Some(&sum.into())).then(|| format!("{at:?}: the sum is {found:?} and not {sum}"))
            })
            .collect()
    }

    /// Worker executions that the ledger does not have exactly once for each attempt.
    pub fn against(&self, told: &Told) -> Vec<String> {
        let mut findings = Vec::new();
        for ((key, worker), count) in told.begun.iter().filter(|(_, count)| **count > 1) {
            findings.push(format!("doubled: {key} {worker} was executed {count} times"));
        }
        let known: BTreeSet<&AttemptKey> = self.attempts.iter().map(|attempt| &attempt.key).collect();
        for (key, worker) in told.begun.keys().filter(|(key, _)| !known.contains(key)) {
            findings.push(format!("unknown: {key} {worker} was executed, but is not stored"));
        }
        for attempt in &self.attempts {
            let begun = told.workers(&attempt.key).len();
            if begun < attempt.workers as usize {
                findings.push(format!(
                    "lost: of {}, {begun} of {} workers were executed",
                    attempt.key, attempt.workers
                ));
            }
        }
        let mut completed: BTreeMap<(&str, u32, &str), u32> = BTreeMap::new();
        for ((key, worker), count) in &told.done {
            *completed.entry((&key.task, key.instance, worker)).or_default() += count;
        }
        for (which, count) in completed.into_iter().filter(|(_, count)| *count > 1) {
            findings.push(format!("doubled: {which:?} came to its end {count} times"));
        }
        findings
    }

    /// Leftovers of an ended run. Processes that just ended may take a moment to be gone.
    pub fn left_over(&self, site: &Site) -> Vec<String> {
        let deadline = Instant::now() + TIDYING;
        loop {
            let found = self.left_over_now(site);
            if found.is_empty() || Instant::now() > deadline {
                return found;
            }
            sleep(Duration::from_millis(50));
        }
    }

    fn left_over_now(&self, site: &Site) -> Vec<String> {
        let mark = site.mark();
        let shims = processes::shims(&mark).into_iter().map(|pid| format!("left over: shim {pid}"));
        let workers = processes::workers(&mark).into_iter().map(|pid| format!("left over: worker {pid}"));
        let groups = processes::cgroups(self.attempts.iter().map(|attempt| &attempt.key));
        let groups = groups.into_iter().map(|path| format!("left over: {}", path.display()));
        let live = self.attempts.iter().filter(|attempt| attempt.state.is_live());
        let live = live.map(|attempt| format!("left over: {} is not stored as ended", attempt.key));
        shims.chain(workers).chain(groups).chain(live).chain(self.scratch(site)).collect()
    }

    /// Working folders of workers that have ended.
    fn scratch(&self, site: &Site) -> Vec<String> {
        let folder = |key: &AttemptKey| {
            let below = format!("runs/{}/{}/{}/{}", key.run, key.task, key.instance, key.n);
            site.data().join(below)
        };
        let workers = self.attempts.iter().flat_map(|attempt| {
            let folders = std::fs::read_dir(folder(&attempt.key)).into_iter().flatten().flatten();
            folders.map(|entry| entry.path())
        });
        let scratch = workers.flat_map(|worker| ["work", "secrets"].map(|name| worker.join(name)));
        scratch.filter(|path| exists(path)).map(|path| format!("left over: {}", path.display())).collect()
    }
}

/// How an attempt ended, in a word.
fn word(state: &AttemptState) -> String {
    match state {
        AttemptState::Ended { outcome: Outcome::Succeeded, .. } => "succeeded".into(),
        AttemptState::Ended { outcome: Outcome::Failed(failure), .. } => failure.kind.to_string(),
        AttemptState::Ended { outcome: Outcome::Cancelled, .. } => "cancelled".into(),
        live => live.as_str().into(),
    }
}

/// The differences between two results.
pub fn differences(expected: &Result, found: &Result) -> Vec<String> {
    let mut findings = Vec::new();
    if expected.state != found.state {
        findings.push(format!("the run is {} and not {}", found.state, expected.state));
    }
    compare(&expected.instances, &found.instances, "instance", &mut findings);
    compare(&expected.attempts, &found.attempts, "attempt", &mut findings);
    findings
}

fn compare<K: Ord + std::fmt::Debug, V: PartialEq + std::fmt::Debug>(
    expected: &BTreeMap<K, V>,
    found: &BTreeMap<K, V>,
    what: &str,
    findings: &mut Vec<String>,
) {
    let keys: BTreeSet<&K> = expected.keys().chain(found.keys()).collect();
    for key in keys {
        let (wanted, got) = (expected.get(key), found.get(key));
        if wanted != got {
            findings.push(format!("{what} {key:?}: {got:?} and not {wanted:?}"));
        }
    }
}
