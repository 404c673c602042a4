//! Common parts of all pages: language, theme, user and navigation.

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

/// Common parts of a page. Handlers take it as an extractor and pass it to their template as `frame`.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub lang: Lang,
    /// `light`, `dark` or `auto`.
    pub theme: &'static str,
    /// The path of this page, for the navigation.
    pub path: String,
    /// The path with its query, to return here.
    pub here: String,
    /// The reader, if signed in.
    pub caller: Option<Caller>,
    /// Name of the OpenID Connect provider, for a reader whose session ends on the page.
    pub provider: Option<String>,
    /// The reader's projects, by name.
    pub projects: Vec<Project>,
    /// Current or last viewed project.
    pub project: Option<String>,
    /// CSP nonce for style elements created by scripts.
    pub nonce: String,
    /// Time of the request.
    pub now: Time,
}

/// Head of all pages. This and the two below are separate templates, as a page's includes are compiled once
/// per page.
#[derive(Template)]
#[template(path = "base/head.html")]
pub(crate) struct Head<'a> {
    frame: &'a Frame,
}

/// Top of the body: icons and sidebar.
#[derive(Template)]
#[template(path = "base/top.html")]
pub(crate) struct Top<'a> {
    frame: &'a Frame,
}

/// Top of the body for readers who are not signed in.
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

    /// A text with values. Templates pass a reference to the values, Rust code the values.
    pub fn t_with<'v, V: Display>(&self, key: &str, values: impl AsRef<[(&'v str, V)]>) -> String {
        text_with(self.lang, key, values.as_ref())
    }

    /// Name of a quota's resource: `cpu`, `memory`, `gpus`, `gpus/TYPE`, `pods` or `runs`.
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

    /// Translates a message of the server.
    pub fn said(&self, sentence: &str) -> String {
        said(self.lang, sentence)
    }

    /// A relative time: `3 min ago`.
    pub fn moment(&self, at: &Time) -> String {
        relative(self.lang, *at, self.now)
    }

    /// Whether the reader is an administrator.
    pub fn is_admin(&self) -> bool {
        self.caller.as_ref().is_some_and(|caller| caller.user.admin)
    }

    /// Whether the reader may act as an editor of this page's project. Never with a read-only token.
    pub fn may_edit(&self) -> bool {
        self.has(Role::Editor)
    }

    /// Whether the reader may act as an owner of this page's project.
    pub fn may_own(&self) -> bool {
        self.has(Role::Owner)
    }

    fn has(&self, least: Role) -> bool {
        let caller = self.caller.as_ref().filter(|caller| caller.scope >= Scope::Write);
        caller.and_then(|caller| caller.role).is_some_and(|role| role >= least)
    }

    pub fn script(&self) -> String {
        assets::script("src/main.ts")
    }

    /// URLs of the style sheets.
    pub fn styles(&self) -> Vec<String> {
        assets::styles("src/main.ts")
    }

    /// Text for a state of a run, an instance or an attempt.
    pub fn state(&self, state: &str) -> String {
        self.t(&format!("common.state-{state}")).to_owned()
    }

    /// Name of a group of templates. An installation's own groups have their own names.
    pub fn group(&self, name: &str) -> String {
        let key = format!("templates.group-{name}");
        let known = self.t(&key);
        if known == key { name.to_owned() } else { known.to_owned() }
    }

    /// Text for a token's scope.
    pub fn scope(&self, scope: &str) -> &str {
        self.t(match scope {
            "read" => "people.scope-read",
            "run" => "people.scope-run",
            "write" => "people.scope-write",
            _ => "people.scope-admin",
        })
    }

    /// Text for a role in a project.
    pub fn role(&self, role: &str) -> &str {
        self.t(match role {
            "viewer" => "people.role-viewer",
            "editor" => "people.role-editor",
            _ => "people.role-owner",
        })
    }

    /// `page` if a navigation link leads to this page, for `aria-current`.
    pub fn at(&self, section: &str) -> &'static str {
        if self.section() == section { "page" } else { "false" }
    }

    /// Navigation section of this page.
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

    /// Label of the reader's project, or the prompt to choose one.
    pub fn project_label(&self) -> &str {
        let found = self.projects.iter().find(|project| Some(&project.name) == self.project.as_ref());
        found.map_or_else(|| self.t("common.choose-project"), |project| project.label.as_str())
    }

    /// `true` for the reader's project, for `aria-current`.
    pub fn is_project(&self, name: &str) -> bool {
        self.project.as_deref() == Some(name)
    }

    /// User name of the reader. Empty if not signed in.
    pub fn user_name(&self) -> &str {
        self.caller.as_ref().map_or("", |caller| caller.user.name.as_str())
    }

    /// Up to two initials of the reader.
    pub fn initials(&self) -> String {
        let name = self.caller.as_ref().map_or("", |caller| caller.user.display_name.as_str());
        name.split_whitespace().filter_map(|word| word.chars().next()).take(2).collect()
    }

    pub fn other_lang(&self) -> Lang {
        match self.lang {
            Lang::En => Lang::Zh,
            Lang::Zh => Lang::En,
        }
    }
}

impl Frame {
    /// Adds a caller and their projects.
    pub(crate) async fn of(mut self, web: &Web, caller: Caller) -> Self {
        // Without the database, a page still shows its own content or its error.
        self.projects = visible(web, &caller).await.unwrap_or_default();
        if caller.project.is_some() {
            self.project.clone_from(&caller.project);
        }
        let known = self.project.filter(|name| self.projects.iter().any(|project| project.name == *name));
        self.project = known.or_else(|| self.projects.first().map(|project| project.name.clone()));
        self.provider = web.oidc().map(|provider| provider.settings.name.clone());
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
            provider: None,
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
