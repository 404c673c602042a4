//! Checks of a task template beyond its form: names, version, roles, schema, expressions.

use cubeloom_domain::ids::is_label;
use cubeloom_domain::template::TaskTemplate;
use cubeloom_domain::{Code, Problem};
use serde_json::Value;

use crate::expression::{Compiled, Mistake, expressions, strings};
use crate::frameworks::{self, Framework};
use crate::nearest::{hint, listing};
use crate::path::Path;
use crate::plan::{decode_resources, holds_expression};
use crate::validate;
use crate::{arguments, parse};

/// All problems of a template, warnings included.
#[must_use]
pub fn check_template(template: &TaskTemplate) -> Vec<Problem> {
    let mut lint = Lint { template, problems: Vec::new() };
    lint.head();
    lint.problems.extend(arguments::lint(&template.parameters, &mut Path::at("/parameters")));
    lint.checks();
    lint.roles();
    lint.commands();
    lint.env();
    lint.local();
    lint.elastic();
    lint.outputs();
    lint.problems
}

/// `1.0.0` as three numbers; `None` for every other form.
pub fn version_of(text: &str) -> Option<[u64; 3]> {
    let mut numbers = text.split('.').map(|part| {
        let plain = part.len() == 1 || !part.starts_with('0');
        part.bytes().all(|byte| byte.is_ascii_digit()).then_some(())?;
        part.parse::<u64>().ok().filter(|_| plain)
    });
    let version = [numbers.next()??, numbers.next()??, numbers.next()??];
    numbers.next().is_none().then_some(version)
}

/// The names that the expressions of a template can use.
const EVERYWHERE: [&str; 6] = ["args", "params", "run", "workspace", "code", "task"];
/// The same for its checks, which run when the resources of each worker are known.
const IN_CHECKS: [&str; 8] =
    ["args", "params", "run", "workspace", "code", "task", "cards", "processes_per_gpu"];

struct Lint<'a> {
    template: &'a TaskTemplate,
    problems: Vec<Problem>,
}

impl Lint<'_> {
    fn error(&mut self, code: Code, path: impl Into<String>, message: impl Into<String>) {
        self.problems.push(Problem::error(code, path, message));
    }

    fn head(&mut self) {
        let template = self.template;
        if !is_label(&template.name) {
            self.error(Code::InvalidName, "/name", format!("`{}` is not a DNS-1123 label", template.name));
        }
        if version_of(&template.version).is_none() {
            let message =
                format!("`{}` is not a version: write three numbers in quotes, \"1.0.0\"", template.version);
            self.error(Code::InvalidValue, "/version", message);
        }
        for (path, text) in [("/label/en", &template.label.en), ("/label/zh", &template.label.zh)] {
            if text.trim().is_empty() || text.contains('\n') || text.chars().count() > 60 {
                self.error(Code::InvalidValue, path, "a label is one line of at most 60 characters");
            }
        }
        if let Some(image) = &template.image {
            self.text(image, "/image");
        }
        if self.framework().is_none() {
            let name = &template.framework;
            let hint = hint(name, frameworks::names());
            let message =
                format!("there is no framework `{name}`{hint} (there are: {})", listing(frameworks::names()));
            self.error(Code::UnknownPlace, "/framework", message);
        }
    }

    fn framework(&self) -> Option<&'static Framework> {
        frameworks::find(&self.template.framework)
    }

    fn checks(&mut self) {
        let template = self.template;
        for (at, check) in template.checks.iter().enumerate() {
            let path = format!("/checks/{at}");
            if !holds_expression(&Value::String(check.holds.clone())) {
                let message = "write an expression that yields true or false, such as {{ args.batch % args.workers == 0 }}";
                self.error(Code::WrongType, format!("{path}/holds"), message);
            }
            self.text_that_sees(&check.holds, &format!("{path}/holds"), &IN_CHECKS);
            self.text_that_sees(&check.says, &format!("{path}/says"), &IN_CHECKS);
            let names = || arguments::properties(&template.parameters).map(|(name, _)| name.as_str());
            if !names().any(|name| name == check.argument) {
                let message =
                    format!("there is no argument `{}`{}", check.argument, hint(&check.argument, names()));
                self.error(Code::UndefinedName, format!("{path}/argument"), message);
            }
        }
    }

    fn roles(&mut self) {
        let template = self.template;
        if let Some(framework) = self.framework() {
            self.role_names(framework);
        }
        for (at, role) in template.roles.iter().enumerate() {
            let path = format!("/roles/{at}");
            if template.roles[..at].iter().any(|other| other.name == role.name) {
                self.error(
                    Code::DuplicateName,
                    format!("{path}/name"),
                    format!("the role `{}` is listed twice", role.name),
                );
            }
            self.number(&role.replicas, format!("{path}/replicas"));
            if let Some(resources) = &role.resources {
                self.value(resources, format!("{path}/resources"));
                if !holds_expression(resources)
                    && let Err(problem) = decode_resources(resources)
                {
                    self.error(problem.code, format!("{path}/resources{}", problem.path), problem.message);
                }
            }
        }
    }

    fn role_names(&mut self, framework: &Framework) {
        let template = self.template;
        let known = || framework.roles.iter().map(|rule| rule.name);
        for (at, role) in template.roles.iter().enumerate() {
            if framework.position(&role.name).is_none() {
                let hint = hint(&role.name, known());
                let message = format!(
                    "the framework `{}` has no role `{}`{hint} (it has: {})",
                    framework.name,
                    role.name,
                    listing(known())
                );
                self.error(Code::InvalidValue, format!("/roles/{at}/name"), message);
            }
        }
        for rule in framework.roles.iter().filter(|rule| rule.min > 0) {
            if !template.roles.iter().any(|role| role.name == rule.name) {
                let message = format!("the framework `{}` needs the role `{}`", framework.name, rule.name);
                self.error(Code::MissingKey, "/roles", message);
            }
        }
        if template.roles.is_empty() && framework.has_workers() {
            self.error(Code::MissingKey, "/roles", "a template has at least one role");
        }
    }

    fn commands(&mut self) {
        let template = self.template;
        let runs_nothing = self.framework().is_some_and(|framework| !framework.has_workers());
        if template.command.is_empty() && !runs_nothing {
            self.error(Code::MissingKey, "/command", "a command needs at least a program");
        }
        let own = template.roles.iter().enumerate();
        let own = own.filter_map(|(at, role)| Some((format!("/roles/{at}/command"), role.command.as_ref()?)));
        for (path, words) in own.chain([("/command".to_owned(), &template.command)]) {
            for (at, word) in words.iter().enumerate() {
                self.text(word, &format!("{path}/{at}"));
            }
        }
    }

    fn env(&mut self) {
        let template = self.template;
        validate::reserved("/env", &template.env, &mut self.problems);
        for (name, text) in &template.env {
            self.text(text, &format!("/env/{name}"));
        }
    }

    fn local(&mut self) {
        let Some(local) = &self.template.local else { return };
        if let Some(python) = &local.python {
            let path = "/local/python/requirements";
            self.value(&python.requirements, path);
            for (at, requirement) in python.requirements.as_array().into_iter().flatten().enumerate() {
                let pinned =
                    requirement.as_str().is_some_and(|text| text.contains("==") || text.contains(" @ "));
                if !pinned {
                    let message =
                        format!("{requirement} is not pinned; write the version, for instance numpy==2.3.1");
                    self.error(Code::InvalidValue, format!("{path}/{at}"), message);
                }
            }
        }
        for (at, package) in local.apt.iter().enumerate() {
            let fits =
                |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"+-.".contains(&byte);
            if !package.bytes().all(fits) {
                self.error(
                    Code::InvalidName,
                    format!("/local/apt/{at}"),
                    format!("`{package}` is not a Debian package's name"),
                );
            }
        }
    }

    fn elastic(&mut self) {
        let Some(elastic) = &self.template.elastic else { return };
        self.number(&elastic.min, "/elastic/min");
        self.number(&elastic.max, "/elastic/max");
        let role = self.framework().map(|framework| (framework.name, framework.elastic_role));
        match role {
            Some((name, None)) => {
                self.error(
                    Code::Conflict,
                    "/elastic",
                    format!("jobs of the framework `{name}` cannot be elastic"),
                );
            }
            Some((name, Some(role))) if !self.template.roles.iter().any(|own| own.name == role) => {
                let message =
                    format!("in the framework `{name}` the role `{role}` is the elastic one; it is missing");
                self.error(Code::MissingKey, "/roles", message);
            }
            _ => {}
        }
    }

    fn outputs(&mut self) {
        for (at, output) in self.template.outputs.iter().enumerate() {
            if self.template.outputs[..at].iter().any(|other| other.name == output.name) {
                let message = format!("the output `{}` is listed twice", output.name);
                self.error(Code::DuplicateName, format!("/outputs/{at}/name"), message);
            }
            if !parse::is_variable(&output.name) {
                let message =
                    format!("`{}` cannot be written in an expression: use letters, digits, `_`", output.name);
                self.problems.push(Problem::warning(
                    Code::Suspicious,
                    format!("/outputs/{at}/name"),
                    message,
                ));
            }
        }
    }

    /// A number, or an expression that yields one.
    fn number(&mut self, value: &Value, path: impl Into<String>) {
        let path = path.into();
        if value.is_string() && !holds_expression(value) {
            let message = format!(
                "{value} is not a number; write one, or an expression such as {{{{ args.workers }}}}"
            );
            self.error(Code::WrongType, path.clone(), message);
        }
        self.value(value, path);
    }

    fn value(&mut self, value: &Value, path: impl Into<String>) {
        strings(value, &mut Path::at(path), &mut |text, path| self.text(text, &path.pointer()));
    }

    fn text(&mut self, text: &str, path: &str) {
        self.text_that_sees(text, path, &EVERYWHERE);
    }

    fn text_that_sees(&mut self, text: &str, path: &str, seen: &[&str]) {
        match expressions(text) {
            Ok(found) => {
                for expression in found {
                    if let Err(mistake) = self.names(&expression, seen) {
                        self.error(mistake.code, path, mistake.message);
                    }
                }
            }
            Err(mistake) => self.error(mistake.code, path, mistake.message),
        }
    }

    /// A template sees its arguments and the run, never other tasks: their outputs arrive through arguments.
    fn names(&self, expression: &Compiled, seen: &[&str]) -> Result<(), Mistake> {
        let undefined = |message: String| Err(Mistake::new(Code::UndefinedName, message));
        if let Some(root) = expression.roots.iter().find(|root| !seen.contains(&root.as_str())) {
            return undefined(format!("templates cannot use `{root}`; they see: {}", seen.join(", ")));
        }
        validate::run_names(expression)?;
        let names = || arguments::properties(&self.template.parameters).map(|(name, _)| name.as_str());
        match expression.members("args").find(|name| !names().any(|known| known == *name)) {
            Some(name) => undefined(format!("there is no argument `{name}`{}", hint(name, names()))),
            None => Ok(()),
        }
    }
}
