//! One task of the plan.

use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use cubeloom_domain::job::PythonEnvironment;
use cubeloom_domain::pipeline::{Cache, HangRule, Placement, Retry, RetryOn, Task};
use cubeloom_domain::plan::{CachePolicy, PlannedImage, PlannedTask, RetryPolicy};
use cubeloom_domain::priority::Preempts;
use cubeloom_domain::{Code, Span, TaskIx, requirement};
use serde_json::{Value, json};

use super::Planner;
use super::prepared::Prepared;
use super::resolve::{Known, Sight, blamed};
use super::roles::Roles;
use crate::expression::{Args, Mistake, Scope, bare, expressions, has_expression, strings, to_text};
use crate::frameworks::{Doer, Shape};
use crate::path::Path;
use crate::validate;

impl Planner<'_> {
    /// Adds a problem with an expression.
    pub fn mistake(&mut self, mistake: Mistake, path: String) {
        self.problem(mistake.code, path, mistake.message);
    }

    /// Plans one task; `None` if its template does not exist.
    pub fn task(&mut self, at: u32, task: &Task) -> Option<PlannedTask> {
        let prefix = format!("/tasks/{at}");
        let prepared = match self.templates.find(&task.template) {
            Ok(prepared) => prepared,
            Err((code, message)) => {
                // A missing template name is already reported.
                if !task.template.is_empty() {
                    self.problem(code, format!("{prefix}/template"), message);
                }
                return None;
            }
        };
        let (values, unknown_params) = (std::mem::take(&mut self.values), std::mem::take(&mut self.unknown));
        let context = Rc::clone(&self.context);
        let scope =
            Scope { params: Some(&values), run: Some(&context), task: Some(&task.name), ..Scope::default() };
        let sight = Sight { scope, unknown_params: &unknown_params, late_args: &[], unknown_args: &[] };
        let planned = self.with_template(at, &prefix, task, &prepared, &sight);
        (self.values, self.unknown) = (values, unknown_params);
        Some(planned)
    }

    fn with_template(
        &mut self,
        at: u32,
        prefix: &str,
        task: &Task,
        prepared: &Prepared<'_>,
        sight: &Sight<'_>,
    ) -> PlannedTask {
        let arguments = self.arguments(prefix, task, prepared, sight);
        // Invalid arguments are not evaluated further, so that each problem is reported once.
        let every: Vec<&str>;
        let unknown_args = if arguments.wrong {
            every = crate::arguments::properties(&prepared.template.parameters)
                .map(|(name, _)| name.as_str())
                .collect();
            &every
        } else {
            &arguments.unknown
        };
        let scope = Scope { args: Some(Args::Plain(&arguments.known)), ..sight.scope };
        let inside = Sight { scope, late_args: &arguments.late, unknown_args, ..*sight };
        let words = arguments.for_words(&prepared.template.parameters, task, sight);
        let for_words = Sight { scope: Scope { is_for_words: true, ..sight.scope }, ..*sight };
        let of_template =
            Sight { scope: Scope { args: Some(Args::Plain(&words)), ..for_words.scope }, ..inside };
        let env = self.env(prefix, task, prepared, &for_words, &of_template);
        let roles = self.roles(prefix, task, prepared, &inside, &env);
        self.check_arguments(prefix, prepared, &roles, &inside);
        self.check_command(prefix, prepared, &inside);
        self.check_software(prefix, prepared);
        self.check_secrets(prefix, task);
        match prepared.framework.doer() {
            Doer::Workers => self.check_local_effects(prefix, task),
            doer => self.check_without_workers(prefix, task, doer),
        }
        let preflight = self.preflight(prefix, task, prepared, &roles);
        let (priority, preempts) = self.priority(prefix, task);
        let names: Vec<&str> = roles.planned.iter().map(|role| role.name.as_str()).collect();
        PlannedTask {
            name: task.name.clone(),
            template: prepared.index,
            needs: self.edges.graph.before(at).iter().copied().map(TaskIx).collect(),
            reads: self.reads(at, task),
            trigger: task.trigger.unwrap_or_default(),
            when: task.when.as_deref().and_then(|when| bare(when).ok()).map(|when| when.source.clone()),
            for_each: self.expansion(prefix, task, sight),
            env,
            setup: self.words(&format!("{prefix}/setup"), &task.setup, &for_words),
            python: self.python(prefix, prepared, &inside),
            image: self.image(prefix, prepared, &inside),
            success: (prepared.framework.success)(&Shape {
                roles: &names,
                elastic: roles.elastic.is_some(),
                leader: prepared.template.elastic.as_ref().is_some_and(|elastic| elastic.leader),
            }),
            gang: roles.gang,
            asks: prepared.framework.doer() == Doer::Person,
            calls: prepared.framework.doer() == Doer::Run,
            elastic: roles.elastic,
            roles: roles.planned,
            secrets: task.secrets.iter().map(validate::secret_mount).collect(),
            volumes: self.volumes(prefix, task),
            retry: task.retry.as_ref().map(retry),
            timeout: task.timeout,
            hang: task.hang.as_ref().map(HangRule::policy).unwrap_or_default(),
            preflight,
            priority,
            preempts: preempts == Preempts::Lower,
            protected: task.preemptible.or(self.pipeline.preemptible) == Some(false),
            limits: self.limits(prefix, task, prepared.framework.doer()),
            placement: self.placement(prefix, task),
            sizing: task.sizing.or(self.pipeline.sizing),
            outputs: task.outputs.clone(),
            cache: self.cache(prefix, task, sight),
            arguments: arguments.planned(words, &prepared.template.parameters, task),
        }
    }

    /// The tasks whose outputs the expressions of a task read.
    fn reads(&self, at: u32, task: &Task) -> Vec<TaskIx> {
        let mut names: BTreeSet<u32> = BTreeSet::new();
        let mut note = |found: &crate::expression::Compiled| {
            names.extend(found.reads.iter().filter_map(|read| self.edges.find(&read.task)));
        };
        let mut text = |text: &str| {
            if has_expression(text) {
                expressions(text).unwrap_or_default().iter().for_each(|found| note(found));
            }
        };
        for value in task.arguments.values() {
            strings(value, &mut Path::default(), &mut |found, _| text(found));
        }
        task.env.values().for_each(|value| text(value));
        let from = task.for_each.as_ref().and_then(|for_each| for_each.from.as_deref());
        for found in task.when.as_deref().into_iter().chain(from).filter_map(|source| bare(source).ok()) {
            note(&found);
        }
        names.remove(&at);
        names.into_iter().map(TaskIx).collect()
    }

    /// Texts that must be known at planning.
    fn words(&mut self, path: &str, words: &[String], sight: &Sight<'_>) -> Vec<String> {
        let mut rendered = Vec::with_capacity(words.len());
        for (at, word) in words.iter().enumerate() {
            match sight.resolve(&Value::String(word.clone())) {
                Ok(Known::Value(value)) => rendered.push(to_text(value)),
                Ok(Known::Late | Known::Unknown) => {}
                Err(mistake) => self.mistake(mistake, format!("{path}/{at}")),
            }
        }
        rendered
    }

    fn cache(&mut self, prefix: &str, task: &Task, sight: &Sight<'_>) -> Option<CachePolicy> {
        match task.cache.as_ref()? {
            Cache::Enabled(false) => None,
            Cache::Enabled(true) => Some(CachePolicy::default()),
            Cache::Detailed { inputs, max_age } => {
                let inputs = self.words(&format!("{prefix}/cache/inputs"), inputs, sight);
                Some(CachePolicy { inputs, max_age: *max_age })
            }
        }
    }

    /// The image that a template takes from its arguments.
    fn image(&mut self, prefix: &str, prepared: &Prepared<'_>, inside: &Sight<'_>) -> Option<PlannedImage> {
        let image = prepared.template.image.as_ref().filter(|image| has_expression(image))?;
        let template = &prepared.template.name;
        let runs_none = self.facts.slurm.as_ref().is_some_and(|slurm| slurm.containers.is_none());
        let message = match self.facts.kind.as_str() {
            "local" => Some(format!(
                "the task template `{template}` runs your own image, but this cluster is a single machine: set the pipeline's `cluster` to a Kubernetes cluster"
            )),
            _ if runs_none => Some(format!(
                "the task template `{template}` runs your own image, but this cluster has no container program: set the cluster's `containers`, or the pipeline's `cluster` to another one"
            )),
            _ => None,
        };
        if let Some(message) = message {
            self.problem(Code::MissingSoftware, format!("{prefix}/template"), message);
        }
        let name =
            self.template_value(prefix, prepared, &Value::String(image.clone()), inside, "the image")?;
        Some(self.templates.image(to_text(name)))
    }

    fn python(
        &mut self,
        prefix: &str,
        prepared: &Prepared<'_>,
        inside: &Sight<'_>,
    ) -> Option<PythonEnvironment> {
        let python = prepared.template.local.as_ref()?.python.as_ref()?;
        let value =
            self.template_value(prefix, prepared, &python.requirements, inside, "the Python requirements")?;
        let requirements = match value {
            Value::Array(items) if items.iter().all(Value::is_string) => {
                items.into_iter().map(to_text).collect()
            }
            Value::Null => Vec::new(),
            other => {
                let message = format!(
                    "the task template `{}`: the Python requirements must be a list of texts, not {other}",
                    prepared.template.name
                );
                self.problem(Code::InvalidArgument, blamed(prefix, &python.requirements), message);
                Vec::new()
            }
        };
        for message in requirements.iter().filter_map(|text: &String| requirement::check(text).err()) {
            self.problem(Code::InvalidArgument, blamed(prefix, &python.requirements), message);
        }
        Some(PythonEnvironment {
            interpreter: python.interpreter.clone().unwrap_or_else(|| "python3".into()),
            requirements,
            system_site_packages: python.system_site_packages,
            provided: python.provided.clone(),
            builds: python.builds.clone(),
        })
    }

    /// Checks the template's rules across its arguments. Skips rules that depend on unknown values.
    fn check_arguments(&mut self, prefix: &str, prepared: &Prepared<'_>, roles: &Roles, inside: &Sight<'_>) {
        let cards =
            roles.planned.iter().map(|role| role.resources.whole_gpus()).filter(|cards| *cards > 0).max();
        let processes_per_gpu =
            roles.planned.iter().filter_map(|role| role.resources.processes_per_gpu).max();
        let inside = Sight { scope: Scope { cards, processes_per_gpu, ..inside.scope }, ..*inside };
        for check in &prepared.template.checks {
            let path = || format!("{prefix}/arguments/{}", check.argument);
            let wrong = match inside.resolve(&Value::String(check.holds.clone())) {
                Ok(Known::Value(Value::Bool(true)) | Known::Late | Known::Unknown) => continue,
                Ok(Known::Value(Value::Bool(false))) => inside.resolve(&Value::String(check.says.clone())),
                Ok(Known::Value(other)) => Err(Mistake::new(
                    Code::WrongType,
                    format!("{} yields {other}, not true or false", check.holds),
                )),
                Err(mistake) => Err(mistake),
            };
            match wrong {
                Ok(Known::Value(says)) => self.problem(Code::InvalidArgument, path(), to_text(says)),
                Ok(Known::Late | Known::Unknown) => {
                    self.problem(Code::InvalidArgument, path(), check.says.clone())
                }
                Err(mistake) => {
                    let message = format!(
                        "the task template `{}`, checks: {}",
                        prepared.template.name, mistake.message
                    );
                    self.problem(mistake.code, format!("{prefix}/template"), message);
                }
            }
            // Later rules may rely on it.
            return;
        }
    }

    /// Renders the commands if all arguments are known, so that failures appear now.
    fn check_command(&mut self, prefix: &str, prepared: &Prepared<'_>, inside: &Sight<'_>) {
        let known =
            inside.late_args.is_empty() && inside.unknown_args.is_empty() && inside.unknown_params.is_empty();
        if !known || !prepared.framework.has_workers() {
            return;
        }
        let own = prepared.roles.iter().filter_map(|role| role.template.command.as_ref());
        for command in own.chain([&prepared.template.command]) {
            if let Err(mistake) = crate::job::argv(command, &inside.scope) {
                let message =
                    format!("the task template `{}`, command: {}", prepared.template.name, mistake.message);
                // Wrong words come from an argument; a failing expression is the template's.
                let path = match mistake.code {
                    Code::InvalidArgument => blamed(prefix, &json!(command)),
                    _ => format!("{prefix}/template"),
                };
                self.problem(mistake.code, path, message);
            }
        }
    }

    /// The task's placement merged over the pipeline's, key by key.
    fn placement(&mut self, prefix: &str, task: &Task) -> Placement {
        let base = self.pipeline.placement.clone().unwrap_or_default();
        let own = task.placement.clone().unwrap_or_default();
        if let Some(group) = &own.node_group {
            self.check_node_group(group, format!("{prefix}/placement/node_group"));
        }
        let selector = base.selector.into_iter().chain(own.selector).collect();
        let tolerations = if own.tolerations.is_empty() { base.tolerations } else { own.tolerations };
        Placement {
            spread: own.spread.or(base.spread),
            spread_by: own.spread_by.or(base.spread_by),
            workers: own.workers.or(base.workers),
            node_group: own.node_group.or(base.node_group),
            selector,
            tolerations,
            host_network: own.host_network.or(base.host_network),
        }
    }
}

/// A retry policy with all defaults filled in.
fn retry(retry: &Retry) -> RetryPolicy {
    let backoff = retry.backoff.as_ref();
    let initial = backoff.map_or(Span(Duration::from_secs(1)), |backoff| backoff.initial);
    let hour = Span(Duration::from_secs(3600));
    RetryPolicy {
        attempts: retry.attempts,
        initial,
        factor: backoff.and_then(|backoff| backoff.factor).unwrap_or(2.0),
        max: backoff.and_then(|backoff| backoff.max).unwrap_or(hour).max(initial),
        on: retry
            .on
            .clone()
            .unwrap_or_else(|| vec![RetryOn::Error, RetryOn::OutOfMemory, RetryOn::Lost, RetryOn::Preempted]),
    }
}
