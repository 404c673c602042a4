//! Groups of a GPU history, and which of them are shown. Pure.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use cubeloom_domain::gpu_series::{GpuAllocation, GpuRow, GpuUse};
use cubeloom_store::GpuPart;

use crate::api::monitoring::gpu_view::{GpuGrouping, IdleGpuGrouping};

/// Maximum number of groups that are shown, and of nodes.
const MOST: usize = 50;
const MOST_NODES: usize = 1_000;

/// A group. Fields that it is not grouped by are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GpuKey {
    pub project: String,
    pub user: String,
    pub pipeline: String,
    pub task: String,
    pub model: String,
    pub node: String,
    pub node_group: String,
}

impl GpuKey {
    /// The group of an allocation.
    pub(super) fn of(allocation: &GpuAllocation, by: IdleGpuGrouping) -> Self {
        let GpuAllocation { project, user, pipeline, task, .. } = allocation.clone();
        match by {
            IdleGpuGrouping::Project => Self { project, ..Self::default() },
            IdleGpuGrouping::User => Self { user, ..Self::default() },
            IdleGpuGrouping::Task => Self { project, pipeline, task, ..Self::default() },
        }
    }
}

/// Values of a row, each with its group.
type Keyed<'r> = Vec<(Option<GpuKey>, &'r GpuUse)>;

/// What determines the groups of rows.
pub(super) struct Grouping<'g> {
    pub by: GpuGrouping,
    /// Projects that the caller can see. `None` means all.
    pub projects: Option<&'g [String]>,
    /// The node groups of each node.
    pub node_groups: &'g BTreeMap<&'g str, String>,
}

/// Groups that are shown, with their rows, and the sum of all others.
#[derive(Debug, Default)]
pub(super) struct Grouped {
    pub shown: Vec<(GpuKey, BTreeMap<i64, GpuUse>)>,
    /// `None` if there are no others.
    pub others: Option<BTreeMap<i64, GpuUse>>,
}

impl Grouping<'_> {
    /// The stored part that has the groups.
    pub(super) fn part(by: GpuGrouping) -> GpuPart {
        match by {
            GpuGrouping::Project | GpuGrouping::User | GpuGrouping::Task => GpuPart::Allocations,
            GpuGrouping::Model => GpuPart::Models,
            GpuGrouping::Node | GpuGrouping::NodeGroup => GpuPart::Nodes,
        }
    }

    /// Each value of a row with its group. `None` for projects that the caller cannot see.
    fn keyed<'r>(&self, row: &'r GpuRow) -> Keyed<'r> {
        let of_tasks = |by: IdleGpuGrouping| -> Keyed<'r> {
            let key = |of: &GpuAllocation| sees(self.projects, &of.project).then(|| GpuKey::of(of, by));
            row.allocations.iter().map(|(of, amount)| (key(of), amount)).collect()
        };
        let of_nodes = |key: &dyn Fn(String) -> GpuKey| -> Keyed<'r> {
            row.nodes.iter().map(|(node, amount)| (Some(key(node.clone())), amount)).collect()
        };
        let group = |node: &str| self.node_groups.get(node).cloned().unwrap_or_default();
        match self.by {
            GpuGrouping::Project => of_tasks(IdleGpuGrouping::Project),
            GpuGrouping::User => of_tasks(IdleGpuGrouping::User),
            GpuGrouping::Task => of_tasks(IdleGpuGrouping::Task),
            GpuGrouping::Model => {
                let key = |model: &String| GpuKey { model: model.clone(), ..GpuKey::default() };
                row.models.iter().map(|(model, amount)| (Some(key(model)), amount)).collect()
            }
            GpuGrouping::Node => of_nodes(&|node| GpuKey { node, ..GpuKey::default() }),
            GpuGrouping::NodeGroup => {
                of_nodes(&|node| GpuKey { node_group: group(&node), ..GpuKey::default() })
            }
        }
    }

    /// Groups the rows. Those with the fewest GPUs are summed up.
    pub(super) fn group(&self, rows: &[GpuRow]) -> Grouped {
        let chosen = self.chosen(rows);
        let mut shown: BTreeMap<&GpuKey, BTreeMap<i64, GpuUse>> = BTreeMap::new();
        let mut others = None;
        for row in rows {
            for (key, amount) in self.keyed(row) {
                let series = match key.as_ref().and_then(|key| chosen.get(key)) {
                    Some(key) => shown.entry(key).or_default(),
                    None => others.get_or_insert_with(BTreeMap::new),
                };
                let sum: &mut GpuUse = series.entry(row.minute).or_default();
                *sum = sum.plus(*amount);
            }
        }
        let mut shown: Vec<_> = shown.into_iter().map(|(key, series)| (key.clone(), series)).collect();
        if self.by != GpuGrouping::Node {
            shown.sort_by_cached_key(|(_, series)| Reverse(allocated(series)));
        }
        Grouped { shown, others }
    }

    /// The groups with the most GPUs.
    fn chosen(&self, rows: &[GpuRow]) -> BTreeSet<GpuKey> {
        let mut sums: BTreeMap<GpuKey, i64> = BTreeMap::new();
        for (key, amount) in rows.iter().flat_map(|row| self.keyed(row)) {
            if let Some(key) = key {
                let sum = sums.entry(key).or_default();
                *sum = sum.saturating_add(amount.allocated.max(amount.total));
            }
        }
        let mut sums: Vec<(GpuKey, i64)> = sums.into_iter().collect();
        sums.sort_by_key(|(_, sum)| Reverse(*sum));
        let most = if self.by == GpuGrouping::Node { MOST_NODES } else { MOST };
        sums.into_iter().take(most).map(|(key, _)| key).collect()
    }
}

/// Whether the caller sees a project.
pub(super) fn sees(projects: Option<&[String]>, project: &str) -> bool {
    projects.is_none_or(|projects| projects.iter().any(|known| known == project))
}

fn allocated(series: &BTreeMap<i64, GpuUse>) -> i64 {
    series.values().map(|amount| amount.allocated).fold(0, i64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(allocated: i64) -> GpuUse {
        GpuUse { total: 0, allocated, measured: allocated, used: 0 }
    }

    fn of(project: &str, user: &str, task: &str) -> GpuAllocation {
        GpuAllocation {
            project: project.into(),
            user: user.into(),
            pipeline: "p".into(),
            task: task.into(),
            ..GpuAllocation::default()
        }
    }

    fn rows() -> Vec<GpuRow> {
        let row = |minute, gpus: &[(GpuAllocation, i64)]| GpuRow {
            minute,
            allocations: gpus.iter().map(|(of, gpus)| (of.clone(), amount(*gpus))).collect(),
            nodes: ["n1", "n2", "n3"].map(|node| (node.to_owned(), amount(minute))).into(),
            ..GpuRow::default()
        };
        vec![
            row(10, &[(of("shop", "ada", "train"), 2), (of("theirs", "eve", "secret"), 9)]),
            row(
                20,
                &[(of("shop", "ada", "tune"), 1), (of("ads", "bob", "train"), 4), (of("ads", "ada", "x"), 1)],
            ),
        ]
    }

    fn grouped(by: GpuGrouping, projects: Option<&[String]>) -> Grouped {
        let node_groups = BTreeMap::from([("n1", "a100".to_owned()), ("n2", "a100".to_owned())]);
        Grouping { by, projects, node_groups: &node_groups }.group(&rows())
    }

    /// The name of each group, and its GPUs.
    fn names(grouped: &Grouped, name: fn(&GpuKey) -> &str) -> Vec<(&str, i64)> {
        grouped.shown.iter().map(|(key, series)| (name(key), allocated(series))).collect()
    }

    #[test]
    fn what_the_caller_does_not_see_is_one_sum() {
        let own = ["shop".to_owned(), "ads".to_owned()];
        let found = grouped(GpuGrouping::Project, Some(&own));
        assert_eq!(names(&found, |key| &key.project), [("ads", 5), ("shop", 3)]);
        assert_eq!(found.others, Some(BTreeMap::from([(10, amount(9))])));
        let found = grouped(GpuGrouping::User, Some(&own));
        assert_eq!(names(&found, |key| &key.user), [("ada", 4), ("bob", 4)]);
        let found = grouped(GpuGrouping::User, None);
        assert_eq!(names(&found, |key| &key.user)[0], ("eve", 9));
        assert_eq!(found.others, None);
        let found = grouped(GpuGrouping::Task, Some(&[]));
        assert!(found.shown.is_empty() && found.others.is_some_and(|others| allocated(&others) == 17));
    }

    #[test]
    fn nodes_are_sorted_by_name_and_groups_are_their_sums() {
        let found = grouped(GpuGrouping::Node, Some(&[]));
        assert_eq!(names(&found, |key| &key.node), [("n1", 30), ("n2", 30), ("n3", 30)]);
        let found = grouped(GpuGrouping::NodeGroup, None);
        assert_eq!(names(&found, |key| &key.node_group), [("a100", 60), ("", 30)]);
    }

    #[test]
    fn the_groups_with_the_fewest_gpus_are_summed_up() {
        let tasks = (0..MOST as i64 + 5).map(|n| (of("shop", "ada", &format!("t{n:03}")), amount(n)));
        let row = GpuRow { allocations: tasks.collect(), ..GpuRow::default() };
        let node_groups = BTreeMap::new();
        let found =
            Grouping { by: GpuGrouping::Task, projects: None, node_groups: &node_groups }.group(&[row]);
        assert_eq!((found.shown.len(), found.shown[0].0.task.as_str()), (MOST, "t054"));
        assert_eq!(found.others.map(|others| allocated(&others)), Some(1 + 2 + 3 + 4));
    }
}
