//! A search with everything resolved that does not depend on its trials' results.

use cubeloom_domain::plan::{ForEachItems, PlannedForEach};
use cubeloom_domain::search::{Axis, Goal, Method, PlannedSearch, Search};
use cubeloom_domain::{Code, Problem};
use serde_json::Value;

use super::Planner;
use super::resolve::Sight;
use crate::search::{MAX_TRIALS, combinations};
use crate::validate;

/// Default max concurrency of trials if later ones depend on earlier results.
const AT_ONCE: u32 = 4;
/// Default maximum of failed trials.
const MAX_FAILURES: u32 = 3;

impl Planner<'_> {
    /// Plans a search; `None` if its axes or its objective are missing or invalid, which is already reported.
    pub fn trials(&mut self, prefix: &str, search: &Search, sight: &Sight<'_>) -> Option<PlannedForEach> {
        if !validate::can_be_tried(search) {
            return None;
        }
        let path = format!("{prefix}/search/over");
        let axis = |planner: &mut Self, name: &String, axis: &Axis| match axis {
            Axis::Range(range) => Axis::Range(*range),
            Axis::Values(values) => {
                Axis::Values(planner.list(&format!("{path}/{name}"), &Value::Array(values.clone()), sight))
            }
        };
        let over: std::collections::BTreeMap<String, Axis> =
            search.over.iter().map(|(name, each)| (name.clone(), axis(self, name, each))).collect();
        if over.is_empty()
            || over.values().any(|axis| matches!(axis, Axis::Values(values) if values.is_empty()))
        {
            return None;
        }
        let (goal, of) = match (&search.maximize, &search.minimize) {
            (Some(of), _) => (Goal::Maximize, of.clone()),
            (None, of) => (Goal::Minimize, of.clone()?),
        };
        let method = search.method.unwrap_or_default();
        let all = combinations(&over);
        let wanted = search.trials.or_else(|| u32::try_from(all?).ok())?;
        let trials = all.and_then(|all| u32::try_from(all).ok()).map_or(wanted, |all| wanted.min(all));
        if trials < wanted {
            let message = format!("there are only {trials} combinations, so there will be {trials} trials");
            self.problems.push(Problem::warning(
                Code::Suspicious,
                format!("{prefix}/search/trials"),
                message,
            ));
        }
        if trials as usize > MAX_TRIALS {
            return None;
        }
        let planned = PlannedSearch {
            over,
            goal,
            of,
            method,
            trials,
            seed: search.seed,
            early_stop: search.early_stop,
            max_failures: search.max_failures.unwrap_or(MAX_FAILURES),
        };
        let parallelism = search.parallelism.or((method == Method::Tpe).then_some(AT_ONCE));
        Some(PlannedForEach { items: ForEachItems::Search(Box::new(planned)), parallelism })
    }
}
