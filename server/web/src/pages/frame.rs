//! What every page has around it: language, theme, who is here, and where they can go.

use std::convert::Infallible;
use std::fmt::Display;

use askama::Template;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum_extra::extract::CookieJar;
use cubeloom_domain::identity::{Project, Role, Scope};

use crate::assets;
use crate::auth::{Caller, visible};
use crate::limits::Nonce;
use crate::said::said;
use crate::show::relative;
use crate::state::Web;
use crate::texts::{Lang, text, text_with};
use crate::time::Time;

/// The page around a page's own content. Handlers take it as an extractor and put it in their template as `frame`.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// The reader's language.
    pub lang: Lang,
    /// `light`, `dark` or `auto`.
    pub theme: &'static str,
    /// The path of this page, for the navigation.
    pub path: String,
    /// The same with its query, for coming back.
    pub here: String,
    /// Who reads it.
    pub caller: Option<Caller>,
    /// Their projects, by name.
    pub projects: Vec<Project>,
    /// The project that they look at, or looked at last.
    pub project: Option<String>,
    /// Allows a script to make style elements.
    pub nonce: String,
    /// When it is read.
    pub now: Time,
}

/// What is in the head of every page. This and the two below are templates of their own, as what a page's template includes is
/// compiled once for each page.
#[derive(Template)]
#[template(path = "base/head.html")]
pub(crate) struct Head<'a> {
    frame: &'a Frame,
}

/// What stands before the content of a page: the icons and the side bar.
#[derive(Template)]
#[template(path = "base/top.html")]
pub(crate) struct Top<'a> {
    frame: &'a Frame,
}

/// What stands above the content for readers who have not signed in.
#[derive(Template)]
#[template(path = "base/bare-head.html")]
pub(crate) struct BareHead<'a> {
    frame: &'a Frame,
}

impl Frame {
    pub fn head(&self) -> Head<'_> {
        Head { frame: self }
    }

    pub fn top(&self) -> Top<'_> {
        Top { frame: self }
    }

    pub fn bare_head(&self) -> BareHead<'_> {
        BareHead { frame: self }
    }

    /// A text in the reader's language.
    pub fn t<'k>(&self, key: &'k str) -> &'k str {
        text(self.lang, key)
    }

    /// A text with values in it. Templates hand over a reference to the values, Rust the values themselves.
    pub fn t_with<'v, V: Display>(&self, key: &str, values: impl AsRef<[(&'v str, V)]>) -> String {
        text_with(self.lang, key, values.as_ref())
    }

    /// The word for a resource that quotas have: `cpu`, `memory`, `gpus`, `gpus/TYPE`, `pods` or `runs`.
    pub fn resource(&self, name: &str) -> String {
        match name {
            "cpu" => self.t("quotas.cpu").to_owned(),
            "memory" => self.t("quotas.memory").to_owned(),
            "gpus" => self.t("quotas.gpus").to_owned(),
            "pods" => self.t("quotas.pods").to_owned(),
            "runs" => self.t("quotas.runs").to_owned(),
            other => self.t_with("quotas.gpus-of", [("kind", other.trim_start_matches("gpus/"))]),
        }
    }

    /// A sentence of the server's in the reader's language.
    pub fn said(&self, sentence: &str) -> String {
        said(self.lang, sentence)
    }

    /// A moment as the reader's clock has it: `3 min ago`.
    pub fn moment(&self, at: &Time) -> String {
        relative(self.lang, *at, self.now)
    }

    /// Whether the reader administers the platform.
    pub fn is_admin(&self) -> bool {
        self.caller.as_ref().is_some_and(|caller| caller.user.admin)
    }

    /// Whether the reader may do what editors of this page's project may; with a token that only looks, nobody may.
    pub fn may_edit(&self) -> bool {
        self.has(Role::Editor)
    }

    /// Whether the reader may do what owners of this page's project may.
    pub fn may_own(&self) -> bool {
        self.has(Role::Owner)
    }

    fn has(&self, least: Role) -> bool {
        let caller = self.caller.as_ref().filter(|caller| caller.scope >= Scope::Write);
        caller.and_then(|caller| caller.role).is_some_and(|role| role >= least)
    }

    /// The URL of the script.
    pub fn script(&self) -> String {
        assets::script("src/main.ts")
    }

    /// The URLs of the style sheets.
    pub fn styles(&self) -> Vec<String> {
        assets::styles("src/main.ts")
    }

    /// The word for a state of a run, an instance or an attempt.
    pub fn state(&self, state: &str) -> String {
        self.t(&format!("common.state-{state}")).to_owned()
    }

    /// What a group of templates is called; an installation's own groups have their own names.
    pub fn group(&self, name: &str) -> String {
        let key = format!("templates.group-{name}");
        let known = self.t(&key);
        if known == key { name.to_owned() } else { known.to_owned() }
    }

    /// What a token's scope allows.
    pub fn scope(&self, scope: &str) -> &str {
        self.t(match scope {
            "read" => "people.scope-read",
            "run" => "people.scope-run",
            "write" => "people.scope-write",
            _ => "people.scope-admin",
        })
    }

    /// The word for a role in a project.
    pub fn role(&self, role: &str) -> &str {
        self.t(match role {
            "viewer" => "people.role-viewer",
            "editor" => "people.role-editor",
            _ => "people.role-owner",
        })
    }

    /// `page` on the navigation's link to this page, for `aria-current`.
    pub fn at(&self, section: &str) -> &'static str {
        if self.section() == section { "page" } else { "false" }
    }

    /// Which link of the navigation leads to what this page belongs to.
    fn section(&self) -> &str {
        let mut parts = self.path.trim_matches('/').split('/');
        match (parts.next(), parts.next(), parts.next()) {
            (Some(""), ..) => "home",
            (Some("projects"), None, _) => "projects",
            (Some("projects"), Some(_), None) => "project",
            (Some("projects"), Some(_), Some(section)) => section,
            (Some("docs"), Some(section), _) | (Some(section), ..) => section,
            (None, ..) => "",
        }
    }

    /// What the reader's project is called, or the invitation to choose one.
    pub fn project_label(&self) -> &str {
        let found = self.projects.iter().find(|project| Some(&project.name) == self.project.as_ref());
        found.map_or_else(|| self.t("common.choose-project"), |project| project.label.as_str())
    }

    /// `true` on the reader's project, for `aria-current`.
    pub fn is_project(&self, name: &str) -> bool {
        self.project.as_deref() == Some(name)
    }

    /// The name of the reader's account; empty for nobody.
    pub fn user_name(&self) -> &str {
        self.caller.as_ref().map_or("", |caller| caller.user.name.as_str())
    }

    /// Up to two letters that stand for the reader.
    pub fn initials(&self) -> String {
        let name = self.caller.as_ref().map_or("", |caller| caller.user.display_name.as_str());
        name.split_whitespace().filter_map(|word| word.chars().next()).take(2).collect()
    }

    /// The language that the reader may switch to.
    pub fn other_lang(&self) -> Lang {
        match self.lang {
            Lang::En => Lang::Zh,
            Lang::Zh => Lang::En,
        }
    }
}

impl Frame {
    /// The frame for a caller: with their projects.
    pub(crate) async fn of(mut self, web: &Web, caller: Caller) -> Self {
        // Without the database a page still has its own content, or says what is wrong.
        self.projects = visible(web, &caller).await.unwrap_or_default();
        if caller.project.is_some() {
            self.project.clone_from(&caller.project);
        }
        let known = self.project.filter(|name| self.projects.iter().any(|project| project.name == *name));
        self.project = known.or_else(|| self.projects.first().map(|project| project.name.clone()));
        self.caller = Some(caller);
        self
    }
}

impl FromRequestParts<Web> for Frame {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, web: &Web) -> Result<Self, Infallible> {
        let jar = CookieJar::from_headers(&parts.headers);
        let cookie = |name: &str| jar.get(name).map(|cookie| cookie.value().to_owned());
        let Ok(lang) = Lang::from_request_parts(parts, web).await;
        let theme = match cookie("theme").as_deref() {
            Some("light") => "light",
            Some("dark") => "dark",
            _ => "auto",
        };
        let frame = Self {
            lang,
            theme,
            path: parts.uri.path().to_owned(),
            here: parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default(),
            caller: None,
            projects: Vec::new(),
            project: cookie("project"),
            nonce: parts.extensions.get::<Nonce>().map(|nonce| nonce.0.clone()).unwrap_or_default(),
            now: Time(web.now()),
        };
        Ok(match parts.extensions.get::<Caller>() {
            Some(caller) => frame.of(web, caller.clone()).await,
            None => frame,
        })
    }
}
