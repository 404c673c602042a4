//! `GET /audit`: who changed what, from where, before and after. For administrators; owners have that of their project,
//! `GET /projects/{project}/audit`.

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
    /// Where the page is.
    path: String,
    /// The one project that it is about.
    project: Option<String>,
    asked: Asked,
    entries: Vec<Row>,
    /// The next page of them.
    next: Option<String>,
}

/// An entry, and what is different since.
struct Row {
    entry: AuditView,
    /// By what it was changed.
    via: String,
    changes: Vec<Changed>,
}

/// One value that has changed; empty for none.
struct Changed {
    name: String,
    before: String,
    after: String,
}

/// Which entries are asked for; empty for any.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Asked {
    #[serde(default)]
    user: String,
    #[serde(default)]
    action: String,
    #[serde(default)]
    subject: String,
    #[serde(default)]
    project: String,
    /// Days, as `2026-03-01`.
    #[serde(default)]
    since: String,
    #[serde(default)]
    until: String,
    cursor: Option<String>,
}

impl Asked {
    /// Whether some entries are left out.
    fn narrows(&self) -> bool {
        self.pairs().iter().any(|(_, value)| !value.is_empty())
    }

    fn pairs(&self) -> [(&'static str, &str); 6] {
        [
            ("user", &self.user),
            ("action", &self.action),
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
            since: moment(&self.since, 0),
            // The last day counts too.
            until: moment(&self.until, 1),
        }
    }
}

/// The beginning of a day (UTC), or of the one so many after it.
fn moment(day: &str, later: i64) -> Option<Time> {
    let time: Time = format!("{day}T00:00:00Z").parse().ok()?;
    Some(Time(cubeloom_domain::Timestamp(time.0.0 + later * 86_400_000_000)))
}

/// Every change.
pub(crate) async fn show(
    State(web): State<Web>,
    frame: Frame,
    Query(asked): Query<Asked>,
) -> ApiResult<Response> {
    shown(&web, frame, "/audit".into(), None, asked).await
}

/// Every change in a project.
pub(crate) async fn of_project(
    State(web): State<Web>,
    frame: Frame,
    Path(project): Path<String>,
    Query(asked): Query<Asked>,
) -> ApiResult<Response> {
    // Another project's are not for the owners of this one, whatever the address says.
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
    html(&AuditPage { frame, path, project, asked, entries, next })
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
        "command line" => frame.t("audit.via-command-line").into(),
        other => match other.strip_prefix("token ") {
            Some(name) => frame.t_with("audit.via-token", [("name", name)]),
            None => other.into(),
        },
    }
}

/// The members that are not the same in both.
fn changes(before: &Map<String, Value>, after: &Map<String, Value>) -> Vec<Changed> {
    let names = before.keys().chain(after.keys().filter(|name| !before.contains_key(*name)));
    let of = |name: &String| Changed {
        name: name.clone(),
        before: plain(before.get(name)),
        after: plain(after.get(name)),
    };
    names.map(of).filter(|change| change.before != change.after).collect()
}

/// A value as people write it.
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
    fn a_day_ends_where_the_next_begins() {
        assert_eq!(moment("2026-03-01", 1), moment("2026-03-02", 0));
        assert_eq!(moment("soon", 0), None);
    }
}
