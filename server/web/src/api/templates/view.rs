//! Views of task templates.

use cubeloom_compiler::newest_template;
use cubeloom_domain::template::{InstalledTemplate, Localized, RoleTemplate};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::templates::{BeforeAfter, Beside, Example, html};

/// A text in English and Chinese.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct TextView {
    /// English.
    pub en: String,
    /// Chinese.
    pub zh: String,
}

impl From<&Localized> for TextView {
    fn from(text: &Localized) -> Self {
        Self { en: text.en.clone(), zh: text.zh.clone() }
    }
}

impl TextView {
    /// Renders the Markdown of both languages as HTML.
    fn rendered(text: &Localized) -> Self {
        Self { en: html(&text.en), zh: html(&text.zh) }
    }
}

/// Summary of a template in a list.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TemplateSummaryView {
    /// Name.
    pub name: String,
    /// Display name.
    pub label: TextView,
    /// Description, in Markdown.
    pub help: TextView,
    /// Group that the template is listed in.
    pub group: String,
    /// Framework, which defines how workers learn their identity: `single`, `indexed`, `mpi`, `pytorch`, ...
    pub framework: String,
    /// Default version, used by tasks that name no version.
    pub version: String,
    /// All installed versions, oldest first.
    pub versions: Vec<String>,
}

/// A version of a template.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TemplateView {
    /// Template summary, with the installed versions.
    #[serde(flatten)]
    pub summary: TemplateSummaryView,
    /// SHA-256 of the template folder, in hexadecimal.
    pub digest: String,
    /// Container image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Help text, as HTML that is safe to display.
    pub help_html: TextView,
    /// README, as HTML that is safe to display.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub readme_html: Option<String>,
    /// Template parameters, as a JSON Schema (draft 2020-12) with `x-form` hints.
    #[schema(value_type = Object)]
    pub parameters: Value,
    /// Worker roles.
    pub roles: Vec<TemplateRoleView>,
    /// Command of each worker, with expressions.
    pub command: Vec<String>,
    /// Outputs that its program reports.
    pub outputs: Vec<TemplateOutputView>,
    /// Whether a job can continue with fewer workers, and use more.
    pub elastic: bool,
    /// Example pipeline that uses the template.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<Example>,
    /// Program before and after it was adapted to this template.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_after: Option<BeforeAfter>,
}

/// A role of a template.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TemplateRoleView {
    /// Name.
    pub name: String,
    /// Number of workers: a number or an expression.
    #[schema(value_type = Value)]
    pub replicas: Value,
    /// Default resource request of each worker, used if the task sets none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    pub resources: Option<Value>,
}

/// An output of a template's program.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TemplateOutputView {
    /// Name.
    pub name: String,
    /// Description of the output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// The versions of one template.
pub(crate) type Versions = std::collections::BTreeMap<String, InstalledTemplate>;

impl TemplateSummaryView {
    /// View of one version.
    pub fn of(installed: &InstalledTemplate, versions: &Versions) -> Self {
        let template = &installed.template;
        let newest = newest_template(versions).unwrap_or(installed);
        Self {
            name: template.name.clone(),
            label: (&template.label).into(),
            help: (&template.help).into(),
            group: template.group.clone(),
            framework: template.framework.clone(),
            version: newest.template.version.clone(),
            versions: versions.values().map(|version| version.template.version.clone()).collect(),
        }
    }
}

impl TemplateView {
    /// View of a version, with its documentation files.
    pub fn new(installed: &InstalledTemplate, versions: &Versions, beside: Beside) -> Self {
        let template = &installed.template;
        let summary = TemplateSummaryView {
            version: template.version.clone(),
            ..TemplateSummaryView::of(installed, versions)
        };
        Self {
            summary,
            digest: installed.digest.clone(),
            image: template.image.clone(),
            help_html: TextView::rendered(&template.help),
            readme_html: beside.readme.as_deref().map(html),
            parameters: template.parameters.clone(),
            roles: template.roles.iter().map(TemplateRoleView::from).collect(),
            command: template.command.clone(),
            outputs: template.outputs.iter().map(output).collect(),
            elastic: template.elastic.is_some(),
            example: beside.example,
            before_after: beside.before_after,
        }
    }
}

impl From<&RoleTemplate> for TemplateRoleView {
    fn from(role: &RoleTemplate) -> Self {
        Self { name: role.name.clone(), replicas: role.replicas.clone(), resources: role.resources.clone() }
    }
}

fn output(output: &cubeloom_domain::template::OutputTemplate) -> TemplateOutputView {
    TemplateOutputView { name: output.name.clone(), description: output.description.clone() }
}
