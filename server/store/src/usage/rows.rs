//! Daily usage as rows of its table.

use cubeloom_domain::accounting::{Cost, Day, Figures, Line, Money};
use sqlx::any::AnyRow;

use crate::error::StoreError;
use crate::upsert::{Row, Upsert};
use crate::values::{COUNTED, Columns, Values};

const COLUMNS: &[&str] = &[
    "day",
    "project",
    "user_name",
    "pipeline",
    "template",
    "cluster",
    "node_group",
    "cpu",
    "memory",
    "gpu",
    "used_cpu",
    "used_memory",
    "used_gpu",
    "measured_gpu",
    "attempts",
    "failed",
    "cost_cpu",
    "cost_memory",
    "cost_gpu",
];

/// Adds to the stored values.
pub(crate) static ADDED: Upsert = Upsert::new("usage_days", COLUMNS, 7).adding(12);

/// Replaces the stored values.
pub(crate) static REPLACED: Upsert = Upsert::new("usage_days", COLUMNS, 7);

/// A day's usage of one accounting line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DayRow {
    pub line: Line,
    pub figures: Figures,
}

impl Row for DayRow {
    type Key<'a> = &'a Line;

    fn key(&self) -> &Line {
        &self.line
    }

    fn bind(&self, values: &mut Values) -> Result<(), StoreError> {
        let (line, of) = (&self.line, &self.figures);
        values.int(line.day.0)?.text(&line.project)?.text(&line.user)?.text(&line.pipeline)?;
        values.text(&line.template)?.text(&line.cluster)?.text(&line.node_group)?;
        let used = [of.used_cpu, of.used_memory, of.used_gpu, of.measured_gpu];
        let cost = [of.cost.cpu.0, of.cost.memory.0, of.cost.gpu.0];
        let all =
            [of.cpu, of.memory, of.gpu].into_iter().chain(used).chain([of.attempts, of.failed]).chain(cost);
        // They are added up, and a sum that no column can hold would fail on every attempt.
        for figure in all {
            values.int(figure.min(COUNTED))?;
        }
        Ok(())
    }
}

/// The columns of [`day_row`], followed by `rest`.
pub(crate) fn rows_of(rest: &str) -> String {
    format!("SELECT {} FROM usage_days {rest}", COLUMNS.join(", "))
}

/// A row, or a sum of rows, from the columns of [`rows_of`].
pub(crate) fn day_row(row: &AnyRow) -> Result<DayRow, StoreError> {
    let mut columns = Columns::of("usage", row);
    let line = Line {
        day: Day(columns.int()?),
        project: columns.text()?.into(),
        user: columns.text()?.into(),
        pipeline: columns.text()?.into(),
        template: columns.text()?.into(),
        cluster: columns.text()?.into(),
        node_group: columns.text()?.into(),
    };
    let figures = Figures {
        cpu: columns.int()?,
        memory: columns.int()?,
        gpu: columns.int()?,
        used_cpu: columns.int()?,
        used_memory: columns.int()?,
        used_gpu: columns.int()?,
        measured_gpu: columns.int()?,
        attempts: columns.int()?,
        failed: columns.int()?,
        cost: Cost { cpu: Money(columns.int()?), memory: Money(columns.int()?), gpu: Money(columns.int()?) },
    };
    Ok(DayRow { line, figures })
}
