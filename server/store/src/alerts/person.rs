//! Mail to the user of a run, even if no channel of the project reports the event.
//!
//! It is a message like those of channels, with the user's id instead of a channel's.

use std::time::Duration;

use cubeloom_domain::alert::{Alert, Channel, ChannelKind, Delivery};
use cubeloom_domain::identity::User;
use sqlx::{AnyConnection, AssertSqlSafe};

use super::raise::{insert, newest};
use crate::error::StoreError;
use crate::users;
use crate::values::Values;

/// The minimum interval between equal mails about a task of a run: it may have thousands of instances.
const REPEAT: Duration = Duration::from_secs(3600);

/// Users who may get mail at all.
const MAILABLE: &str = "u.mails = 1 AND u.disabled = 0 AND u.email IS NOT NULL";

/// A reference to a user.
#[derive(Clone, Copy)]
pub(super) enum Named<'a> {
    /// By login name, as in runs.
    Name(&'a str),
    /// By id, as in messages.
    Id(&'a str),
}

/// A user who may get mail about a project: one with an address, with mails switched on, who can see the
/// project.
pub(super) async fn mailable(
    connection: &mut AnyConnection,
    named: Named<'_>,
    project: &str,
) -> Result<Option<User>, StoreError> {
    let (column, value) = match named {
        Named::Name(name) => ("u.name", name),
        Named::Id(id) => ("u.id", id),
    };
    let sql = format!(
        "SELECT {} FROM users u WHERE {column} = $1 AND {MAILABLE} AND (u.admin = 1 OR EXISTS \
         (SELECT 1 FROM members m WHERE m.user_id = u.id AND m.project = $2))",
        users::COLUMNS
    );
    let values = Values::texts("user", &[value, project])?;
    let row = sqlx::query_with(AssertSqlSafe(sql), values.arguments).fetch_optional(connection).await?;
    row.as_ref().map(users::read).transpose()
}

/// Whether any user may get mail.
pub(super) async fn is_anybody(connection: &mut AnyConnection) -> Result<bool, StoreError> {
    let sql = format!("SELECT 1 FROM users u WHERE {MAILABLE} LIMIT 1");
    let values = Values::new("user", 0);
    Ok(sqlx::query_with(AssertSqlSafe(sql), values.arguments).fetch_optional(connection).await?.is_some())
}

/// The channels that send mail to a user's address: such a channel displays all of its addresses.
pub(super) fn mailing<'a>(channels: &'a [Channel], person: &User) -> Vec<&'a Channel> {
    let address = person.email.as_deref().unwrap_or_default();
    let has = |shown: &str| shown.split(',').any(|one| one.trim().eq_ignore_ascii_case(address));
    channels.iter().filter(|channel| channel.kind == ChannelKind::Email && has(&channel.shown)).collect()
}

/// Mails an alert to the user of the run, unless one of the channels, which are already notified, sends mail
/// to the same address. Returns the number of messages.
pub(super) async fn mail(
    connection: &mut AnyConnection,
    channels: &[Channel],
    alert: &Alert,
) -> Result<usize, StoreError> {
    let Some(person) = person_of(connection, alert).await? else { return Ok(0) };
    for channel in mailing(channels, &person) {
        if has_told(connection, &channel.id, &alert.key).await? {
            return Ok(0);
        }
    }
    write(connection, &person, alert).await
}

/// The user of an alert's run, if mail is permitted.
pub(super) async fn person_of(
    connection: &mut AnyConnection,
    alert: &Alert,
) -> Result<Option<User>, StoreError> {
    let Some(name) = alert.user.as_deref().filter(|_| alert.kind.is_personal()) else { return Ok(None) };
    mailable(connection, Named::Name(name), &alert.project).await
}

/// Writes the mail, unless it exists or is a repetition.
pub(super) async fn write(
    connection: &mut AnyConnection,
    person: &User,
    alert: &Alert,
) -> Result<usize, StoreError> {
    // Another run of the task is reported immediately.
    let run = alert.run.as_ref().map(ToString::to_string).unwrap_or_default();
    let alert = Alert { topic: format!("{}:{run}", alert.topic), ..alert.clone() };
    let last = newest(connection, &person.id, &alert.topic).await?;
    if last.is_some_and(|(_, at)| alert.at < at.plus(REPEAT)) {
        return Ok(0);
    }
    insert(connection, &Delivery::new(&person.id, alert)).await
}

/// Whether a channel has a message with this key.
async fn has_told(connection: &mut AnyConnection, channel: &str, key: &str) -> Result<bool, StoreError> {
    let values = Values::texts("alert", &[channel, key])?;
    let sql = "SELECT 1 FROM alert_deliveries WHERE channel = $1 AND alert_key = $2";
    Ok(sqlx::query_with(sql, values.arguments).fetch_optional(connection).await?.is_some())
}
