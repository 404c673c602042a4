//! Templates prepared for planning: resolved once, with everything computed that does not depend on a task.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use cubeloom_domain::belongings::registry_of;
use cubeloom_domain::plan::{PlannedImage, PlannedTemplate};
use cubeloom_domain::resources::ResourceRequest;
use cubeloom_domain::template::{InstalledTemplate, RoleTemplate, TaskTemplate, TemplateSet};
use cubeloom_domain::{Code, Problem};
use serde_json::Value;

use super::amounts::decode_resources;
use crate::arguments;
use crate::expression::has_expression;
use crate::frameworks::{self, Framework};
use crate::nearest::{hint, listing};
use crate::template::version_of;

/// A prepared template.
pub struct Prepared<'a> {
    pub template: &'a TaskTemplate,
    pub framework: &'static Framework,
    pub index: u32,
    pub roles: Vec<Role<'a>>,
}

pub struct Role<'a> {
    pub template: &'a RoleTemplate,
    /// Its resources, if they are the same for every task.
    pub fixed: Option<ResourceRequest>,
}

pub struct Templates<'a> {
    installed: &'a TemplateSet,
    /// Registry hosts for which the project has credentials.
    registries: &'a [String],
    known: HashMap<String, Result<Rc<Prepared<'a>>, (Code, String)>>,
    planned: Vec<PlannedTemplate>,
}

impl<'a> Templates<'a> {
    pub fn new(installed: &'a TemplateSet, registries: &'a [String]) -> Self {
        Self { installed, registries, known: HashMap::new(), planned: Vec::new() }
    }

    /// The used templates, in the order of their indexes.
    pub fn take_planned(&mut self) -> Vec<PlannedTemplate> {
        std::mem::take(&mut self.planned)
    }

    /// An image in the plan's form.
    pub fn image(&self, name: String) -> PlannedImage {
        PlannedImage { registry: account(&name, self.registries), name }
    }

    /// Keeps a template's schema in the plan, for a task with arguments that are checked later.
    pub fn keep_schema(&mut self, prepared: &Prepared<'_>) {
        let planned = &mut self.planned[prepared.index as usize];
        if planned.parameters.is_null() {
            planned.parameters = prepared.template.parameters.clone();
        }
    }

    /// The template that a task refers to.
    ///
    /// # Errors
    /// The reason why it is missing.
    pub fn find(&mut self, reference: &str) -> Result<Rc<Prepared<'a>>, (Code, String)> {
        if let Some(known) = self.known.get(reference) {
            return known.clone();
        }
        let found = self.look_up(reference).and_then(|installed| self.prepare(installed)).map(Rc::new);
        self.known.insert(reference.to_owned(), found.clone());
        found
    }

    fn look_up(&self, reference: &str) -> Result<&'a InstalledTemplate, (Code, String)> {
        let unknown = |message: String| (Code::UnknownTemplate, message);
        let (name, version) = match reference.split_once('@') {
            Some((name, version)) => (name, Some(version)),
            None => (reference, None),
        };
        let Some(versions) = self.installed.get(name) else {
            let names = || self.installed.keys().map(String::as_str);
            let hint = hint(name, names());
            let hint = if hint.is_empty() { format!("; installed are: {}", listing(names())) } else { hint };
            return Err(unknown(format!("there is no task template `{name}`{hint}")));
        };
        let found = version.map_or_else(|| newest(versions), |version| versions.get(version));
        found.ok_or_else(|| {
            let known = listing(versions.keys().map(String::as_str));
            unknown(format!(
                "the task template `{name}` has no version `{}`; there are: {known}",
                version.unwrap_or("")
            ))
        })
    }

    fn prepare(&mut self, installed: &'a InstalledTemplate) -> Result<Prepared<'a>, (Code, String)> {
        let template = &installed.template;
        let Some(framework) = frameworks::find(&template.framework) else {
            let known = listing(frameworks::names());
            let message = format!(
                "the task template `{}` needs the framework `{}`, which this version does not support; supported are: {known}",
                template.name, template.framework
            );
            return Err((Code::UnknownPlace, message));
        };
        let mut roles: Vec<Role<'_>> = Vec::new();
        for role in &template.roles {
            roles.push(Role { template: role, fixed: fixed_resources(template, role)? });
        }
        roles.sort_by_key(|role| framework.position(&role.template.name));
        let index = u32::try_from(self.planned.len()).unwrap_or(u32::MAX);
        self.planned.push(planned(installed, self.registries));
        Ok(Prepared { template, framework, index, roles })
    }
}

/// The version of a template for tasks that name none.
#[must_use]
pub fn newest(versions: &BTreeMap<String, InstalledTemplate>) -> Option<&InstalledTemplate> {
    versions.iter().max_by_key(|(version, _)| version_of(version)).map(|(_, newest)| newest)
}

/// A role's resources, if they contain no expression.
fn fixed_resources(
    template: &TaskTemplate,
    role: &RoleTemplate,
) -> Result<Option<ResourceRequest>, (Code, String)> {
    match &role.resources {
        None => Ok(Some(ResourceRequest::default())),
        Some(value) if holds_expression(value) => Ok(None),
        Some(value) => {
            decode_resources(value).map(Some).map_err(|problem| describe(template, role, &problem))
        }
    }
}

fn describe(template: &TaskTemplate, role: &RoleTemplate, problem: &Problem) -> (Code, String) {
    let message = format!(
        "the task template `{}`, role `{}`, resources{}: {}",
        template.name, role.name, problem.path, problem.message
    );
    (problem.code, message)
}

/// Whether any text in a value contains an expression.
pub fn holds_expression(value: &Value) -> bool {
    match value {
        Value::String(text) => has_expression(text),
        Value::Array(items) => items.iter().any(holds_expression),
        Value::Object(map) => map.values().any(holds_expression),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The host of an image's registry, if the project has credentials for it.
fn account(image: &str, registries: &[String]) -> Option<String> {
    let host = registry_of(image);
    registries.iter().any(|known| known == host).then(|| host.to_owned())
}

fn planned(installed: &InstalledTemplate, registries: &[String]) -> PlannedTemplate {
    let template = &installed.template;
    let image = template.image.as_ref().filter(|image| !has_expression(image));
    PlannedTemplate {
        name: template.name.clone(),
        version: template.version.clone(),
        digest: installed.digest.clone(),
        folder: installed.folder.clone(),
        framework: template.framework.clone(),
        image: image.cloned(),
        registry: image.and_then(|image| account(image, registries)),
        writable_root: template.writable_root,
        command: template.command.clone(),
        role_commands: template
            .roles
            .iter()
            .filter_map(|role| Some((role.name.clone(), role.command.clone()?)))
            .collect(),
        path_arguments: arguments::paths(&template.parameters),
        parameters: Value::Null,
    }
}
