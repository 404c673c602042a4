//! The roles of a task: the number of workers, their resources, and how many must start together.

use cubeloom_domain::pipeline::{ElasticRange, Task};
use cubeloom_domain::plan::{LateMap, PlannedRole};
use cubeloom_domain::preflight::PreflightPolicy;
use cubeloom_domain::resources::Resources;
use cubeloom_domain::{Code, Problem};
use serde_json::{Value, json};

use super::Planner;
use super::prepared::{Prepared, Role};
use super::resolve::{Sight, blamed};
use crate::nearest::{hint, listing};

/// The roles of a task, and their common settings.
pub struct Roles {
    pub planned: Vec<PlannedRole>,
    pub elastic: Option<ElasticRange>,
    pub gang: u32,
}

impl Planner<'_> {
    /// Derives the roles, and checks whether they can ever run.
    pub fn roles(
        &mut self,
        prefix: &str,
        task: &Task,
        prepared: &Prepared<'_>,
        inside: &Sight<'_>,
        env: &LateMap,
    ) -> Roles {
        self.check_role_names(prefix, task, prepared);
        let elastic = self.elastic(prefix, task, prepared, inside);
        self.check_division(prefix, task, prepared, elastic);
        let fixed = self.fixed_amounts(prefix, prepared, env);
        let before = self.problems.len();
        let mut planned = Vec::with_capacity(prepared.roles.len());
        for role in &prepared.roles {
            let elastic = elastic.filter(|_| prepared.framework.elastic_role == Some(&role.template.name));
            let workers = match elastic {
                Some(range) => Some(Workers::Ours(range.max)),
                None => self.workers(prefix, prepared, role, inside),
            };
            let Some(workers) = workers else { continue };
            let (mut resources, kept) = self.resources(prefix, task, prepared, role, inside, &fixed);
            if !prepared.framework.divided.contains(&role.template.name.as_str()) {
                // A setting for all roles does not apply to roles outside of the training.
                resources.processes_per_gpu = None;
            }
            self.check_whole_cards(prefix, task, &role.template.name, &resources);
            let replicas = match workers {
                Workers::Ours(0) => continue,
                Workers::Ours(replicas) => replicas,
                Workers::Elsewhere => 0,
            };
            planned.push(PlannedRole { name: role.template.name.clone(), replicas, resources, kept });
        }
        let total = planned.iter().map(|role| role.replicas).fold(0u32, u32::saturating_add);
        let gang = match (prepared.template.gang, elastic) {
            (Some(false), _) => 1,
            (_, Some(range)) => total - (range.max - range.min),
            _ => total,
        };
        let roles = Roles { planned, elastic, gang };
        if self.problems.len() == before {
            self.check_counts(prefix, prepared, &roles, inside);
            self.check_fit(prefix, task, &roles, prepared.framework.elastic_role);
        }
        roles
    }

    fn check_role_names(&mut self, prefix: &str, task: &Task, prepared: &Prepared<'_>) {
        let known = || prepared.roles.iter().map(|role| role.template.name.as_str());
        for name in task.role_resources.keys().filter(|name| !known().any(|role| role == *name)) {
            let hint = hint(name, known());
            let hint = if hint.is_empty() { format!("; it has: {}", listing(known())) } else { hint };
            let message =
                format!("the task template `{}` has no role `{name}`{hint}", prepared.template.name);
            self.problem(Code::UnknownKey, format!("{prefix}/role_resources/{name}"), message);
        }
    }

    /// The task's range, else the template's. If the template has no range for the given arguments, a task
    /// may not have one.
    fn elastic(
        &mut self,
        prefix: &str,
        task: &Task,
        prepared: &Prepared<'_>,
        inside: &Sight<'_>,
    ) -> Option<ElasticRange> {
        let elastic =
            prepared.template.elastic.as_ref().filter(|_| prepared.framework.elastic_role.is_some());
        let mut own = None;
        if let Some(elastic) = elastic {
            let min =
                self.template_value(prefix, prepared, &elastic.min, inside, "the minimum number of workers")?;
            let max =
                self.template_value(prefix, prepared, &elastic.max, inside, "the maximum number of workers")?;
            own = Some((min, max)).filter(|(min, max)| !min.is_null() || !max.is_null());
        }
        if let Some(range) = task.elastic {
            if own.is_none() {
                let name = &prepared.template.name;
                let message = if elastic.is_some() {
                    format!("the task template `{name}` cannot be elastic with these arguments")
                } else {
                    format!("the task template `{name}` cannot be elastic")
                };
                self.problem(Code::Conflict, format!("{prefix}/elastic"), message);
            }
            return Some(range).filter(|_| own.is_some());
        }
        let (min, max) = own?;
        let range = Some(ElasticRange { min: count(&min).unwrap_or(0), max: count(&max).unwrap_or(0) });
        let range = range.filter(|range| range.min >= 1 && range.min <= range.max);
        if range.is_none() {
            let message = format!(
                "min ({min}) and max ({max}) of the workers: min must be at least 1, and max not below min"
            );
            let sources = elastic.map(|elastic| json!([elastic.min, elastic.max]));
            self.problem(Code::InvalidArgument, blamed(prefix, &json!(sources)), message);
        }
        range
    }

    fn workers(
        &mut self,
        prefix: &str,
        prepared: &Prepared<'_>,
        role: &Role<'_>,
        inside: &Sight<'_>,
    ) -> Option<Workers> {
        let what = "the number of workers";
        let value = self.template_value(prefix, prepared, &role.template.replicas, inside, what)?;
        if value.is_null() {
            return Some(Workers::Elsewhere);
        }
        let replicas = count(&value);
        if replicas.is_none() {
            let message = format!(
                "the role `{}` cannot have {value} workers: must be a whole number up to {most}",
                role.template.name,
                most = MOST_WORKERS
            );
            self.problem(Code::InvalidArgument, blamed(prefix, &role.template.replicas), message);
        }
        replicas.map(Workers::Ours)
    }

    /// Checks whether each worker can be several processes, as the task requests.
    fn check_division(
        &mut self,
        prefix: &str,
        task: &Task,
        prepared: &Prepared<'_>,
        elastic: Option<ElasticRange>,
    ) {
        let name = &prepared.template.name;
        let divided = prepared.framework.divided;
        let of_roles = task.role_resources.iter().map(|(role, request)| (Some(role), request));
        for (role, request) in
            task.resources.as_deref().into_iter().map(|request| (None, request)).chain(of_roles)
        {
            if request.processes_per_gpu.is_none() {
                continue;
            }
            let place = role.map_or("resources".to_owned(), |role| format!("role_resources/{role}"));
            let path = format!("{prefix}/{place}/processes_per_gpu");
            let wrong = match role {
                _ if divided.is_empty() => Some(format!(
                    "a worker of the task template `{name}` is one process: it cannot share a GPU with others"
                )),
                Some(role) if !divided.contains(&role.as_str()) => {
                    let known = listing(divided.iter().copied());
                    Some(format!("workers of the role `{role}` must be one process each; roles with several processes: {known}"))
                }
                _ if elastic.is_some() => Some(
                    "an elastic group assigns its ranks itself: `processes_per_gpu` needs a fixed number of workers".into(),
                ),
                _ => None,
            };
            if let Some(message) = wrong {
                self.problem(Code::Conflict, path, message);
            }
        }
    }

    /// The preflight tests of the workers: the task's, else its template's.
    pub fn preflight(
        &mut self,
        prefix: &str,
        task: &Task,
        prepared: &Prepared<'_>,
        roles: &Roles,
    ) -> Option<PreflightPolicy> {
        let workers = roles.planned.iter().map(|role| role.replicas).fold(0u32, u32::saturating_add);
        let is_whole = roles.elastic.is_none() && roles.gang >= workers && prepared.framework.has_workers();
        let Some(said) = &task.preflight else {
            return (prepared.template.preflight && is_whole).then(PreflightPolicy::default);
        };
        let policy = said.policy();
        if policy.is_some() && !is_whole && prepared.framework.has_workers() {
            let message =
                "the workers of this job may run at different times: they cannot be tested together";
            self.problem(Code::Conflict, format!("{prefix}/preflight"), message);
        }
        policy.filter(|_| is_whole)
    }

    /// Processes share whole GPUs, or MIG slices, never a share that a scheduler allocates.
    fn check_whole_cards(&mut self, prefix: &str, task: &Task, role: &str, resources: &Resources) {
        let is_share = resources.gpu.as_ref().is_some_and(|gpu| gpu.count.is_none());
        if resources.processes_per_gpu.is_none() || !is_share {
            return;
        }
        let own = task
            .role_resources
            .get(role)
            .filter(|own| own.processes_per_gpu.or(own.gpu.as_ref().map(|_| 1)).is_some());
        let place = own.map_or("resources".to_owned(), |_| format!("role_resources/{role}"));
        let message = "processes share whole GPUs: request a `count` of `gpu`, or remove `processes_per_gpu`";
        self.problem(Code::Conflict, format!("{prefix}/{place}/processes_per_gpu"), message);
    }

    fn check_counts(&mut self, prefix: &str, prepared: &Prepared<'_>, roles: &Roles, inside: &Sight<'_>) {
        let unclear = !inside.unknown_args.is_empty() || !inside.unknown_params.is_empty();
        for rule in prepared.framework.roles {
            let found =
                roles.planned.iter().find(|role| role.name == rule.name).map_or(0, |role| role.replicas);
            let bounds = match (rule.min, rule.max) {
                _ if (rule.min..=rule.max).contains(&found) => continue,
                (min, max) if min == max => format!("exactly {min}"),
                (min, u32::MAX) => format!("at least {min}"),
                (min, max) => format!("between {min} and {max}"),
            };
            if unclear && found == 0 {
                continue;
            }
            let message = format!("the role `{}` has {found} workers, needs {bounds}", rule.name);
            self.problem(Code::InvalidArgument, format!("{prefix}/arguments"), message);
        }
        if roles.planned.is_empty() && !unclear && prepared.framework.has_workers() {
            self.problem(Code::InvalidArgument, format!("{prefix}/arguments"), "the job has no workers");
        }
        let processes: u64 = roles
            .planned
            .iter()
            .map(|role| u64::from(role.replicas) * u64::from(role.resources.processes()))
            .sum();
        if processes > u64::from(MOST_WORKERS) {
            let message =
                format!("the job would have {processes} processes; at most {MOST_WORKERS} are allowed");
            self.problem(Code::NeverFits, format!("{prefix}/resources/processes_per_gpu"), message);
        }
        let shares = |role: &PlannedRole| role.resources.gpu.as_ref().is_some_and(|gpu| gpu.count.is_none());
        if roles.gang > 1 && roles.planned.iter().any(shares) {
            let message = "several workers that train together on parts of GPUs wait for each other; whole \
                           GPUs with several processes each (`processes_per_gpu`) are faster";
            self.problems.push(Problem::warning(
                Code::Suspicious,
                format!("{prefix}/resources/gpu"),
                message,
            ));
        }
    }
}

/// The owner of a role's workers.
enum Workers {
    /// This many workers of the job.
    Ours(u32),
    /// The job's program requests them from another cluster. The plan keeps the resources of each.
    Elsewhere,
}

/// Maximum number of workers of a role, so that everything created per worker fits into memory.
const MOST_WORKERS: u32 = 100_000;

fn count(value: &Value) -> Option<u32> {
    let number = value.as_f64().filter(|number| number.fract() == 0.0)?;
    (0.0..=f64::from(MOST_WORKERS)).contains(&number).then_some(number as u32)
}
