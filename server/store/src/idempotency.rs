//! Stored responses: a request with an Idempotency-Key is carried out once.

use cubeloom_domain::Timestamp;

use crate::Store;
use crate::error::StoreError;
use crate::query::execute;
use crate::values::{Columns, Values};

/// Maximum duration of a request, in microseconds; one that has not ended by then never will.
const GIVEN_UP_US: i64 = 10 * 60_000_000;

/// The state of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Idempotent {
    /// It is the first with its key: carry it out.
    New,
    /// The first with its key is in progress.
    Running,
    /// It is done; this was its response.
    Done {
        status: u16,
        /// The response headers, as JSON.
        headers_json: String,
        body: String,
    },
    /// Another request had this key.
    Other,
}

impl Store {
    /// Begins a request, unless one with this key exists. Of several concurrent ones exactly one is new.
    pub async fn begin_idempotent(
        &self,
        user_id: &str,
        key: &str,
        request_hash: &str,
        now: Timestamp,
    ) -> Result<Idempotent, StoreError> {
        self.transact(async |connection| {
            // The server that handled it has ended meanwhile.
            let mut values = Values::texts("request", &[user_id, key])?;
            values.int(now.0.saturating_sub(GIVEN_UP_US))?;
            let sql = "DELETE FROM idempotency WHERE user_id = $1 AND idempotency_key = $2 AND status IS NULL \
                       AND created_at < $3";
            execute(connection, sql, values).await?;
            let mut values = Values::texts("request", &[user_id, key, request_hash])?;
            values.int(now.0)?;
            let sql = "INSERT INTO idempotency (user_id, idempotency_key, request_hash, created_at) \
                       VALUES ($1, $2, $3, $4) ON CONFLICT (user_id, idempotency_key) DO NOTHING";
            if execute(connection, sql, values).await? == 1 {
                return Ok(Idempotent::New);
            }
            let values = Values::texts("request", &[user_id, key])?;
            let sql = "SELECT request_hash, status, headers_json, body FROM idempotency \
                       WHERE user_id = $1 AND idempotency_key = $2";
            let row = sqlx::query_with(sql, values.arguments).fetch_optional(connection).await?;
            // Deleted in this moment: the client should retry, as for a request in progress.
            let Some(row) = row else { return Ok(Idempotent::Running) };
            let mut columns = Columns::of("request", &row);
            if columns.text()? != request_hash {
                return Ok(Idempotent::Other);
            }
            let Some(status) = columns.maybe_int()? else { return Ok(Idempotent::Running) };
            let (headers_json, body) = (columns.text()?.into(), columns.text()?.into());
            Ok(Idempotent::Done { status, headers_json, body })
        })
        .await
    }

    /// Stores the response to a request.
    pub async fn finish_idempotent(
        &self,
        user_id: &str,
        key: &str,
        status: u16,
        headers_json: &str,
        body: &str,
    ) -> Result<(), StoreError> {
        let mut values = Values::texts("request", &[user_id, key, headers_json, body])?;
        values.int(status)?;
        let sql = "UPDATE idempotency SET headers_json = $3, body = $4, status = $5 \
                   WHERE user_id = $1 AND idempotency_key = $2";
        execute(self.writer().await?.get(), sql, values).await?;
        Ok(())
    }

    /// Deletes a request that failed for an unrelated reason, so that it may be repeated.
    pub async fn forget_idempotent(&self, user_id: &str, key: &str) -> Result<(), StoreError> {
        let values = Values::texts("request", &[user_id, key])?;
        let sql = "DELETE FROM idempotency WHERE user_id = $1 AND idempotency_key = $2";
        execute(self.writer().await?.get(), sql, values).await?;
        Ok(())
    }

    /// Deletes the requests that began before this moment; returns their number.
    pub async fn delete_old_idempotency(&self, before: Timestamp) -> Result<u64, StoreError> {
        let mut values = Values::new("request", 1);
        values.int(before.0)?;
        let sql = "DELETE FROM idempotency WHERE created_at < $1";
        execute(self.writer().await?.get(), sql, values).await
    }
}
