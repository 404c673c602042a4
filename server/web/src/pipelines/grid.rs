//! The tasks of a pipeline's runs, one row for each name.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use cubeloom_store::FIRST_TASKS;

use crate::api::pipelines::{GridCellView, GridTaskView};
use crate::runs::grid::Column;

/// Rows of the grid: tasks of the newest document in its order, then tasks that only the runs have, those of
/// newer runs first. Columns are the runs' tasks, oldest run first. Also returns whether there are more rows.
pub(crate) fn grid_tasks(document: &[String], columns: &[Arc<Column>]) -> (Vec<GridTaskView>, bool) {
    let ranks: HashMap<&str, usize> = document.iter().map(String::as_str).zip(0..).collect();
    let of_runs = columns.iter().rev().flat_map(|column| column.iter()).map(|cell| &*cell.task);
    let mut seen = HashSet::new();
    let all = document.iter().map(String::as_str).take(FIRST_TASKS).chain(of_runs);
    let mut names: Vec<&str> = all.filter(|name| seen.insert(*name)).collect();
    names.sort_by_key(|name| ranks.get(*name).copied().unwrap_or(usize::MAX));
    let more = document.len() > FIRST_TASKS || names.len() > FIRST_TASKS;
    names.truncate(FIRST_TASKS);

    let row = |name: &&str| GridTaskView {
        name: (*name).to_owned(),
        removed: !ranks.contains_key(*name),
        failures: 0,
        cells: Vec::new(),
    };
    let mut rows: Vec<GridTaskView> = names.iter().map(row).collect();
    let places: HashMap<&str, usize> = names.into_iter().zip(0..).collect();
    for (run, column) in columns.iter().enumerate() {
        for cell in column.iter() {
            let Some(place) = places.get(&*cell.task) else { continue };
            let row = &mut rows[*place];
            row.failures += u64::from(cell.state == "failed");
            row.cells.push(GridCellView::new(run, cell));
        }
    }
    (rows, more)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runs::grid::Cell;

    fn column(tasks: &[(&str, &'static str)]) -> Arc<Column> {
        let cell = |&(task, state): &(&str, &'static str)| Cell {
            task: task.into(),
            state,
            instances: 1,
            attempts: 1,
            run_seconds: None,
        };
        Arc::new(tasks.iter().map(cell).collect())
    }

    #[test]
    fn rows_follow_the_newest_document_and_end_with_removed_tasks() {
        let document = ["pull", "train", "report"].map(str::to_owned);
        let columns = [
            column(&[("older", "failed"), ("train", "failed")]),
            column(&[("train", "failed"), ("old", "succeeded"), ("pull", "succeeded")]),
            column(&[("pull", "failed")]),
        ];
        let (rows, more) = grid_tasks(&document, &columns);
        let shown: Vec<_> = rows
            .iter()
            .map(|row| (row.name.as_str(), row.removed, row.failures, row.cells.iter().map(|cell| cell.run)))
            .map(|(name, removed, failures, runs)| (name, removed, failures, runs.collect::<Vec<_>>()))
            .collect();
        assert_eq!(
            shown,
            [
                ("pull", false, 1, vec![1, 2]),
                ("train", false, 2, vec![0, 1]),
                ("report", false, 0, vec![]),
                ("old", true, 0, vec![1]),
                ("older", true, 1, vec![0]),
            ]
        );
        assert!(!more);
    }

    #[test]
    fn there_are_not_more_rows_than_the_store_reads_of_a_run() {
        let document: Vec<String> = (0..=FIRST_TASKS).map(|n| format!("task-{n}")).collect();
        let (rows, more) = grid_tasks(&document, &[column(&[("old", "succeeded")])]);
        assert_eq!((rows.len(), more), (FIRST_TASKS, true));
        assert!(rows.iter().all(|row| !row.removed));
    }
}
