//! History must not slow down active runs: the same short run, in an empty database and with millions of
//! finished tasks.

use std::collections::BTreeMap;
use std::time::Duration;

use cubeloom_domain::accounting::Account;
use cubeloom_domain::executor::Report;
use cubeloom_domain::lowered::Bindings;
use cubeloom_domain::outcome::Outcome;
use cubeloom_domain::plan::RunPlan;
use cubeloom_domain::quota::Pool;
use cubeloom_domain::record::{AttemptRecord, Changes, InstanceRecord, RunRecord};
use cubeloom_domain::resources::Amount;
use cubeloom_domain::state::{AttemptState, InstanceState, RunState};
use cubeloom_domain::usage::UsageSummary;
use cubeloom_domain::{AttemptKey, JsonMap, TaskIx};
use cubeloom_store::Lease;

use super::Setting;
use super::fake::layers;
use super::figures::{Figure, median};
use super::rig::{Rig, document};

/// Rows per commit.
const CHUNK: u32 = 10_000;
/// Tasks per finished run.
const TASKS: usize = 100_000;
/// Number of short runs on each side.
const ROUNDS: usize = 300;

/// Engine passes with history, and without.
pub async fn history(setting: Setting) -> anyhow::Result<Vec<Figure>> {
    let url = |name: &str| format!("sqlite:{}", setting.folder.join(name).display());
    let mut empty = Rig::fake(&url("empty.sqlite"), &setting.folder).await?;
    let mut full = Rig::fake(&url("full.sqlite"), &setting.folder).await?;
    // The rows written here are history: no engine should run them.
    full.stop().await;
    let mut written = 0;
    while written < setting.history {
        finished_run(&mut full).await?;
        written += TASKS;
    }
    full.store.close().await;
    let mut full = Rig::fake(&url("full.sqlite"), &setting.folder).await?;
    let doc = layers(3, 1);
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        without.push(millis(empty.run_pipeline(&doc).await?));
        with.push(millis(full.run_pipeline(&doc).await?));
    }
    let (without, with) = (median(&without), median(&with));
    Ok(vec![
        Figure::baseline("finished tasks", written as f64, ""),
        Figure::baseline("empty, a run of 3 tasks", without, "ms"),
        Figure::new("full, a run of 3 tasks", with, "ms"),
        Figure::new("ratio", with / without, "x").at_most(1.1),
    ])
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// Writes a run whose tasks have all ended, as the engine would have.
async fn finished_run(rig: &mut Rig) -> anyhow::Result<()> {
    let plan = rig.plan(&document(&layers(TASKS, TASKS))?)?;
    let lease = Lease { owner: "history".into() };
    let now = rig.clock.now();
    let record = RunRecord {
        id: plan.context.id.clone(),
        project: "default".into(),
        pipeline: "history".into(),
        user: "bench".into(),
        state: RunState::Succeeded,
        created_at: now,
        started_at: Some(now),
        ended_at: Some(now),
        tasks: u32::try_from(TASKS)?,
        message: None,
        version: None,
        parameters: JsonMap::new(),
        acting: None,
        parent: None,
        cause: Default::default(),
    };
    rig.store.create_run(&RunRecord { state: RunState::Running, ..record.clone() }, &plan, None).await?;
    rig.store.acquire(&lease.owner, now, Duration::from_secs(600), 1).await?;
    for first in (0..record.tasks).step_by(CHUNK as usize) {
        let tasks = (first..first + CHUNK).map(TaskIx);
        let rows = tasks.map(|task| ended(&plan, task, now)).unzip();
        let (instances, attempts) = rows;
        rig.store.commit(&lease, &Changes { instances, attempts, ..Changes::default() }).await?;
    }
    rig.store.commit(&lease, &Changes { runs: vec![record.clone()], ..Changes::default() }).await?;
    rig.store.release(&lease.owner, &[record.id]).await?;
    Ok(())
}

fn ended(plan: &RunPlan, task: TaskIx, now: cubeloom_domain::Timestamp) -> (InstanceRecord, AttemptRecord) {
    let run = plan.context.id.clone();
    let instance = InstanceRecord {
        run: run.clone(),
        task,
        instance: 0,
        state: InstanceState::Succeeded { reused: None },
        attempt: 1,
        tries: 1,
        ready_at: now,
        ended_at: Some(now),
        report: Report::default(),
        note: None,
        cool_until: None,
    };
    let attempt = AttemptRecord {
        key: AttemptKey { run, task: plan.task(task).name.clone(), instance: 0, n: 1 },
        task,
        state: AttemptState::Ended { started_at: Some(now), ended_at: now, outcome: Outcome::Succeeded },
        created_at: now,
        amount: Amount::default(),
        cards: BTreeMap::new(),
        pool: Pool::of("local"),
        workers: 1,
        earlier: Vec::new(),
        bindings: Bindings::None,
        limits: Vec::new(),
        usage: UsageSummary::default(),
        sizing: None,
        pace: None,
        hang: None,
        preflight: None,
        account: Account::default(),
    };
    (instance, attempt)
}
