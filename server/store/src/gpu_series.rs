//! GPUs of clusters over time: one row a minute, summed up to rows of 15 minutes and of two hours. A row is a
//! few JSON texts instead of a row per node and task, because it is always written and read as a whole.

use std::time::Duration;

use cubeloom_domain::Timestamp;
use cubeloom_domain::gpu_series::{GpuAllocation, GpuRow, GpuTier, GpuUse, minute_of};
use futures::TryStreamExt;
use sqlx::any::AnyRow;
use sqlx::{Any, AnyConnection, AssertSqlSafe};

use crate::Store;
use crate::error::StoreError;
use crate::query::execute;
use crate::values::{Columns, Values};

const WHAT: &str = "GPU series";

/// Maximum number of rows that one call sums up to or deletes, per tier and cluster: transactions stay small
/// after a long downtime.
const AT_ONCE: i64 = 60;

/// The part of the rows that is read. The others stay empty, except the totals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GpuPart {
    Totals,
    Allocations,
    Models,
    Nodes,
    All,
}

/// A range of a cluster's rows, and how they are summed up.
#[derive(Clone, Copy, Debug)]
pub struct GpuRange<'r> {
    pub cluster: &'r str,
    pub part: GpuPart,
    /// The first minute, a multiple of `step`.
    pub from: i64,
    /// The first minute that is not included.
    pub until: i64,
    /// Minutes per resulting row.
    pub step: i64,
}

impl Store {
    /// Leases the sampling of all clusters, unless another server has the lease; returns whether `owner` has
    /// it now.
    pub async fn claim_gpu_sampling(
        &self,
        owner: &str,
        now: Timestamp,
        ttl: Duration,
    ) -> Result<bool, StoreError> {
        self.transact(async |connection| {
            let mut values = Values::texts(WHAT, &[owner])?;
            values.int(now.0)?.int(now.plus(ttl).0)?;
            let sql = "UPDATE gpu_sampler SET lease_owner = $1, lease_until = $3 WHERE id = 1 \
                       AND (lease_until IS NULL OR lease_until < $2 OR lease_owner = $1)";
            Ok(execute(connection, sql, values).await? > 0)
        })
        .await
    }

    /// Ends the lease, so that another server need not wait for its expiry.
    pub async fn release_gpu_sampling(&self, owner: &str) -> Result<(), StoreError> {
        self.transact(async |connection| {
            let sql = "UPDATE gpu_sampler SET lease_owner = NULL, lease_until = NULL \
                       WHERE id = 1 AND lease_owner = $1";
            execute(connection, sql, Values::texts(WHAT, &[owner])?).await?;
            Ok(())
        })
        .await
    }

    /// Stores the sample of a minute. A second sample of the same minute is dropped.
    pub async fn add_gpu_sample(&self, cluster: &str, sample: &GpuRow) -> Result<(), StoreError> {
        self.transact(async |connection| write(connection, cluster, GpuTier::Minute, sample).await).await
    }

    /// The rows of a range, summed up to rows of its step, oldest first. Steps without a sample have no row.
    ///
    /// It reads the longest rows that the step is a multiple of, and shorter ones where these do not exist
    /// yet.
    pub async fn gpu_series(&self, range: &GpuRange<'_>) -> Result<Vec<GpuRow>, StoreError> {
        let mut connection = self.inner.pool.acquire().await?;
        let (mut found, mut from) = (Vec::new(), range.from);
        for tier in GpuTier::ALL.into_iter().rev().filter(|tier| range.step % tier.minutes() == 0) {
            from = read(&mut connection, range, tier, from, &mut found).await?;
        }
        Ok(found)
    }

    /// Sums up a cluster's complete stretches of 15 minutes and of two hours.
    pub async fn thin_gpu_series(&self, cluster: &str, now: Timestamp) -> Result<(), StoreError> {
        for tier in GpuTier::ALL {
            let Some(source) = tier.source() else { continue };
            for _ in 0..AT_ONCE {
                let Some(from) = self.complete(cluster, tier, source, now).await? else { break };
                self.sum_up(cluster, tier, source, from).await?;
            }
        }
        Ok(())
    }

    /// Start of the oldest complete stretch that has no row yet.
    async fn complete(
        &self,
        cluster: &str,
        tier: GpuTier,
        source: GpuTier,
        now: Timestamp,
    ) -> Result<Option<i64>, StoreError> {
        let mut values = Values::texts(WHAT, &[cluster])?;
        values.int(source.minutes())?.int(tier.minutes())?;
        let sql = "SELECT MIN(minute) FROM gpu_series WHERE cluster = $1 AND step = $2 AND minute >= COALESCE( \
                   (SELECT MAX(minute) + $3 FROM gpu_series WHERE cluster = $1 AND step = $3), 0)";
        let first = self.one(sql, values, minute).await?.flatten();
        let from = first.map(|first| tier.start(first));
        Ok(from.filter(|from| from + tier.minutes() <= minute_of(now)))
    }

    async fn sum_up(
        &self,
        cluster: &str,
        tier: GpuTier,
        source: GpuTier,
        from: i64,
    ) -> Result<(), StoreError> {
        let range = GpuRange {
            cluster,
            part: GpuPart::All,
            from,
            until: from + tier.minutes(),
            step: tier.minutes(),
        };
        self.transact(async |connection| {
            let mut found = Vec::new();
            read(connection, &range, source, from, &mut found).await?;
            for row in found {
                write(connection, cluster, tier, &row.bounded()).await?;
            }
            Ok(())
        })
        .await
    }

    /// Deletes expired rows of all clusters.
    pub async fn expire_gpu_series(&self, now: Timestamp) -> Result<(), StoreError> {
        for tier in GpuTier::ALL {
            let mut values = Values::new(WHAT, 1);
            values.int(tier.minutes())?;
            // Usually nothing has expired: then there is no writing transaction.
            let sql = "SELECT MIN(minute) FROM gpu_series WHERE step = $1";
            let oldest = self.one(sql, values, minute).await?.flatten();
            let kept = minute_of(now) - tier.retention();
            let Some(oldest) = oldest.filter(|oldest| *oldest < kept) else { continue };
            let until = kept.min(oldest + AT_ONCE * tier.minutes());
            self.transact(async |connection| {
                let mut values = Values::new(WHAT, 2);
                values.int(tier.minutes())?.int(until)?;
                execute(connection, "DELETE FROM gpu_series WHERE step = $1 AND minute < $2", values).await?;
                Ok(())
            })
            .await?;
        }
        Ok(())
    }
}

/// Deletes the rows of a removed cluster.
pub(crate) async fn forget(connection: &mut AnyConnection, cluster: &str) -> Result<(), StoreError> {
    let values = Values::texts(WHAT, &[cluster])?;
    execute(connection, "DELETE FROM gpu_series WHERE cluster = $1", values).await?;
    Ok(())
}

/// Adds a tier's rows from a minute on. Returns the minute after the last of them.
async fn read(
    connection: &mut AnyConnection,
    range: &GpuRange<'_>,
    tier: GpuTier,
    from: i64,
    found: &mut Vec<GpuRow>,
) -> Result<i64, StoreError> {
    let sql = format!(
        "SELECT {} FROM gpu_series WHERE cluster = $1 AND step = $2 AND minute >= $3 AND minute < $4 \
         ORDER BY minute",
        range.part.columns()
    );
    let mut values = Values::texts(WHAT, &[range.cluster])?;
    values.int(tier.minutes())?.int(from)?.int(range.until)?;
    let query = sqlx::query_with::<Any, _>(AssertSqlSafe(sql), values.arguments);
    let mut rows = query.fetch(connection);
    let mut next = from;
    // Summed up as they arrive: the rows of a day may have a million values.
    while let Some(row) = rows.try_next().await? {
        let row = range.part.row(&row)?;
        next = row.minute + tier.minutes();
        add(found, row, range.step);
    }
    Ok(next)
}

fn add(found: &mut Vec<GpuRow>, mut row: GpuRow, step: i64) {
    row.minute = row.minute.div_euclid(step) * step;
    match found.last_mut() {
        Some(last) if last.minute == row.minute => last.add(row),
        _ => found.push(row),
    }
}

async fn write(
    connection: &mut AnyConnection,
    cluster: &str,
    tier: GpuTier,
    row: &GpuRow,
) -> Result<(), StoreError> {
    let allocations: Vec<(&GpuAllocation, &GpuUse)> = row.allocations.iter().collect();
    let mut values = Values::texts(WHAT, &[cluster])?;
    values.int(tier.minutes())?.int(row.minute)?.json(&row.totals)?;
    values.json(&allocations)?.json(&row.models)?.json(&row.nodes)?;
    let sql = "INSERT INTO gpu_series (cluster, step, minute, totals_json, allocations_json, models_json, nodes_json) \
               VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (cluster, step, minute) DO NOTHING";
    execute(connection, sql, values).await?;
    Ok(())
}

/// The only column, which is NULL without rows.
fn minute(row: &AnyRow) -> Result<Option<i64>, StoreError> {
    Columns::of(WHAT, row).maybe_int()
}

impl GpuPart {
    fn columns(self) -> &'static str {
        match self {
            Self::Totals => "minute, totals_json",
            Self::Allocations => "minute, totals_json, allocations_json",
            Self::Models => "minute, totals_json, models_json",
            Self::Nodes => "minute, totals_json, nodes_json",
            Self::All => "minute, totals_json, allocations_json, models_json, nodes_json",
        }
    }

    fn has(self, part: Self) -> bool {
        self == part || self == Self::All
    }

    fn row(self, row: &AnyRow) -> Result<GpuRow, StoreError> {
        let mut columns = Columns::of(WHAT, row);
        let mut found = GpuRow { minute: columns.int()?, totals: columns.json()?, ..GpuRow::default() };
        if self.has(Self::Allocations) {
            let all: Vec<(GpuAllocation, GpuUse)> = columns.json()?;
            found.allocations = all.into_iter().collect();
        }
        if self.has(Self::Models) {
            found.models = columns.json()?;
        }
        if self.has(Self::Nodes) {
            found.nodes = columns.json()?;
        }
        Ok(found)
    }
}
