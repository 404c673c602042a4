//! The names that an expression can use: only those declared here, and of those only the ones it refers to.

use cubeloom_domain::plan::{Late, LateMap, RunContext};
use cubeloom_domain::{JsonMap, Timestamp};
use jiff::tz::TimeZone;
use minijinja::value::{Serde, Value as Engine};
use serde_json::Value;

use super::compile::Compiled;
use crate::Outputs;

/// The values that expressions can name. `None` values are undefined in this position.
#[derive(Clone, Copy, Debug, Default)]
pub struct Scope<'a> {
    /// `params`: the run's parameters.
    pub params: Option<&'a JsonMap>,
    pub run: Option<&'a RunContext>,
    /// `task.name`.
    pub task: Option<&'a str>,
    /// `args`: the task's arguments, in templates.
    pub args: Option<Args<'a>>,
    /// `item`: the item of `for_each`.
    pub item: Option<&'a Value>,
    /// `tasks.<name>.outputs`.
    pub outputs: Option<&'a Outputs>,
    /// `cards`: the number of whole GPUs requested for each worker; `None` without whole GPUs.
    pub cards: Option<u32>,
    /// `processes_per_gpu`: how many processes the platform starts on each GPU; `None` if the worker is one
    /// process.
    pub processes_per_gpu: Option<u32>,
    /// Whether the results become words of a command or variables. Data in them is then marked, so that it
    /// stays text.
    pub is_for_words: bool,
}

#[derive(Clone, Copy, Debug)]
pub enum Args<'a> {
    /// All in one map.
    Plain(&'a JsonMap),
    /// Arguments of a plan, and the late ones whose values are now known.
    Planned(&'a LateMap, &'a JsonMap),
}

impl<'a> Args<'a> {
    pub fn get(self, name: &str) -> Option<&'a Value> {
        match self {
            Self::Plain(map) => map.get(name),
            Self::Planned(planned, known) => match planned.get(name)? {
                Late::Value(value) => Some(value),
                Late::Source(_) => known.get(name),
            },
        }
    }

    pub fn names(self) -> Vec<&'a str> {
        match self {
            Self::Plain(map) => map.keys().map(String::as_str).collect(),
            Self::Planned(planned, _) => planned.keys().map(String::as_str).collect(),
        }
    }
}

/// The members of `run`.
pub const RUN_NAMES: [&str; 7] = ["id", "date", "date_utc", "timestamp", "project", "user", "dir"];

impl Scope<'_> {
    /// The engine's context for one expression.
    pub fn context(&self, expression: &Compiled) -> Engine {
        Engine::from_pairs(
            expression.roots.iter().filter_map(|root| Some((root.clone(), self.root(root, expression)?))),
        )
    }

    fn root(&self, name: &str, expression: &Compiled) -> Option<Engine> {
        match name {
            "params" => self.params.map(|map| members(Args::Plain(map), name, expression)),
            "args" => self.args.map(|args| members(args, name, expression)),
            "item" => self.item.map(|item| Engine::from(Serde(item))),
            "run" => self.run.map(run),
            "task" => self.task.map(|task| Engine::from_pairs([("name", task)])),
            "workspace" => Some("$(CUBELOOM_WORKSPACE)".into()),
            "code" => Some("$(CUBELOOM_CODE)".into()),
            "tasks" => self.outputs.map(|outputs| tasks(outputs, expression)),
            "cards" => Some(self.cards.map_or(Engine::from(()), Engine::from)),
            "processes_per_gpu" => Some(self.processes_per_gpu.map_or(Engine::from(()), Engine::from)),
            _ => None,
        }
    }

    /// A value reached by a plain path, without the engine. `None` if it is undefined.
    pub fn walk(&self, path: &[String]) -> Option<Value> {
        let (root, rest) = path.split_first()?;
        let (mut value, rest) = match (root.as_str(), rest.split_first()) {
            ("params", Some((name, rest))) => (self.params?.get(name)?, rest),
            ("args", Some((name, rest))) => (self.args?.get(name)?, rest),
            ("item", _) => (self.item?, rest),
            _ => return None,
        };
        for name in rest {
            value = value.as_object()?.get(name)?;
        }
        Some(value.clone())
    }
}

/// The members of a map that the expression names, or all if it uses the map itself.
fn members(args: Args<'_>, root: &str, expression: &Compiled) -> Engine {
    let whole = expression.names.iter().any(|name| name == root);
    let names = if whole { args.names() } else { expression.members(root).collect() };
    let member = |name: &str| Some((name.to_owned(), Engine::from(Serde(args.get(name)?))));
    Engine::from_pairs(names.into_iter().filter_map(member))
}

fn run(run: &RunContext) -> Engine {
    Engine::from_pairs([
        ("id", run.id.to_string()),
        ("date", local_day(run)),
        ("date_utc", day(run.date)),
        ("timestamp", moment(run.date)),
        ("project", run.project.clone()),
        ("user", run.user.clone()),
        ("dir", "$(CUBELOOM_RUN_DIR)".into()),
    ])
}

fn tasks(outputs: &Outputs, expression: &Compiled) -> Engine {
    Engine::from_pairs(expression.reads.iter().filter_map(|read| {
        let values = match outputs.get(&read.task)? {
            list @ Value::Array(_) => {
                let named = expression.reads.iter().filter(|other| other.task == read.task);
                let names = named.filter_map(|other| other.output.clone());
                Engine::from_pairs(names.map(|name| (name, Engine::from(Serde(list)))))
            }
            values => Engine::from(Serde(values)),
        };
        let state = outputs.state(&read.task).map(|state| ("state", Engine::from(state)));
        let seen = [("outputs", values)].into_iter().chain(state);
        Some((read.task.clone(), Engine::from_pairs(seen)))
    }))
}

/// The date in the run's time zone; in UTC if the time zone is absent or unknown.
fn local_day(run: &RunContext) -> String {
    let zone = run.timezone.as_deref().and_then(|name| TimeZone::get(name).ok());
    let moment = jiff::Timestamp::from_microsecond(run.date.0).ok();
    match zone.zip(moment) {
        Some((zone, moment)) => zone.to_datetime(moment).date().to_string(),
        None => day(run.date),
    }
}

/// The date, in UTC: `2026-01-31`.
fn day(at: Timestamp) -> String {
    let text = moment(at);
    text.split('T').next().unwrap_or_default().to_owned()
}

/// The time, in UTC, to the second: `2026-01-31T08:00:00Z`.
fn moment(at: Timestamp) -> String {
    let seconds = at.0.div_euclid(1_000_000);
    jiff::Timestamp::from_second(seconds).unwrap_or_default().to_string()
}
