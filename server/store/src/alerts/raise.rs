//! Raises alerts: an alert becomes a message of each channel that subscribes to it.

use std::collections::BTreeMap;

use cubeloom_domain::Timestamp;
use cubeloom_domain::alert::{Alert, AlertKind, Channel, Delivery};
use cubeloom_domain::record::{AttemptRecord, RunRecord};
use cubeloom_domain::state::RunState;
use sqlx::AnyConnection;

use super::channels::listening;
use super::person::mail;
use crate::Store;
use crate::error::StoreError;
use crate::query::execute;
use crate::usage::Origin;
use crate::values::{Columns, Values};

impl Store {
    /// Notifies the subscribed channels of the alert's project. It may be raised again: each channel sends
    /// its key once. Returns how many channels send it now.
    pub async fn raise_alert(&self, alert: &Alert) -> Result<usize, StoreError> {
        self.transact(async |connection| raise(connection, alert).await).await
    }
}

/// Notifies the subscribed channels of the alert's project. Returns how many send it now.
pub(crate) async fn raise(connection: &mut AnyConnection, alert: &Alert) -> Result<usize, StoreError> {
    let channels = listening(connection, Some(&alert.project)).await?;
    tell(connection, &channels, alert).await
}

/// Raises alerts for written runs that have ended.
pub(crate) async fn ended(connection: &mut AnyConnection, runs: &[RunRecord]) -> Result<(), StoreError> {
    let mut channels: BTreeMap<&str, Vec<Channel>> = BTreeMap::new();
    for run in runs.iter().filter(|run| matches!(run.state, RunState::Failed | RunState::Succeeded)) {
        if !channels.contains_key(run.project.as_str()) {
            channels.insert(&run.project, listening(connection, Some(&run.project)).await?);
        }
        let listening = &channels[run.project.as_str()];
        if listening.is_empty() {
            continue;
        }
        if run.state == RunState::Failed {
            tell(connection, listening, &Alert::of_run(AlertKind::RunFailed, run)).await?;
        } else if had_failed(connection, run).await? {
            tell(connection, listening, &Alert::of_run(AlertKind::RunRecovered, run)).await?;
        }
    }
    Ok(())
}

/// Raises an alert that an attempt's workers get other resources than the previous attempt's. `channels` are
/// those of its project. With `mails` the user of the run gets mail, too.
pub(crate) async fn resized(
    connection: &mut AnyConnection,
    channels: &[Channel],
    attempt: &AttemptRecord,
    origin: &Origin,
    mails: bool,
) -> Result<(), StoreError> {
    if channels.is_empty() && !mails {
        return Ok(());
    }
    if let Some(alert) = Alert::of_size(attempt, &origin.project, &origin.pipeline) {
        tell(connection, channels, &alert).await?;
        if mails {
            mail(connection, channels, &alert).await?;
        }
    }
    Ok(())
}

/// Whether the pipeline's previous run failed, or a channel has reported that this run failed.
async fn had_failed(connection: &mut AnyConnection, run: &RunRecord) -> Result<bool, StoreError> {
    let values = Values::texts("run", &[&run.project, &run.pipeline, run.id.as_str()])?;
    let sql = "SELECT state FROM runs WHERE project = $1 AND pipeline = $2 AND id < $3 \
               AND state IN ('failed', 'succeeded') ORDER BY id DESC LIMIT 1";
    let before = sqlx::query_with(sql, values.arguments).fetch_optional(&mut *connection).await?;
    if let Some(row) = before
        && Columns::of("run", &row).word::<RunState>()? == RunState::Failed
    {
        return Ok(true);
    }
    if run.acting.is_none() {
        // It was never resumed: it ends for the first time.
        return Ok(false);
    }
    let own = format!("{}:{}:", AlertKind::RunFailed.as_str(), run.id);
    let mut values = Values::texts("alert", &[&run.project, &own])?;
    values.int(own.len())?;
    let sql = "SELECT 1 FROM alert_deliveries WHERE project = $1 AND SUBSTR(alert_key, 1, CAST($3 AS INTEGER)) = $2 LIMIT 1";
    Ok(sqlx::query_with(sql, values.arguments).fetch_optional(connection).await?.is_some())
}

/// Writes the messages of the subscribed channels for which the alert is no repetition.
pub(super) async fn tell(
    connection: &mut AnyConnection,
    channels: &[Channel],
    alert: &Alert,
) -> Result<usize, StoreError> {
    let mut told = 0;
    for channel in channels.iter().filter(|channel| channel.rules.want(alert)) {
        if channel.rules.repeat_seconds > 0
            && channel.rules.is_repetition(alert, newest(connection, &channel.id, &alert.topic).await?)
        {
            continue;
        }
        told += insert(connection, &Delivery::new(&channel.id, alert.clone())).await?;
    }
    Ok(told)
}

/// The last message of the channel about a topic.
pub(super) async fn newest(
    connection: &mut AnyConnection,
    channel: &str,
    topic: &str,
) -> Result<Option<(AlertKind, Timestamp)>, StoreError> {
    let values = Values::texts("alert", &[channel, topic])?;
    let sql = "SELECT kind, created_at FROM alert_deliveries WHERE channel = $1 AND topic = $2 \
               ORDER BY created_at DESC LIMIT 1";
    let row = sqlx::query_with(sql, values.arguments).fetch_optional(connection).await?;
    let Some(row) = row else { return Ok(None) };
    let mut columns = Columns::of("alert", &row);
    Ok(Some((columns.word()?, columns.time()?)))
}

/// Writes a message, unless its channel already has it.
pub(super) async fn insert(connection: &mut AnyConnection, delivery: &Delivery) -> Result<usize, StoreError> {
    let alert = &delivery.alert;
    let texts =
        [&delivery.id, &delivery.channel, &alert.project, alert.kind.as_str(), &alert.key, &alert.topic];
    let mut values = Values::texts("alert", &texts)?;
    values.json(alert)?.text(&delivery.batch)?.text(delivery.state.as_str())?.int(alert.at.0)?;
    values.maybe_time(delivery.due_at)?.int(delivery.tries)?.maybe_time(delivery.ended_at)?;
    values.maybe_text(delivery.answer.as_deref())?;
    let sql = "INSERT INTO alert_deliveries (id, channel, project, kind, alert_key, topic, alert_json, batch, state, \
               created_at, due_at, tries, ended_at, answer) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) \
               ON CONFLICT (channel, alert_key) DO NOTHING";
    let written = execute(connection, sql, values).await?;
    Ok(usize::try_from(written).unwrap_or(0))
}
