//! Usage over days, grouped: from the daily totals, and from live attempts.

use std::collections::BTreeMap;

use cubeloom_domain::Timestamp;
use cubeloom_domain::accounting::{By, Figures, Line, Period, PriceList, Stay};
use cubeloom_domain::lowered::Bindings;
use sqlx::any::AnyRow;
use sqlx::{AnyConnection, AssertSqlSafe, Connection};

use super::count::Origin;
use super::rows::{DayRow, day_row};
use crate::conditions::Conditions;
use crate::error::StoreError;
use crate::query::collect;
use crate::rows::{self, ATTEMPT_COLUMNS};
use crate::values::Columns;
use crate::{Store, prices};

/// Selects usage by owner and time.
#[derive(Clone, Debug)]
pub struct UsageFilter {
    pub period: Period,
    /// Of these projects; `None` for all, deleted ones included.
    pub projects: Option<Vec<String>>,
}

impl Store {
    /// Usage by groups, in their order. Live attempts count up to `now`. It is read in one snapshot, so that
    /// an attempt that ends meanwhile counts once.
    pub async fn usage(
        &self,
        filter: &UsageFilter,
        by: &[By],
        now: Timestamp,
    ) -> Result<Vec<(Line, Figures)>, StoreError> {
        // In a separate task: the caller may cancel at any time, and a cancelled read may leave its
        // transaction open on a pooled connection.
        let (store, filter, by) = (self.clone(), filter.clone(), by.to_vec());
        let look = async move {
            let begin = store.backend().pick("BEGIN", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
            let mut connection = store.inner.pool.acquire().await?;
            let mut look = connection.begin_with(begin).await?;
            let found = lines(&mut look, &filter, &by, now).await;
            look.rollback().await?;
            found
        };
        tokio::spawn(look).await.unwrap_or_else(|failed| std::panic::resume_unwind(failed.into_panic()))
    }
}

pub(crate) async fn lines(
    connection: &mut AnyConnection,
    filter: &UsageFilter,
    by: &[By],
    now: Timestamp,
) -> Result<Vec<(Line, Figures)>, StoreError> {
    let mut groups: BTreeMap<Line, Figures> = BTreeMap::new();
    let mut add = |line: Line, figures: Figures| {
        let sum = groups.entry(line).or_default();
        *sum = sum.plus(figures);
    };
    for row in of_days(connection, filter, by).await? {
        add(row.line, row.figures);
    }
    for (line, figures) in of_live(connection, filter, now).await? {
        add(line.group(by), figures);
    }
    Ok(groups.into_iter().filter(|(_, figures)| *figures != Figures::default()).collect())
}

async fn of_days(
    connection: &mut AnyConnection,
    filter: &UsageFilter,
    by: &[By],
) -> Result<Vec<DayRow>, StoreError> {
    let mut wanted = Conditions::new("usage");
    wanted.int("day >=", Some(filter.period.first.0))?;
    wanted.int("day <=", Some(filter.period.last.0))?;
    of_projects(&mut wanted, "project", filter)?;
    let (wanted, limit, values) = wanted.limited(usize::MAX)?;
    let (selected, groups) = grouping(by);
    let groups = if groups.is_empty() { String::new() } else { format!("GROUP BY {}", groups.join(", ")) };
    let sql = format!("SELECT {selected}, {SUMS} FROM usage_days WHERE {wanted} {groups} LIMIT {limit}");
    collect(connection, sqlx::query_with(AssertSqlSafe(sql), values.arguments), day_row).await
}

/// PostgreSQL sums to a wider type, and an empty sum is NULL.
const SUMS: &str = "CAST(COALESCE(SUM(cpu), 0) AS BIGINT), CAST(COALESCE(SUM(memory), 0) AS BIGINT), \
     CAST(COALESCE(SUM(gpu), 0) AS BIGINT), CAST(COALESCE(SUM(used_cpu), 0) AS BIGINT), \
     CAST(COALESCE(SUM(used_memory), 0) AS BIGINT), CAST(COALESCE(SUM(used_gpu), 0) AS BIGINT), \
     CAST(COALESCE(SUM(measured_gpu), 0) AS BIGINT), CAST(COALESCE(SUM(attempts), 0) AS BIGINT), \
     CAST(COALESCE(SUM(failed), 0) AS BIGINT), CAST(COALESCE(SUM(cost_cpu), 0) AS BIGINT), \
     CAST(COALESCE(SUM(cost_memory), 0) AS BIGINT), CAST(COALESCE(SUM(cost_gpu), 0) AS BIGINT)";

/// The columns of a line, empty unless it is grouped by them, and the grouping columns.
fn grouping(by: &[By]) -> (String, Vec<&'static str>) {
    let columns: [(&str, &[By]); 7] = [
        ("day", &[By::Day]),
        ("project", &[By::Project, By::Pipeline]),
        ("user_name", &[By::User]),
        ("pipeline", &[By::Pipeline]),
        ("template", &[By::Template]),
        ("cluster", &[By::NodeGroup]),
        ("node_group", &[By::NodeGroup]),
    ];
    let is_grouped = |of: &[By]| of.iter().any(|one| by.contains(one));
    let selected: Vec<&str> = columns
        .iter()
        .map(|(column, of)| match (is_grouped(of), *column) {
            (true, column) => column,
            (false, "day") => "CAST(0 AS BIGINT)",
            (false, _) => "CAST('' AS TEXT)",
        })
        .collect();
    let groups = columns.iter().filter(|(_, of)| is_grouped(of)).map(|(column, _)| *column).collect();
    (selected.join(", "), groups)
}

fn of_projects(wanted: &mut Conditions, column: &str, filter: &UsageFilter) -> Result<(), StoreError> {
    wanted.one_of(column, filter.projects.as_deref())
}

/// Usage of live attempts, up to now.
async fn of_live(
    connection: &mut AnyConnection,
    filter: &UsageFilter,
    now: Timestamp,
) -> Result<Vec<(Line, Figures)>, StoreError> {
    if filter.period.last.next().start() <= filter.period.first.start() {
        return Ok(Vec::new());
    }
    let mut wanted = Conditions::new("attempt");
    wanted.fixed("r.live = 1");
    of_projects(&mut wanted, "r.project", filter)?;
    let (wanted, limit, values) = wanted.limited(usize::MAX)?;
    // Bindings may be large, and only whether they are a run matters.
    let columns: Vec<String> = ATTEMPT_COLUMNS
        .split(',')
        .map(|column| match column.trim() {
            "bindings_json" => "CASE WHEN a.bindings_json LIKE '{\"kind\":\"run\"%' THEN a.bindings_json \
                                ELSE '{\"kind\":\"none\"}' END"
                .to_owned(),
            column => format!("a.{column}"),
        })
        .collect();
    let sql = format!(
        "SELECT {}, r.project, r.pipeline FROM runs r JOIN attempts a ON a.run_id = r.id AND a.live = 1 \
         WHERE {wanted} LIMIT {limit}",
        columns.join(", ")
    );
    let query = sqlx::query_with(AssertSqlSafe(sql), values.arguments);
    let read = |row: &AnyRow| {
        let mut columns = Columns::of("attempt", row);
        let attempt = rows::attempt_from(&mut columns)?;
        Ok((attempt, Origin { project: columns.text()?.into(), pipeline: columns.text()?.into() }))
    };
    let live = collect(connection, query, read).await?;
    if live.is_empty() {
        return Ok(Vec::new());
    }
    let prices: PriceList = prices::all(connection).await?.into_iter().collect();
    let mut found = Vec::new();
    for (attempt, origin) in live {
        if matches!(attempt.bindings, Bindings::Run { .. }) || attempt.state.started_at().is_none() {
            continue;
        }
        let price = |day| prices.of(&attempt.pool, day);
        let days = Stay::of(&attempt, now).by_day(filter.period, price);
        found.extend(days.into_iter().map(|(day, figures)| (origin.line(&attempt, day), figures)));
    }
    Ok(found)
}
