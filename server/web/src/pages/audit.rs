//! `GET /audit`: the audit log, for administrators. Owners see that of their project, `GET
//! /projects/{project}/audit`.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Frame, html, with_query};
use crate::api::audit::{AuditQuery, AuditView, page};
use crate::error::ApiResult;
use crate::extract::{Path, Query};
use crate::page::PageQuery;
use crate::state::Web;
use crate::time::Time;

#[derive(Template)]
#[template(path = "audit.html")]
struct AuditPage {
    frame: Frame,
    path: String,
    /// Project, if the page is about one.
    project: Option<String>,
    asked: Asked,
    entries: Vec<Row>,
    /// URL of the next page.
    next: Option<String>,
    /// Receivers that do not get the log.
    failing: Vec<FailingStream>,
}

/// A receiver that does not get the log.
struct FailingStream {
    name: &'static str,
    since: Time,
    error: String,
}

/// An entry with its changes.
struct Row {
    entry: AuditView,
    /// Credential or origin of the change.
    via: String,
    changes: Vec<Changed>,
}

/// A changed value. Empty for none.
struct Changed {
    name: String,
    before: String,
    after: String,
}

/// Filters. Empty means any.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Asked {
    #[serde(default)]
    user: String,
    #[serde(default)]
    action: String,
    #[serde(default)]
    text: String,
    /// Full name or id, for links.
    #[serde(default)]
    subject: String,
    #[serde(default)]
    project: String,
    /// Minutes, as `2026-03-01T09:30`, or days, as `2026-03-01`, both in UTC. The end is inclusive.
    #[serde(default)]
    since: String,
    #[serde(default)]
    until: String,
    cursor: Option<String>,
}

impl Asked {
    /// Whether a filter is set.
    fn narrows(&self) -> bool {
        self.pairs().iter().any(|(_, value)| !value.is_empty())
    }

    fn pairs(&self) -> [(&'static str, &str); 7] {
        [
            ("user", &self.user),
            ("action", &self.action),
            ("text", &self.text),
            ("subject", &self.subject),
            ("project", &self.project),
            ("since", &self.since),
            ("until", &self.until),
        ]
    }

    fn query(&self) -> AuditQuery {
        let said = |text: &str| Some(text.to_owned());
        AuditQuery {
            project: said(&self.project),
            user: said(&self.user),
            action: said(&self.action),
            subject: said(&self.subject),
            text: said(&self.text),
            since: moment(&self.since, false),
            until: moment(&self.until, true),
        }
    }

    /// URL of the entries as a file. `path` is that of the page.
    fn export(&self, path: &str, format: &str) -> String {
        let time = |text: &str, end| moment(text, end).map(|time| time.to_string()).unwrap_or_default();
        let (since, until) = (time(&self.since, false), time(&self.until, true));
        let mut pairs = vec![("format", format)];
        pairs.extend(self.pairs().into_iter().filter(|(name, _)| !["since", "until"].contains(name)));
        pairs.extend([("since", since.as_str()), ("until", until.as_str())]);
        with_query(&format!("/api/v1{path}"), &pairs)
    }
}

/// Start or end of a minute or day (UTC).
fn moment(text: &str, end: bool) -> Option<Time> {
    let (start, length) = match text.len() {
        10 => (format!("{text}T00:00:00Z"), 86_400),
        16 => (format!("{text}:00Z"), 60),
        _ => return None,
    };
    let time: Time = start.parse().ok()?;
    let later = if end { length * 1_000_000 } else { 0 };
    Some(Time(cubeloom_domain::Timestamp(time.0.0 + later)))
}

/// All changes.
pub(crate) async fn show(
    State(web): State<Web>,
    frame: Frame,
    Query(asked): Query<Asked>,
) -> ApiResult<Response> {
    shown(&web, frame, "/audit".into(), None, asked).await
}

/// Changes in a project.
pub(crate) async fn of_project(
    State(web): State<Web>,
    frame: Frame,
    Path(project): Path<String>,
    Query(asked): Query<Asked>,
) -> ApiResult<Response> {
    // Owners cannot see other projects, whatever the URL says.
    let asked = Asked { project: String::new(), ..asked };
    shown(&web, frame, format!("/projects/{project}/audit"), Some(project), asked).await
}

async fn shown(
    web: &Web,
    frame: Frame,
    path: String,
    project: Option<String>,
    asked: Asked,
) -> ApiResult<Response> {
    let query = PageQuery { cursor: asked.cursor.clone(), limit: None };
    let mut wanted = asked.query();
    wanted.project = project.clone().or(wanted.project);
    let found = page(web, wanted, &query).await?;
    let next = found.next_cursor.map(|cursor| {
        let mut pairs = asked.pairs().to_vec();
        pairs.push(("cursor", &cursor));
        with_query(&path, &pairs)
    });
    let entries = found.items.into_iter().map(|entry| row(&frame, entry)).collect();
    let failing = if project.is_none() { failing(web).await? } else { Vec::new() };
    html(&AuditPage { frame, path, project, asked, entries, next, failing })
}

async fn failing(web: &Web) -> ApiResult<Vec<FailingStream>> {
    let mut failing = Vec::new();
    for name in web.settings().audit.names() {
        let stream = web.store().audit_stream(name).await?;
        if let Some((since, error)) = stream.and_then(|stream| Some((stream.failed_since?, stream.error?))) {
            failing.push(FailingStream { name, since: Time(since), error });
        }
    }
    Ok(failing)
}

fn row(frame: &Frame, entry: AuditView) -> Row {
    let members = |value: Option<&Value>| value.and_then(Value::as_object).cloned().unwrap_or_default();
    let changes = changes(&members(entry.before.as_ref()), &members(entry.after.as_ref()));
    let via = via(frame, &entry.via);
    Row { entry, via, changes }
}

fn via(frame: &Frame, via: &str) -> String {
    match via {
        "session" => frame.t("audit.via-session").into(),
        "server" => frame.t("audit.via-server").into(),
        "run" => frame.t("audit.via-run").into(),
        "command line" => frame.t("audit.via-command-line").into(),
        other => match other.strip_prefix("token ") {
            Some(name) => frame.t_with("audit.via-token", [("name", name)]),
            None => other.into(),
        },
    }
}

/// Members that differ.
fn changes(before: &Map<String, Value>, after: &Map<String, Value>) -> Vec<Changed> {
    let names = before.keys().chain(after.keys().filter(|name| !before.contains_key(*name)));
    let of = |name: &String| Changed {
        name: name.clone(),
        before: plain(before.get(name)),
        after: plain(after.get(name)),
    };
    names.map(of).filter(|change| change.before != change.after).collect()
}

/// A value as plain text.
fn plain(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_is_different_is_shown() {
        let before = json!({"admin": false, "email": null, "name": "ada", "old": 1});
        let after = json!({"admin": true, "email": "ada@example.org", "name": "ada"});
        let found = changes(before.as_object().unwrap(), after.as_object().unwrap());
        let shown: Vec<_> = found
            .iter()
            .map(|each| (each.name.as_str(), each.before.as_str(), each.after.as_str()))
            .collect();
        assert_eq!(shown, [("admin", "false", "true"), ("email", "", "ada@example.org"), ("old", "1", "")]);
    }

    #[test]
    fn a_day_ends_where_the_next_begins_and_a_minute_too() {
        assert_eq!(moment("2026-03-01", true), moment("2026-03-02", false));
        assert_eq!(moment("2026-03-01T23:59", true), moment("2026-03-02T00:00", false));
        assert_eq!((moment("soon", false), moment("2026-13-01", false)), (None, None));
    }

    #[test]
    fn a_file_has_what_the_page_has() {
        let asked = Asked { text: "a b".into(), until: "2026-03-01".into(), ..Asked::default() };
        let path = asked.export("/projects/shop/audit", "csv");
        let until = "until=2026-03-02T00%3A00%3A00.000000Z";
        assert_eq!(path, format!("/api/v1/projects/shop/audit?format=csv&text=a+b&{until}"));
    }
}
