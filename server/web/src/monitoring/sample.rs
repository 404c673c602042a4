//! Sample attempts with allocations, for tests.

use std::collections::BTreeMap;

use cubeloom_domain::accounting::Account;
use cubeloom_domain::lowered::{Bindings, LocalBindings, LocalPaths, WorkerBinding};
use cubeloom_domain::quota::Pool;
use cubeloom_domain::record::AttemptRecord;
use cubeloom_domain::resources::Amount;
use cubeloom_domain::state::AttemptState;
use cubeloom_domain::usage::UsageSummary;
use cubeloom_domain::{AttemptKey, RunId, TaskIx, Timestamp};
use cubeloom_store::Holding;

/// An attempt of a task with one worker, bound to GPUs of the local machine or to none.
pub(super) fn held(project: &str, task: &str, cards: &[&str]) -> Holding {
    if cards.is_empty() { gang(project, task, &[]) } else { gang(project, task, &[cards]) }
}

/// An attempt of a task with one worker per entry, each bound to these GPUs of the local machine. Without
/// entries, it has no bindings.
pub(super) fn gang(project: &str, task: &str, workers: &[&[&str]]) -> Holding {
    let worker = |cards: &&[&str]| WorkerBinding {
        address: "127.0.0.2".into(),
        port: 1,
        ports: Vec::new(),
        gpus: cards.iter().map(ToString::to_string).collect(),
    };
    let paths = LocalPaths {
        workspace: String::new(),
        run_dir: String::new(),
        attempt_dir: String::new(),
        checkpoint_dir: String::new(),
        code: String::new(),
        template_dir: String::new(),
        bin: String::new(),
        volumes: BTreeMap::new(),
    };
    let local = Bindings::Local(LocalBindings { workers: workers.iter().map(worker).collect(), paths });
    let attempt = AttemptRecord {
        key: AttemptKey { run: RunId::new(Timestamp(0), 7), task: task.into(), instance: 0, n: 1 },
        task: TaskIx(0),
        state: AttemptState::Running { started_at: Timestamp(5) },
        created_at: Timestamp(0),
        amount: Amount::default(),
        cards: BTreeMap::new(),
        pool: Pool::of("local"),
        limits: Vec::new(),
        workers: workers.len().max(1) as u32,
        earlier: Vec::new(),
        bindings: if workers.is_empty() { Bindings::None } else { local },
        usage: UsageSummary::default(),
        account: Account::default(),
        sizing: None,
        pace: None,
        hang: None,
        preflight: None,
    };
    Holding { project: project.into(), pipeline: "p".into(), user: "ada".into(), attempt }
}
