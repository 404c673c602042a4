//! Conversion between the engine's records and rows of their tables.

use cubeloom_domain::accounting::Account;
use cubeloom_domain::hang::WorkerStack;
use cubeloom_domain::quota::Pool;
use cubeloom_domain::record::{AttemptRecord, CacheEntry, ExpansionRecord, InstanceRecord, RunRecord};
use cubeloom_domain::resources::Amount;
use cubeloom_domain::schedule::Cause;
use cubeloom_domain::usage::UsageSummary;
use cubeloom_domain::{AttemptKey, Bytes, Cpu, RunId, TaskIx, Timestamp};
use sqlx::AnyConnection;
use sqlx::any::AnyRow;

use crate::error::StoreError;
use crate::upsert::{Row, Upsert};
use crate::values::{Columns, Values};

pub(crate) static RUNS: Upsert = Upsert::new(
    "runs",
    &[
        "id",
        "project",
        "pipeline",
        "user_name",
        "state",
        "live",
        "created_at",
        "started_at",
        "ended_at",
        "tasks",
        "message",
        "version",
        "parameters_json",
        "acting_user",
        "parent",
        "started_by",
        "logical_date",
        "late_at",
    ],
    1,
);

/// Stores a new run.
pub(crate) async fn insert_run(connection: &mut AnyConnection, run: &RunRecord) -> Result<(), StoreError> {
    let mut values = Values::new("run", 18);
    run.bind(&mut values)?;
    sqlx::query_with(
        "INSERT INTO runs (id, project, pipeline, user_name, state, live, created_at, started_at, ended_at, \
         tasks, message, version, parameters_json, acting_user, parent, started_by, logical_date, late_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)",
        values.arguments,
    )
    .execute(connection)
    .await?;
    Ok(())
}

/// The columns of [`run`].
pub(crate) const RUN_COLUMNS: &str = "id, project, pipeline, user_name, state, created_at, started_at, \
     ended_at, tasks, message, version, parameters_json, acting_user, parent, started_by, logical_date, late_at";

impl Row for RunRecord {
    type Key<'a> = &'a RunId;

    fn key(&self) -> &RunId {
        &self.id
    }

    fn bind(&self, values: &mut Values) -> Result<(), StoreError> {
        values.text(self.id.as_str())?.text(&self.project)?.text(&self.pipeline)?.text(&self.user)?;
        values.text(self.state.as_str())?.flag(!self.state.is_final())?;
        values
            .int(self.created_at.0)?
            .maybe_int(micros(self.started_at))?
            .maybe_int(micros(self.ended_at))?;
        values.int(self.tasks)?.maybe_text(self.message.as_deref())?;
        values.maybe_int(self.version)?.json(&self.parameters)?.maybe_text(self.acting.as_deref())?;
        values.maybe_text(self.parent.as_ref().map(ToString::to_string).as_deref())?;
        let Cause { trigger, date, late_at } = self.cause;
        values.text(trigger.as_str())?.maybe_time(date)?.maybe_time(late_at)?;
        Ok(())
    }
}

/// A run, from [`RUN_COLUMNS`].
pub(crate) fn run(row: &AnyRow) -> Result<RunRecord, StoreError> {
    let mut columns = Columns::of("run", row);
    Ok(RunRecord {
        id: columns.parsed()?,
        project: columns.text()?.into(),
        pipeline: columns.text()?.into(),
        user: columns.text()?.into(),
        state: columns.word()?,
        created_at: Timestamp(columns.int()?),
        started_at: columns.maybe_int()?.map(Timestamp),
        ended_at: columns.maybe_int()?.map(Timestamp),
        tasks: columns.int()?,
        message: columns.maybe_text()?,
        version: columns.maybe_int()?,
        parameters: columns.json()?,
        acting: columns.maybe_text()?,
        parent: columns.maybe_parsed()?,
        cause: Cause {
            trigger: columns.word()?,
            date: columns.maybe_time()?,
            late_at: columns.maybe_time()?,
        },
    })
}

fn micros(time: Option<Timestamp>) -> Option<i64> {
    time.map(|time| time.0)
}

pub(crate) static EXPANSIONS: Upsert = Upsert::new("expansions", &["run_id", "task", "items_json"], 2);

/// The columns of [`expansion`].
pub(crate) const EXPANSION_COLUMNS: &str = "run_id, task, items_json";

impl Row for ExpansionRecord {
    type Key<'a> = (&'a RunId, TaskIx);

    fn key(&self) -> Self::Key<'_> {
        (&self.run, self.task)
    }

    fn bind(&self, values: &mut Values) -> Result<(), StoreError> {
        values.text(self.run.as_str())?.int(self.task.0)?.json(&self.items)?;
        Ok(())
    }
}

/// An expansion, from [`EXPANSION_COLUMNS`].
pub(crate) fn expansion(row: &AnyRow) -> Result<ExpansionRecord, StoreError> {
    let mut columns = Columns::of("expansion", row);
    Ok(ExpansionRecord { run: columns.parsed()?, task: TaskIx(columns.int()?), items: columns.json()? })
}

pub(crate) static INSTANCES: Upsert = Upsert::new(
    "instances",
    &[
        "run_id",
        "task",
        "instance",
        "state_json",
        "attempt",
        "tries",
        "ready_at",
        "ended_at",
        "report_json",
        "note",
        "cool_until",
        "queued",
    ],
    3,
);

/// The columns of [`instance`].
pub(crate) const INSTANCE_COLUMNS: &str =
    "run_id, task, instance, state_json, attempt, tries, ready_at, ended_at, report_json, note, cool_until";

impl Row for InstanceRecord {
    type Key<'a> = (&'a RunId, TaskIx, u32);

    fn key(&self) -> Self::Key<'_> {
        (&self.run, self.task, self.instance)
    }

    fn bind(&self, values: &mut Values) -> Result<(), StoreError> {
        values.text(self.run.as_str())?.int(self.task.0)?.int(self.instance)?.json(&self.state)?;
        values.int(self.attempt)?.int(self.tries)?.int(self.ready_at.0)?.maybe_int(micros(self.ended_at))?;
        values.json(&self.report)?.maybe_text(self.note.as_deref())?.maybe_time(self.cool_until)?;
        values.flag(self.state.is_queued())?;
        Ok(())
    }
}

/// An instance, from [`INSTANCE_COLUMNS`].
pub(crate) fn instance(row: &AnyRow) -> Result<InstanceRecord, StoreError> {
    instance_from(&mut Columns::of("instance", row))
}

/// An instance from a row's next columns, which are [`INSTANCE_COLUMNS`].
pub(crate) fn instance_from(columns: &mut Columns<'_>) -> Result<InstanceRecord, StoreError> {
    Ok(InstanceRecord {
        run: columns.parsed()?,
        task: TaskIx(columns.int()?),
        instance: columns.int()?,
        state: columns.json()?,
        attempt: columns.int()?,
        tries: columns.int()?,
        ready_at: Timestamp(columns.int()?),
        ended_at: columns.maybe_int()?.map(Timestamp),
        report: columns.json()?,
        note: columns.maybe_text()?,
        cool_until: columns.maybe_time()?,
    })
}

const ATTEMPT: &[&str] = &[
    "run_id",
    "task",
    "instance",
    "n",
    "task_name",
    "live",
    "state_json",
    "created_at",
    "cpu",
    "memory",
    "gpus",
    "workers",
    "bindings_json",
    "used_cpu_us",
    "peak_memory",
    "kernel_peak_memory",
    "used_card_us",
    "cluster",
    "node_group",
    "cards_json",
    "user_name",
    "template",
    "card_parts",
    "limits_json",
    "earlier_json",
    "sizing_json",
    "pace_json",
    "hang_json",
    "preflight_json",
    "counted",
];

pub(crate) static ATTEMPTS: Upsert = Upsert::new("attempts", ATTEMPT, 4).adding(1);

/// The same for ended attempts; also returns how often each end was written.
pub(crate) static ENDED: Upsert =
    Upsert::new("attempts", ATTEMPT, 4).adding(1).returning("run_id, task, instance, n, counted");

/// The columns of [`attempt`]: all but the stacks of hung workers, which may be megabytes.
pub(crate) const ATTEMPT_COLUMNS: &str = "run_id, task, instance, n, task_name, state_json, created_at, \
     cpu, memory, gpus, workers, bindings_json, used_cpu_us, peak_memory, kernel_peak_memory, used_card_us, \
     cluster, node_group, cards_json, user_name, template, card_parts, limits_json, earlier_json, sizing_json, \
     pace_json, hang_json, preflight_json";

impl Row for AttemptRecord {
    type Key<'a> = (&'a RunId, TaskIx, u32, u32);

    fn key(&self) -> Self::Key<'_> {
        (&self.key.run, self.task, self.key.instance, self.key.n)
    }

    fn bind(&self, values: &mut Values) -> Result<(), StoreError> {
        values.text(self.key.run.as_str())?.int(self.task.0)?.int(self.key.instance)?.int(self.key.n)?;
        values.text(&self.key.task)?.flag(self.state.is_live())?.json(&self.state)?;
        values.int(self.created_at.0)?;
        values.int(self.amount.cpu.0)?.int(self.amount.memory.0)?.int(self.amount.gpus)?;
        values.int(self.workers)?.json(&self.bindings)?;
        values.int(self.usage.cpu_us)?.int(self.usage.peak_memory.0)?;
        values
            .maybe_int(self.usage.kernel_peak_memory.map(|bytes| bytes.0))?
            .maybe_int(self.usage.card_us)?;
        values.text(&self.pool.cluster)?.maybe_text(self.pool.node_group.as_deref())?.json(&self.cards)?;
        let Account { user, template, card_parts } = &self.account;
        values.text(user)?.text(template)?.int(*card_parts)?;
        values.maybe_json(Some(&self.limits).filter(|limits| !limits.is_empty()))?;
        values.maybe_json(Some(&self.earlier).filter(|earlier| !earlier.is_empty()))?;
        values
            .maybe_json(self.sizing.as_ref())?
            .maybe_json(self.pace.as_ref())?
            .maybe_json(self.hang.as_ref())?
            .maybe_json(self.preflight.as_ref())?;
        values.flag(!self.state.is_live())?;
        Ok(())
    }
}

/// The columns of [`whole_attempt`], after [`ATTEMPT_COLUMNS`].
pub(crate) const STACKS_COLUMN: &str = "hang_stacks_json";

/// An attempt, from [`ATTEMPT_COLUMNS`] and [`STACKS_COLUMN`].
pub(crate) fn whole_attempt(row: &AnyRow) -> Result<AttemptRecord, StoreError> {
    let mut columns = Columns::of("attempt", row);
    let mut attempt = attempt_from(&mut columns)?;
    let stacks: Option<Vec<WorkerStack>> = columns.maybe_json()?;
    if let (Some(hang), Some(stacks)) = (attempt.hang.as_mut(), stacks) {
        hang.stacks = stacks;
    }
    Ok(attempt)
}

/// An attempt, from [`ATTEMPT_COLUMNS`].
pub(crate) fn attempt(row: &AnyRow) -> Result<AttemptRecord, StoreError> {
    attempt_from(&mut Columns::of("attempt", row))
}

/// An attempt from a row's next columns, which are [`ATTEMPT_COLUMNS`].
pub(crate) fn attempt_from(columns: &mut Columns<'_>) -> Result<AttemptRecord, StoreError> {
    let (run, task) = (columns.parsed()?, TaskIx(columns.int()?));
    let (instance, n) = (columns.int()?, columns.int()?);
    Ok(AttemptRecord {
        key: AttemptKey { run, task: columns.text()?.into(), instance, n },
        task,
        state: columns.json()?,
        created_at: Timestamp(columns.int()?),
        amount: Amount { cpu: Cpu(columns.int()?), memory: Bytes(columns.int()?), gpus: columns.int()? },
        workers: columns.int()?,
        bindings: columns.json()?,
        usage: UsageSummary {
            cpu_us: columns.int()?,
            peak_memory: Bytes(columns.int()?),
            kernel_peak_memory: columns.maybe_int()?.map(Bytes),
            card_us: columns.maybe_int()?,
            // The rest is stored by role, with the workers' resources.
            ..UsageSummary::default()
        },
        pool: Pool { cluster: columns.text()?.into(), node_group: columns.maybe_text()? },
        cards: columns.json()?,
        account: Account {
            user: columns.text()?.into(),
            template: columns.text()?.into(),
            card_parts: columns.int()?,
        },
        limits: columns.maybe_json()?.unwrap_or_default(),
        earlier: columns.maybe_json()?.unwrap_or_default(),
        sizing: columns.maybe_json()?,
        pace: columns.maybe_json()?,
        hang: columns.maybe_json()?,
        preflight: columns.maybe_json()?,
    })
}

pub(crate) static CACHE: Upsert = Upsert::new(
    "cache",
    &["project", "cache_key", "parts_json", "pipeline", "task_name", "run_id", "created_at", "report_json"],
    2,
);

/// The columns of [`cache_entry`].
pub(crate) const CACHE_COLUMNS: &str =
    "project, cache_key, parts_json, pipeline, task_name, run_id, created_at, report_json";

impl Row for CacheEntry {
    type Key<'a> = (&'a str, &'a str);

    fn key(&self) -> Self::Key<'_> {
        (&self.project, &self.key)
    }

    fn bind(&self, values: &mut Values) -> Result<(), StoreError> {
        values.text(&self.project)?.text(&self.key)?.json(&self.parts)?;
        values.text(&self.pipeline)?.text(&self.task)?.text(self.run.as_str())?;
        values.int(self.created_at.0)?.json(&self.report)?;
        Ok(())
    }
}

/// A cache entry, from [`CACHE_COLUMNS`].
pub(crate) fn cache_entry(row: &AnyRow) -> Result<CacheEntry, StoreError> {
    let mut columns = Columns::of("cache entry", row);
    Ok(CacheEntry {
        project: columns.text()?.into(),
        key: columns.text()?.into(),
        parts: columns.json()?,
        pipeline: columns.text()?.into(),
        task: columns.text()?.into(),
        run: columns.parsed()?,
        created_at: Timestamp(columns.int()?),
        report: columns.json()?,
    })
}
