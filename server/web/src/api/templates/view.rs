//! Task templates, as the API shows them.

use cubeloom_compiler::newest_template;
use cubeloom_domain::template::{InstalledTemplate, Localized, RoleTemplate};
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::templates::{BeforeAfter, Beside, Example, html};

/// A text in both languages.
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
    /// Both, from Markdown to HTML.
    fn rendered(text: &Localized) -> Self {
        Self { en: html(&text.en), zh: html(&text.zh) }
    }
}

/// A template in a list.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TemplateSummaryView {
    /// The name.
    pub name: String,
    /// What it is called.
    pub label: TextView,
    /// What it does, in Markdown.
    pub help: TextView,
    /// The group that it is listed in.
    pub group: String,
    /// How its workers learn who they are: `single`, `indexed`, `mpi`, `pytorch`, ...
    pub framework: String,
    /// The version that tasks use that name none.
    pub version: String,
    /// Every installed version, the oldest first.
    pub versions: Vec<String>,
}

/// A version of a template.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TemplateView {
    /// The template, and which versions there are.
    #[serde(flatten)]
    pub summary: TemplateSummaryView,
    /// SHA-256 of its folder, in hexadecimal.
    pub digest: String,
    /// The container image.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// What it does, as HTML that is safe to show.
    pub help_html: TextView,
    /// Its README, as HTML that is safe to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub readme_html: Option<String>,
    /// The arguments: a JSON Schema (draft 2020-12) with `x-form` hints.
    #[schema(value_type = Object)]
    pub parameters: Value,
    /// The roles of its workers.
    pub roles: Vec<TemplateRoleView>,
    /// What each worker runs, with expressions.
    pub command: Vec<String>,
    /// What its program reports.
    pub outputs: Vec<TemplateOutputView>,
    /// Whether it can go on with fewer workers, and use more.
    pub elastic: bool,
    /// A pipeline that uses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub example: Option<Example>,
    /// A program before and after it was made for this template.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before_after: Option<BeforeAfter>,
}

/// A role of a template.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TemplateRoleView {
    /// Its name.
    pub name: String,
    /// How many workers: a number, or an expression.
    #[schema(value_type = Value)]
    pub replicas: Value,
    /// What each gets when the task does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    pub resources: Option<Value>,
}

/// Something that a template's program reports.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TemplateOutputView {
    /// Its name.
    pub name: String,
    /// What it means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// The versions of one template.
pub(crate) type Versions = std::collections::BTreeMap<String, InstalledTemplate>;

impl TemplateSummaryView {
    /// Of one version.
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
    /// A version, with what lies beside its recipe.
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
