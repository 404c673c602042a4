//! Streams the audit log to an administrator's receiver: syslog or a webhook. Every entry is delivered at
//! least once with its id, also across restarts: the position is in the database. Servers of one database
//! take turns by lease. No request waits for a receiver.

mod syslog;
mod webhook;

use std::time::Duration;

use cubeloom_domain::identity::AuditEntry;
use cubeloom_store::StoreError;
use tokio::time::{MissedTickBehavior, interval, timeout};

pub use syslog::SyslogAddress;
pub use webhook::Webhook;

use crate::state::{WeakWeb, Web};

/// Poll interval for new entries.
const PERIOD: Duration = Duration::from_secs(1);
/// Maximum number of entries per batch.
const BATCH: usize = 100;
const TIMEOUT: Duration = Duration::from_secs(30);
/// Duration of the lease while sending: longer than the timeout.
const LEASE: Duration = Duration::from_secs(45);
/// Maximum delay after a failure.
const MAX_WAIT: Duration = Duration::from_secs(300);

/// Receivers of the audit log.
#[derive(Clone, Debug, Default)]
pub struct AuditSettings {
    /// Syslog receiver (RFC 5424).
    pub syslog: Option<SyslogAddress>,
    /// HTTP receiver of JSON lines.
    pub webhook: Option<Webhook>,
}

impl AuditSettings {
    fn receivers(&self) -> Vec<Receiver> {
        let syslog = self.syslog.clone().map(Receiver::Syslog);
        syslog.into_iter().chain(self.webhook.clone().map(Receiver::Webhook)).collect()
    }

    /// Names of the receivers in the database.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.receivers().iter().map(Receiver::name).collect()
    }
}

#[derive(Clone)]
enum Receiver {
    Syslog(SyslogAddress),
    Webhook(Webhook),
}

impl Receiver {
    fn name(&self) -> &'static str {
        match self {
            Self::Syslog(_) => "syslog",
            Self::Webhook(_) => "webhook",
        }
    }

    /// Sends entries. `Err` says why the receiver may lack some of them.
    async fn send(&self, web: &Web, entries: &[AuditEntry]) -> Result<(), String> {
        let sent = async {
            match self {
                Self::Syslog(address) => address.send(entries, &web.settings().url).await,
                Self::Webhook(webhook) => webhook.send(entries).await,
            }
        };
        let late =
            |_| format!("the receiver did not accept the entries within {} seconds", TIMEOUT.as_secs());
        timeout(TIMEOUT, sent).await.map_err(late)?
    }
}

/// Starts sending.
pub(crate) fn start(web: &Web) {
    for receiver in web.settings().audit.receivers() {
        tokio::spawn(run(web.downgrade(), web.new_id(), receiver));
    }
}

async fn run(web: WeakWeb, owner: String, receiver: Receiver) {
    let mut period = interval(PERIOD);
    period.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let Some(held) = web.upgrade() else { return };
        let mut stopping = held.stopping();
        tokio::select! {
            _ = period.tick() => {}
            _ = stopping.wait_for(|stopping| *stopping) => return,
        }
        // After a database error, unsent entries stay.
        if let Err(error) = pass(&held, &owner, &receiver).await {
            tracing::debug!(%error, receiver = receiver.name(), "cannot send the audit log; retrying");
        }
    }
}

/// Sends unsent entries.
async fn pass(web: &Web, owner: &str, receiver: &Receiver) -> Result<(), StoreError> {
    let (store, name) = (web.store(), receiver.name());
    let Some(stream) = store.audit_stream(name).await? else {
        return store.begin_audit_stream(name, web.now()).await;
    };
    if stream.due_at > web.now() {
        return Ok(());
    }
    let mut failures = stream.failures;
    while !store.unsent_audit(name, 1).await?.is_empty() {
        if !store.claim_audit_stream(name, owner, web.now(), LEASE).await? {
            return Ok(());
        }
        // Read under the lease only: another server may have sent some before.
        let entries = store.unsent_audit(name, BATCH).await?;
        if let Err(error) = receiver.send(web, &entries).await {
            failures += 1;
            let (now, wait) = (web.now(), wait(failures));
            tracing::warn!(receiver = name, error, failures, ?wait, "cannot send the audit log; retrying");
            return store.audit_refused(name, owner, &error, now, now.plus(wait)).await;
        }
        if failures > 0 {
            tracing::info!(receiver = name, "the audit log can be sent again");
            failures = 0;
        }
        if !store.audit_sent(name, owner, &entries, web.now()).await? {
            return Ok(());
        }
    }
    Ok(())
}

/// Delay after this many failures.
fn wait(failures: u32) -> Duration {
    MAX_WAIT.min(Duration::from_secs(1 << failures.saturating_sub(1).min(10)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_five_minutes() {
        let waits: Vec<u64> = [1, 2, 3, 9, 10, 11, u32::MAX].map(|n| wait(n).as_secs()).to_vec();
        assert_eq!(waits, [1, 2, 4, 256, 300, 300, 300]);
    }
}
