//! Which values the trials of a search try: pure, from the search, its seed, and what earlier trials gave.

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

/// How many trials a search can have.
pub const MAX_TRIALS: usize = 10_000;
/// How many trials are chosen by chance before what they gave is used.
const STARTUP: usize = 10;
/// How often another choice is made where one was tried before.
const TRIES: usize = 20;
/// Among so few combinations, one that was not tried is looked up.
const FEW: usize = 10_000;

/// A trial that was begun: what it tries, and how good it was, as far as that is known.
pub struct Trial<'a> {
    /// What it tries.
    pub item: &'a Value,
    /// How good it was.
    pub value: Option<f64>,
}

/// What the first trials of a task try: all of them, or so many as run at the same time where the others depend on them.
/// Nothing, where the task has no search.
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

/// What the next trial tries, after these; `None` where the task has no search, or there are no more.
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

/// What the random numbers of a search follow from: its seed, or its run and task.
struct Chance(Sha256);

impl Chance {
    fn of(plan: &RunPlan, task: TaskIx, search: &PlannedSearch) -> Self {
        Self(match search.seed {
            Some(seed) => Sha256::new().chain_update(seed.to_le_bytes()),
            None => Sha256::new().chain_update(plan.context.id.as_str()).chain_update(&plan.task(task).name),
        })
    }

    /// Those of one trial, which are the same after a restart.
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

/// An item as text, whatever the order of its keys: a database may change that.
fn key(search: &PlannedSearch, item: &Value) -> String {
    search.over.keys().map(|name| format!("{}\n", item[name.as_str()])).collect()
}

/// What was tried, so that nothing is tried twice while there is something else.
struct Tried {
    items: BTreeSet<String>,
    /// How many combinations there are, where that is a number.
    of: Option<usize>,
}

impl Tried {
    fn new(search: &PlannedSearch) -> Self {
        Self { items: BTreeSet::new(), of: combinations(&search.over) }
    }

    /// A choice that was not made before, and is from now on.
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
