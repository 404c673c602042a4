//! Audits content that leaves the server: files of runs and volumes, code, and logs as files. Routes decide
//! what counts: a new route of this kind needs only a row here.

use axum::RequestPartsExt;
use axum::extract::RawPathParams;
use axum::http::header::{CONTENT_LENGTH, RANGE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, Method};
use axum::response::Response;
use serde_json::{Map, Value};
use url::form_urlencoded;

use super::{Act, Actor, take_out};
use crate::auth::Caller;
use crate::policy::Rule;
use crate::state::Web;

/// Routes that return a project's content, and the action of their entries. Content that a page shows in
/// parts (a followed log, a list) is not audited.
const ROUTES: &[(&str, &str)] = &[
    ("/api/v1/runs/{run}/file", "file.download"),
    ("/api/v1/runs/{run}/preview", "file.preview"),
    ("/api/v1/runs/{run}/logs/download", "log.download"),
    ("/api/v1/projects/{project}/volumes/{volume}/file", "file.download"),
    ("/api/v1/projects/{project}/volumes/{volume}/archive", "file.download"),
    ("/api/v1/projects/{project}/volumes/{volume}/preview", "file.preview"),
    ("/api/v1/projects/{project}/code/{digest}/file", "file.download"),
];

/// Path parameters that name the source of the content.
const SUBJECTS: [&str; 3] = ["run", "volume", "digest"];
/// Query parameters that select the content.
const PARTS: [&str; 7] = ["path", "inline", "task", "instance", "attempt", "worker", "stream"];

/// Content requested by a request.
pub(crate) struct Download {
    actor: Actor,
    action: &'static str,
    /// A run, a volume or a digest of code.
    subject: String,
    /// Selected part of it.
    part: Map<String, Value>,
}

impl Download {
    /// The content that a request asks to download, if any.
    pub(crate) async fn asked(
        web: &Web,
        parts: &mut Parts,
        rule: &Rule,
        caller: Option<&Caller>,
    ) -> Option<Self> {
        let (_, action) = ROUTES.iter().find(|(route, _)| *route == rule.route)?;
        if parts.method != Method::GET {
            return None;
        }
        let actor = Act::of(web, caller?).actor;
        let mut part = Map::new();
        let mut subject = String::new();
        let params = parts.extract::<RawPathParams>().await.ok()?;
        for (name, value) in &params {
            if SUBJECTS.contains(&name) {
                let of = if name == "digest" { "code" } else { name };
                part.insert("of".into(), of.into());
                value.clone_into(&mut subject);
            }
        }
        let query = form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
        for (name, value) in query.filter(|(name, _)| PARTS.contains(&name.as_ref())) {
            part.insert(name.into_owned(), Value::from(&*value));
        }
        if let Some(range) = text(&parts.headers, &RANGE) {
            part.insert("range".into(), range.into());
        }
        Some(Self { actor, action, subject, part })
    }

    /// Adds data of the response. `None` if the response lacks the content.
    pub(crate) fn answered(mut self, response: &Response) -> Option<Self> {
        if !response.status().is_success() {
            return None;
        }
        if let Some(length) = text(response.headers(), &CONTENT_LENGTH).and_then(|text| text.parse().ok()) {
            let length: u64 = length;
            self.part.insert("bytes".into(), length.into());
        }
        Some(self)
    }

    /// Writes the audit entry.
    pub(crate) async fn note(self, web: &Web) {
        let act = Act::by(web, self.actor);
        take_out(web, &act, &act.entry(self.action, self.subject).after(self.part)).await;
    }
}

fn text<'h>(headers: &'h HeaderMap, name: &HeaderName) -> Option<&'h str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::policy::POLICY;

    /// Routes that return something other than JSON, and belong to no project or are streams.
    const OTHERS: &[&str] = &[
        // They write their own entries.
        "/api/v1/audit",
        "/api/v1/projects/{project}/audit",
        // Sums, which the pages show, too.
        "/api/v1/usage",
        "/api/v1/projects/{project}/statements/{month}",
        // Event streams.
        "/api/v1/events",
        "/api/v1/projects/{project}/events",
        "/api/v1/runs/{run}/events",
        "/api/v1/runs/{run}/logs/events",
    ];

    #[test]
    fn every_route_is_one_of_the_policy() {
        for route in ROUTES.iter().map(|(route, _)| route).chain(OTHERS) {
            assert!(POLICY.iter().any(|rule| rule.route == *route && rule.method == "GET"), "{route}");
        }
    }

    #[test]
    fn what_answers_with_content_is_noted_or_says_why_not() {
        let document: Value = serde_json::from_str(&crate::api::document::text()).unwrap();
        let mut found = BTreeSet::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            let answers = item["get"]["responses"].as_object().into_iter().flatten();
            for (_, answer) in answers.filter(|(status, _)| status.starts_with('2')) {
                let kinds = answer["content"].as_object().into_iter().flatten().map(|(kind, _)| kind);
                if kinds.into_iter().any(|kind| kind != "application/json") {
                    let path = path.strip_prefix("/api/v1").unwrap_or(path);
                    found.insert(format!("/api/v1{path}"));
                }
            }
        }
        let known: BTreeSet<String> =
            ROUTES.iter().map(|(route, _)| *route).chain(OTHERS.iter().copied()).map(Into::into).collect();
        let unknown: Vec<_> = found.difference(&known).collect();
        assert!(unknown.is_empty() && found.len() > 5, "{unknown:?} of {found:?}");
    }
}
