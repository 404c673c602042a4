//! Chooses the values of a search's trials. Pure: from the search, its seed, and the results of earlier
//! trials.

mod axis;
mod tpe;

use std::collections::BTreeSet;

use cubeloom_domain::plan::RunPlan;
use cubeloom_domain::search::{Axis, Method, PlannedSearch};
use cubeloom_domain::{JsonMap, TaskIx};
use rand::SeedableRng;
use rand::rngs::StdRng;
use serde_json::Value;
use sha2::{Digest, Sha256};

pub use self::axis::combinations;

/// Maximum number of trials of a search.
pub const MAX_TRIALS: usize = 10_000;
/// Number of random trials before results are used.
const STARTUP: usize = 10;
/// Attempts to replace a choice that was tried before.
const TRIES: usize = 20;
/// Up to this many combinations, an untried one is searched for.
const FEW: usize = 10_000;

/// A started trial: its values, and its result as far as it is known.
pub struct Trial<'a> {
    /// Its values.
    pub item: &'a Value,
    /// Its result.
    pub value: Option<f64>,
}

/// The values of the first trials of a task: all of them, or as many as run concurrently if later ones depend
/// on results. Empty for a task without a search.
#[must_use]
pub fn first_trials(plan: &RunPlan, task: TaskIx) -> Vec<Value> {
    first_of_them(plan, task, usize::MAX)
}

/// The same, at most so many.
pub(crate) fn first_of_them(plan: &RunPlan, task: TaskIx, most: usize) -> Vec<Value> {
    let planned = plan.task(task);
    let Some(search) = planned.search() else { return Vec::new() };
    let at_once = planned.for_each.as_ref().and_then(|each| each.parallelism).unwrap_or(u32::MAX);
    let count = match search.method {
        Method::Grid => return axis::grid(&search.over, most.min(search.trials as usize)),
        Method::Tpe => search.trials.min(at_once),
        Method::Random => search.trials,
    } as usize;
    let (chance, mut tried) = (Chance::of(plan, task, search), Tried::new(search));
    (0..count)
        .map(|trial| tried.another(search, chance.at(trial), |random| by_chance(search, random)))
        .collect()
}

/// The values of the next trial after these; `None` if the task has no search, or no trials remain.
#[must_use]
pub fn next_trial(plan: &RunPlan, task: TaskIx, trials: &[Trial<'_>]) -> Option<Value> {
    let search = plan.task(task).search().filter(|search| trials.len() < search.trials as usize)?;
    let mut tried = Tried::new(search);
    tried.items.extend(trials.iter().map(|trial| key(search, trial.item)));
    let known = trials.iter().filter(|trial| trial.value.is_some()).count();
    let random = Chance::of(plan, task, search).at(trials.len());
    Some(tried.another(search, random, |random| {
        if search.method == Method::Tpe && known >= STARTUP.min(search.trials as usize / 2) {
            tpe::suggest(search, trials, random)
        } else {
            by_chance(search, random)
        }
    }))
}

/// The source of a search's random numbers: its seed, or its run and task.
struct Chance(Sha256);

impl Chance {
    fn of(plan: &RunPlan, task: TaskIx, search: &PlannedSearch) -> Self {
        Self(match search.seed {
            Some(seed) => Sha256::new().chain_update(seed.to_le_bytes()),
            None => Sha256::new().chain_update(plan.context.id.as_str()).chain_update(&plan.task(task).name),
        })
    }

    /// The random numbers of one trial, which are the same after a restart.
    fn at(&self, trial: usize) -> StdRng {
        StdRng::from_seed(self.0.clone().chain_update((trial as u64).to_le_bytes()).finalize().into())
    }
}

fn by_chance(search: &PlannedSearch, random: &mut StdRng) -> Value {
    item(search, |axis| axis::by_chance(axis, random))
}

/// One value of each axis, as `item`.
fn item(search: &PlannedSearch, mut of: impl FnMut(&Axis) -> Value) -> Value {
    let values = search.over.iter().map(|(name, axis)| (name.clone(), of(axis)));
    Value::Object(values.collect::<JsonMap>())
}

/// An item as text, independent of the order of its keys, which a database may change.
fn key(search: &PlannedSearch, item: &Value) -> String {
    search.over.keys().map(|name| format!("{}\n", item[name.as_str()])).collect()
}

/// The values tried, to avoid repetitions while alternatives remain.
struct Tried {
    items: BTreeSet<String>,
    /// The number of combinations; `None` if infinite.
    of: Option<usize>,
}

impl Tried {
    fn new(search: &PlannedSearch) -> Self {
        Self { items: BTreeSet::new(), of: combinations(&search.over) }
    }

    /// A new choice, which is recorded as tried.
    fn another(
        &mut self,
        search: &PlannedSearch,
        mut random: StdRng,
        choose: impl Fn(&mut StdRng) -> Value,
    ) -> Value {
        let mut chosen = choose(&mut random);
        for _ in 0..TRIES {
            if self.items.insert(key(search, &chosen)) {
                return chosen;
            }
            chosen = choose(&mut random);
        }
        if let Some(of) = self.of.filter(|of| *of <= FEW) {
            let left = axis::grid(&search.over, of)
                .into_iter()
                .find(|item| !self.items.contains(&key(search, item)));
            chosen = left.unwrap_or(chosen);
        }
        self.items.insert(key(search, &chosen));
        chosen
    }
}
