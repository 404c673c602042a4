//! Hourly cleanup: kept responses, ended sessions, expired device codes, old size changes and unreferenced
//! code.

use std::time::Duration;

use crate::state::Web;

const EVERY: Duration = Duration::from_secs(60 * 60);
/// How long ended sessions are kept.
const SESSIONS: Duration = Duration::from_secs(30 * 86_400);
/// How long delivered and failed messages are kept.
const ALERTS: Duration = Duration::from_secs(30 * 86_400);

/// Starts the cleanup task.
pub(crate) fn start(web: &Web) {
    let web = web.downgrade();
    tokio::spawn(async move {
        let mut hours = tokio::time::interval(EVERY);
        loop {
            hours.tick().await;
            let Some(web) = web.upgrade() else { return };
            let ago = |time: Duration| cubeloom_domain::Timestamp(web.now().0 - time.as_micros() as i64);
            let swept = async {
                web.store().delete_old_idempotency(ago(super::once::KEPT)).await?;
                web.store().delete_old_device_codes(web.now()).await?;
                web.store().delete_old_alerts(ago(ALERTS)).await?;
                web.store().delete_old_size_changes().await?;
                web.store().delete_old_sessions(ago(SESSIONS)).await
            };
            crate::code::sweep(&web).await;
            if let Err(error) = swept.await {
                tracing::warn!(%error, "cannot delete old sessions and responses; retrying in an hour");
            }
        }
    });
}
