//! Records for tests.

use std::collections::BTreeMap;

use cubeloom_domain::accounting::Account;
use cubeloom_domain::executor::Report;
use cubeloom_domain::hang::{Hang, Known};
use cubeloom_domain::job::SuccessRule;
use cubeloom_domain::lowered::Bindings;
use cubeloom_domain::outcome::Outcome;
use cubeloom_domain::pace::{Behind, Mark, Pace};
use cubeloom_domain::plan::{PlannedRole, RunPlan};
use cubeloom_domain::quota::Pool;
use cubeloom_domain::record::{AttemptRecord, Changes, InstanceRecord, RunRecord};
use cubeloom_domain::resources::{Amount, Resources};
use cubeloom_domain::state::{AttemptState, InstanceState, RunState};
use cubeloom_domain::usage::UsageSummary;
use cubeloom_domain::{AttemptKey, Bytes, Cpu, JsonMap, RunId, TaskIx, Timestamp};
use serde_json::json;

/// The `n`th run's id.
pub fn run_id(n: u64) -> RunId {
    RunId::new(Timestamp(1_700_000_000_000_000 + i64::try_from(n).unwrap() * 1000), u128::from(n) * 7919)
}

/// A queued run.
pub fn run(n: u64) -> RunRecord {
    RunRecord {
        id: run_id(n),
        project: "shop".into(),
        pipeline: "ctr".into(),
        user: "ada".into(),
        state: RunState::Queued,
        created_at: Timestamp(1_700_000_000_000_000 + i64::try_from(n).unwrap()),
        started_at: None,
        ended_at: None,
        tasks: 2,
        message: None,
        version: None,
        parameters: JsonMap::new(),
        acting: None,
        parent: None,
        cause: Default::default(),
    }
}

/// The run's plan, with tasks `task-0`, `task-1`, ..., each after the one before it.
pub fn plan(record: &RunRecord, tasks: u32) -> RunPlan {
    let worker = PlannedRole {
        name: "worker".into(),
        replicas: 1,
        resources: Resources::default(),
        kept: Default::default(),
    };
    let task = |n: u32| {
        json!({
            "name": format!("task-{n}"),
            "template": 0,
            "needs": n.checked_sub(1).into_iter().collect::<Vec<_>>(),
            "arguments": { "rows": { "value": n } },
            "roles": [worker],
            "success": SuccessRule::AllWorkers,
            "gang": 1,
        })
    };
    serde_json::from_value(json!({
        "context": {
            "id": record.id,
            "project": record.project,
            "user": record.user,
            "date": record.created_at,
        },
        "pipeline": record.pipeline,
        "parameters": { "z": 1, "a": "x" },
        "cluster": "local",
        "parallelism": 4,
        "templates": [{
            "name": "command",
            "version": "1.0.0",
            "digest": "00",
            "folder": "/templates/command",
            "framework": "single",
            "command": ["true"],
        }],
        "tasks": (0..tasks).map(task).collect::<Vec<_>>(),
    }))
    .unwrap()
}

/// A pending instance.
pub fn instance(run: &RunId, task: u32, instance: u32) -> InstanceRecord {
    InstanceRecord {
        run: run.clone(),
        task: TaskIx(task),
        instance,
        state: InstanceState::Waiting { since: Timestamp(5), reason: None },
        attempt: 0,
        tries: 0,
        ready_at: Timestamp(5),
        ended_at: None,
        report: Report::default(),
        note: None,
        cool_until: None,
    }
}

/// An attempt that is being submitted.
pub fn attempt(run: &RunId, task: u32, instance: u32, n: u32) -> AttemptRecord {
    AttemptRecord {
        key: AttemptKey { run: run.clone(), task: format!("task-{task}"), instance, n },
        task: TaskIx(task),
        state: AttemptState::Submitting,
        created_at: Timestamp(6),
        amount: Amount { cpu: Cpu(1000), memory: Bytes(1 << 30), gpus: 0 },
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
        account: Account { user: "ada".into(), template: "command".into(), ..Account::default() },
    }
}

/// The attempt after it succeeded.
pub fn ended(attempt: &AttemptRecord) -> AttemptRecord {
    let state = attempt.state.clone().end(Timestamp(9), Outcome::Succeeded).unwrap();
    let usage = UsageSummary { cpu_us: 12, ..UsageSummary::default() };
    let (pace, hang) = (Some(Box::new(pace())), Some(Box::new(hang())));
    AttemptRecord { state, usage, pace, hang, ..attempt.clone() }
}

/// Two steps.
fn pace() -> Pace {
    let mark = |at, step| Mark { at: Timestamp(at), step };
    Pace {
        first: mark(7, 1.0),
        last: mark(8, 2.0),
        gaps: 1,
        longest: 1,
        saving: 2,
        restoring: 0,
        behind: Some(Behind { rank: 3, since: Timestamp(8), step: 9.0, read_later: true }),
        known: Known { gaps: 4, longest: 5, restarts: 1, preflights: 0 },
    }
}

/// A resolved hang.
pub fn hang() -> Hang {
    let (since, seen_at) = (Timestamp(7), Timestamp(8));
    Hang {
        rank: 3,
        step: Some(9.0),
        since,
        seen_at,
        longest: 1,
        by_cards: false,
        over: Some(Timestamp(8)),
        stacks: Vec::new(),
    }
}

/// Changes that write these attempts, and an active instance for each.
pub fn changes(attempts: Vec<AttemptRecord>) -> Changes {
    let instances = attempts
        .iter()
        .map(|attempt| InstanceRecord {
            state: InstanceState::ACTIVE,
            attempt: attempt.key.n,
            ..instance(&attempt.key.run, attempt.task.0, attempt.key.instance)
        })
        .collect();
    Changes { instances, attempts, ..Changes::default() }
}
