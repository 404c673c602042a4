//! Permissions: one row per route, and nowhere else. The guard refuses a route without a row.

use axum::http::Method;
use cubeloom_domain::identity::Scope;

/// Who may call a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Needs {
    /// Everyone, without authentication.
    Anyone,
    /// Authenticated users. The response contains only what they can see.
    Person,
    /// Viewers of the route's project, and higher roles.
    Viewer,
    /// Editors of the route's project, and owners.
    Editor,
    /// Owners of the route's project.
    Owner,
    /// Platform administrators. They have all permissions above.
    Administrator,
}

/// Permission of a route.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// Method. `GET` includes `HEAD`.
    pub method: &'static str,
    /// Route pattern of axum.
    pub route: &'static str,
    /// Required role.
    pub needs: Needs,
    /// Required scope of an API token.
    pub scope: Scope,
}

impl Rule {
    fn is_safe(&self) -> bool {
        matches!(self.method, "GET")
    }

    /// Whether a call may change permissions, which are cached briefly.
    pub(crate) fn changes_rights(&self) -> bool {
        !self.is_safe() && CHANGING_RIGHTS.contains(&self.route)
    }

    /// Whether a call changes something outside of projects, or reads personal data: a token for one project
    /// must not.
    pub(crate) fn reaches_beyond_a_project(&self) -> bool {
        let own = self.needs == Person && (!self.is_safe() || OF_THE_PERSON.contains(&self.route));
        own || self.needs == Administrator
    }

    /// Whether a call creates something, which must not happen twice by mistake. A device code and its token do
    /// not count: a second code expires unused, and the token is fetched once, so its response is not kept. Its
    /// decision does, so that a repeated request does not find the code decided.
    pub(crate) fn creates(&self) -> bool {
        let last = self.route.rsplit('/').next().unwrap_or_default();
        let only_looks = matches!(
            last,
            "validate"
                | "compile"
                | "forecast"
                | "places"
                | "preview"
                | "schedule-preview"
                | "changes"
                | "import"
                | "session"
                | "use"
                | "code"
                | "token"
                | "revoke"
                | "cancel"
                | "provider"
                | "test"
        );
        self.method == "POST" && self.route.starts_with("/api/") && !only_looks
    }
}

use Needs::{Administrator, Anyone, Editor, Owner, Person, Viewer};
use Scope::{Admin, Read, Run, Write};

const fn row(method: &'static str, route: &'static str, needs: Needs, scope: Scope) -> Rule {
    Rule { method, route, needs, scope }
}

/// Routes with personal data.
const OF_THE_PERSON: &[&str] =
    &["/api/v1/me/secrets", "/api/v1/me/secrets/{secret}", "/api/v1/me/sessions", "/api/v1/tokens", "/me"];

/// Routes that change users, credentials or project roles.
const CHANGING_RIGHTS: &[&str] = &[
    "/api/v1/projects",
    "/api/v1/projects/{project}",
    "/api/v1/projects/{project}/members/{user}",
    "/api/v1/me",
    "/api/v1/me/password",
    "/api/v1/me/provider",
    "/api/v1/me/sessions/{session}",
    "/api/v1/tokens/{token}",
    "/api/v1/users/{user}",
    "/api/v1/links/use",
    "/link",
    "/welcome",
];

/// All routes. The project of a route is its `{project}`, or that of its `{run}`.
pub const POLICY: &[Rule] = &[
    // The server itself.
    row("GET", "/assets/{*path}", Anyone, Read),
    row("GET", "/api/v1/health", Anyone, Read),
    row("GET", "/api/v1/ready", Anyone, Read),
    row("GET", "/api/v1/openapi.json", Anyone, Read),
    row("GET", "/metrics", Administrator, Read),
    row("POST", "/preferences", Anyone, Write),
    row("GET", "/", Person, Read),
    row("GET", "/docs/api", Person, Read),
    row("GET", "/docs/api/{operation}", Person, Read),
    //
    // Projects and their members.
    row("GET", "/api/v1/search", Person, Read),
    row("GET", "/api/v1/projects", Person, Read),
    row("POST", "/api/v1/projects", Administrator, Admin),
    row("GET", "/api/v1/projects/{project}", Viewer, Read),
    row("PATCH", "/api/v1/projects/{project}", Owner, Write),
    row("DELETE", "/api/v1/projects/{project}", Owner, Write),
    row("GET", "/api/v1/projects/{project}/members", Viewer, Read),
    row("PUT", "/api/v1/projects/{project}/members/{user}", Owner, Write),
    row("DELETE", "/api/v1/projects/{project}/members/{user}", Owner, Write),
    //
    // Pipelines, their code, hooks; templates.
    row("GET", "/api/v1/projects/{project}/pipelines", Viewer, Read),
    row("POST", "/api/v1/projects/{project}/pipelines", Editor, Write),
    row("GET", "/api/v1/projects/{project}/pipelines/{pipeline}", Viewer, Read),
    row("PUT", "/api/v1/projects/{project}/pipelines/{pipeline}", Editor, Write),
    row("DELETE", "/api/v1/projects/{project}/pipelines/{pipeline}", Editor, Write),
    row("GET", "/api/v1/projects/{project}/pipelines/{pipeline}/versions", Viewer, Read),
    row("GET", "/api/v1/projects/{project}/pipelines/{pipeline}/versions/{version}", Viewer, Read),
    row("GET", "/api/v1/projects/{project}/pipelines/{pipeline}/compare", Viewer, Read),
    row("GET", "/api/v1/projects/{project}/pipelines/{pipeline}/export", Viewer, Read),
    row("GET", "/api/v1/projects/{project}/pipelines/{pipeline}/grid", Viewer, Read),
    // A hook's URL starts runs: read-only tokens must not see it.
    row("GET", "/api/v1/projects/{project}/pipelines/{pipeline}/hooks", Editor, Run),
    row("POST", "/api/v1/projects/{project}/pipelines/{pipeline}/hooks", Editor, Write),
    row("PATCH", "/api/v1/projects/{project}/pipelines/{pipeline}/hooks/{hook}", Editor, Write),
    row("DELETE", "/api/v1/projects/{project}/pipelines/{pipeline}/hooks/{hook}", Editor, Write),
    // The signature in the URL grants the permission.
    row("POST", "/api/v1/hooks/{hook}", Anyone, Run),
    row("PUT", "/api/v1/projects/{project}/code", Editor, Write),
    row("GET", "/api/v1/projects/{project}/code", Viewer, Read),
    row("GET", "/api/v1/projects/{project}/code/{digest}", Viewer, Read),
    row("GET", "/api/v1/projects/{project}/code/{digest}/file", Viewer, Read),
    row("POST", "/api/v1/projects/{project}/validate", Viewer, Read),
    row("POST", "/api/v1/projects/{project}/import", Viewer, Read),
    row("POST", "/api/v1/projects/{project}/compile", Viewer, Read),
    row("POST", "/api/v1/projects/{project}/forecast", Viewer, Read),
    row("POST", "/api/v1/projects/{project}/forecast/places", Viewer, Read),
    row("GET", "/api/v1/schemas/{schema}", Person, Read),
    row("GET", "/api/v1/templates", Person, Read),
    // Shared by all projects.
    row("POST", "/api/v1/templates", Administrator, Admin),
    row("GET", "/api/v1/templates/{template}", Person, Read),
    row("GET", "/api/v1/templates/{template}/versions/{version}", Person, Read),
    //
    // Sizing.
    row("GET", "/api/v1/projects/{project}/pipelines/{pipeline}/tasks/{task}/sizing", Viewer, Read),
    row("POST", "/api/v1/projects/{project}/pipelines/{pipeline}/tasks/{task}/sizing/revert", Editor, Write),
    row("POST", "/api/v1/projects/{project}/pipelines/{pipeline}/tasks/{task}/sizing/resume", Editor, Write),
    row("GET", "/projects/{project}/pipelines/{pipeline}/tasks/{task}/sizing", Viewer, Read),
    //
    // Schedules.
    row("GET", "/api/v1/projects/{project}/pipelines/{pipeline}/schedule", Viewer, Read),
    row("POST", "/api/v1/projects/{project}/pipelines/{pipeline}/schedule/pause", Editor, Run),
    // From then on, it runs as the caller.
    row("POST", "/api/v1/projects/{project}/pipelines/{pipeline}/schedule/resume", Editor, Write),
    row("GET", "/api/v1/projects/{project}/pipelines/{pipeline}/schedule/dates", Viewer, Read),
    row("POST", "/api/v1/projects/{project}/pipelines/{pipeline}/schedule/dates", Editor, Run),
    row("GET", "/api/v1/projects/{project}/pipelines/{pipeline}/schedule/history", Viewer, Read),
    row("GET", "/api/v1/projects/{project}/pipelines/{pipeline}/backfills", Viewer, Read),
    row("POST", "/api/v1/projects/{project}/pipelines/{pipeline}/backfills", Editor, Run),
    row("GET", "/api/v1/projects/{project}/pipelines/{pipeline}/backfills/{backfill}", Viewer, Read),
    row("POST", "/api/v1/projects/{project}/pipelines/{pipeline}/backfills/{backfill}/cancel", Editor, Run),
    row("GET", "/api/v1/projects/{project}/calendar", Viewer, Read),
    row("POST", "/api/v1/projects/{project}/schedule-preview", Viewer, Read),
    row("GET", "/projects/{project}/calendar", Viewer, Read),
    //
    // Runs and what they leave.
    row("GET", "/api/v1/runs", Person, Read),
    row("GET", "/api/v1/projects/{project}/runs", Viewer, Read),
    row("POST", "/api/v1/projects/{project}/runs", Editor, Run),
    row("GET", "/api/v1/projects/{project}/runs/compare", Viewer, Read),
    row("POST", "/api/v1/projects/{project}/runs/cancel", Editor, Run),
    row("POST", "/api/v1/projects/{project}/runs/rerun", Editor, Run),
    row("GET", "/api/v1/runs/{run}", Viewer, Read),
    row("DELETE", "/api/v1/runs/{run}", Editor, Write),
    row("POST", "/api/v1/runs/{run}/cancel", Editor, Run),
    row("POST", "/api/v1/runs/{run}/resume", Editor, Run),
    row("GET", "/api/v1/runs/{run}/resume-with", Viewer, Read),
    row("POST", "/api/v1/runs/{run}/resume-with", Editor, Run),
    row("POST", "/api/v1/runs/{run}/rerun", Editor, Run),
    row("POST", "/api/v1/runs/{run}/again", Editor, Run),
    row("GET", "/api/v1/runs/{run}/plan", Viewer, Read),
    row("GET", "/api/v1/runs/{run}/graph", Viewer, Read),
    row("GET", "/api/v1/runs/{run}/critical-path", Viewer, Read),
    row("GET", "/api/v1/runs/{run}/objects", Viewer, Read),
    row("GET", "/api/v1/runs/{run}/tasks", Viewer, Read),
    row("GET", "/api/v1/runs/{run}/tasks/{task}", Viewer, Read),
    row("GET", "/api/v1/runs/{run}/tasks/{task}/instances", Viewer, Read),
    row("GET", "/api/v1/runs/{run}/tasks/{task}/search", Viewer, Read),
    row("GET", "/api/v1/runs/{run}/tasks/{task}/instances/{instance}/attempts", Viewer, Read),
    row(
        "GET",
        "/api/v1/runs/{run}/tasks/{task}/instances/{instance}/attempts/{attempt}/notices",
        Viewer,
        Read,
    ),
    row("POST", "/api/v1/runs/{run}/tasks/{task}/instances/{instance}/suspend", Editor, Run),
    // Users named by the task may decide, whatever their role in the project: `wish::may_decide` checks.
    row("POST", "/api/v1/runs/{run}/tasks/{task}/instances/{instance}/decision", Viewer, Run),
    row("POST", "/api/v1/runs/{run}/tasks/{task}/instances/{instance}/mark", Editor, Run),
    // A shell can run anything, which is more than starting stored pipelines.
    row("POST", "/api/v1/runs/{run}/tasks/{task}/instances/{instance}/terminals", Editor, Write),
    row("GET", "/api/v1/runs/{run}/terminals/{terminal}", Editor, Write),
    row("DELETE", "/api/v1/runs/{run}/terminals/{terminal}", Editor, Write),
    row("GET", "/api/v1/runs/{run}/attempts", Viewer, Read),
    row("GET", "/api/v1/runs/{run}/tasks/{task}/history", Viewer, Read),
    row("GET", "/api/v1/runs/{run}/tasks/{task}/usage", Viewer, Read),
    row("GET", "/api/v1/runs/{run}/tasks/{task}/advice", Viewer, Read),
    row("GET", "/api/v1/runs/{run}/outputs", Viewer, Read),
    row("GET", "/api/v1/runs/{run}/artifacts", Viewer, Read),
    row("GET", "/api/v1/runs/{run}/files", Viewer, Read),
    row("GET", "/api/v1/runs/{run}/file", Viewer, Read),
    row("GET", "/api/v1/runs/{run}/preview", Viewer, Read),
    row("GET", "/api/v1/runs/{run}/metrics", Viewer, Read),
    row("GET", "/api/v1/runs/{run}/compare", Viewer, Read),
    //
    // Logs and live events.
    row("GET", "/api/v1/runs/{run}/logs", Viewer, Read),
    row("GET", "/api/v1/runs/{run}/logs/text", Viewer, Read),
    row("GET", "/api/v1/runs/{run}/logs/search", Viewer, Read),
    row("GET", "/api/v1/runs/{run}/logs/download", Viewer, Read),
    row("GET", "/api/v1/runs/{run}/logs/events", Viewer, Read),
    row("GET", "/api/v1/runs/{run}/events", Viewer, Read),
    row("GET", "/api/v1/projects/{project}/events", Viewer, Read),
    row("GET", "/api/v1/events", Person, Read),
    //
    // Secrets, volumes, registries, clusters.
    row("GET", "/api/v1/projects/{project}/secrets", Editor, Read),
    row("POST", "/api/v1/projects/{project}/secrets", Owner, Write),
    row("GET", "/api/v1/projects/{project}/secrets/{secret}", Editor, Read),
    row("PUT", "/api/v1/projects/{project}/secrets/{secret}", Owner, Write),
    row("DELETE", "/api/v1/projects/{project}/secrets/{secret}", Owner, Write),
    row("GET", "/api/v1/me/secrets", Person, Read),
    row("POST", "/api/v1/me/secrets", Person, Write),
    row("GET", "/api/v1/me/secrets/{secret}", Person, Read),
    row("PUT", "/api/v1/me/secrets/{secret}", Person, Write),
    row("DELETE", "/api/v1/me/secrets/{secret}", Person, Write),
    // The server connects to these addresses: owners choose them.
    row("GET", "/api/v1/projects/{project}/alerts", Editor, Read),
    row("POST", "/api/v1/projects/{project}/alerts", Owner, Write),
    row("GET", "/api/v1/projects/{project}/alerts/{channel}", Editor, Read),
    row("PATCH", "/api/v1/projects/{project}/alerts/{channel}", Owner, Write),
    row("DELETE", "/api/v1/projects/{project}/alerts/{channel}", Owner, Write),
    row("POST", "/api/v1/projects/{project}/alerts/{channel}/test", Owner, Write),
    row("GET", "/api/v1/projects/{project}/alert-deliveries", Editor, Read),
    row("GET", "/api/v1/projects/{project}/volumes", Viewer, Read),
    row("POST", "/api/v1/projects/{project}/volumes", Owner, Write),
    row("GET", "/api/v1/projects/{project}/volumes/{volume}", Viewer, Read),
    row("PATCH", "/api/v1/projects/{project}/volumes/{volume}", Owner, Write),
    row("DELETE", "/api/v1/projects/{project}/volumes/{volume}", Owner, Write),
    row("GET", "/api/v1/projects/{project}/volumes/{volume}/files", Viewer, Read),
    row("POST", "/api/v1/projects/{project}/volumes/{volume}/folders", Editor, Write),
    row("GET", "/api/v1/projects/{project}/volumes/{volume}/file", Viewer, Read),
    row("PUT", "/api/v1/projects/{project}/volumes/{volume}/file", Editor, Write),
    row("DELETE", "/api/v1/projects/{project}/volumes/{volume}/file", Editor, Write),
    row("GET", "/api/v1/projects/{project}/volumes/{volume}/preview", Viewer, Read),
    row("GET", "/api/v1/projects/{project}/volumes/{volume}/archive", Viewer, Read),
    row("GET", "/api/v1/projects/{project}/registries", Viewer, Read),
    row("POST", "/api/v1/projects/{project}/registries", Owner, Write),
    row("GET", "/api/v1/projects/{project}/registries/{registry}", Viewer, Read),
    row("PUT", "/api/v1/projects/{project}/registries/{registry}", Owner, Write),
    row("DELETE", "/api/v1/projects/{project}/registries/{registry}", Owner, Write),
    //
    // Models.
    row("GET", "/api/v1/projects/{project}/models", Viewer, Read),
    row("GET", "/api/v1/projects/{project}/models/{model}", Viewer, Read),
    row("PATCH", "/api/v1/projects/{project}/models/{model}", Editor, Write),
    row("DELETE", "/api/v1/projects/{project}/models/{model}", Editor, Write),
    row("GET", "/api/v1/projects/{project}/models/{model}/versions", Viewer, Read),
    row("GET", "/api/v1/projects/{project}/models/{model}/versions/{version}", Viewer, Read),
    row("DELETE", "/api/v1/projects/{project}/models/{model}/versions/{version}", Editor, Write),
    row("PUT", "/api/v1/projects/{project}/models/{model}/aliases/{alias}", Editor, Write),
    row("DELETE", "/api/v1/projects/{project}/models/{model}/aliases/{alias}", Editor, Write),
    row("GET", "/api/v1/runs/{run}/models", Viewer, Read),
    row("GET", "/projects/{project}/models", Viewer, Read),
    row("GET", "/projects/{project}/models/{model}", Viewer, Read),
    row("GET", "/projects/{project}/models/{model}/versions/{version}", Viewer, Read),
    row("GET", "/api/v1/clusters", Person, Read),
    row("POST", "/api/v1/clusters", Administrator, Admin),
    row("GET", "/api/v1/clusters/{cluster}", Person, Read),
    row("PUT", "/api/v1/clusters/{cluster}", Administrator, Admin),
    row("DELETE", "/api/v1/clusters/{cluster}", Administrator, Admin),
    row("GET", "/api/v1/clusters/{cluster}/settings", Administrator, Admin),
    row("GET", "/api/v1/clusters/{cluster}/check", Administrator, Admin),
    row("POST", "/api/v1/clusters/{cluster}/give-up", Administrator, Admin),
    row("PUT", "/api/v1/clusters/{cluster}/aside/{node}", Administrator, Admin),
    row("DELETE", "/api/v1/clusters/{cluster}/aside/{node}", Administrator, Admin),
    // For projects without the caller, these return only sums.
    row("GET", "/api/v1/clusters/{cluster}/monitoring", Person, Read),
    row("GET", "/api/v1/clusters/{cluster}/nodes", Person, Read),
    row("GET", "/api/v1/clusters/{cluster}/gpus/{gpu}", Person, Read),
    row("GET", "/api/v1/clusters/{cluster}/gpu-history", Person, Read),
    row("DELETE", "/api/v1/clusters/{cluster}/gpus/{gpu}/fault", Administrator, Admin),
    //
    // Quotas.
    row("GET", "/api/v1/quotas", Person, Read),
    row("POST", "/api/v1/quotas/preview", Person, Read),
    row("POST", "/api/v1/quotas/changes", Administrator, Admin),
    row("GET", "/api/v1/quotas/history", Person, Read),
    row("GET", "/api/v1/quotas/groups/{group}", Administrator, Read),
    row("PUT", "/api/v1/quotas/groups/{group}", Administrator, Admin),
    row("DELETE", "/api/v1/quotas/groups/{group}", Administrator, Admin),
    row("GET", "/api/v1/projects/{project}/quota", Viewer, Read),
    row("PUT", "/api/v1/projects/{project}/quota", Administrator, Admin),
    row("DELETE", "/api/v1/projects/{project}/quota", Administrator, Admin),
    row("GET", "/api/v1/projects/{project}/quota/history", Viewer, Read),
    row("PUT", "/api/v1/projects/{project}/places", Administrator, Admin),
    row("GET", "/api/v1/limits", Person, Read),
    row("GET", "/api/v1/limits/{limit}", Person, Read),
    row("PUT", "/api/v1/limits/{limit}", Administrator, Admin),
    row("DELETE", "/api/v1/limits/{limit}", Administrator, Admin),
    row("GET", "/api/v1/priority-classes", Person, Read),
    row("GET", "/api/v1/priority-classes/{class}", Person, Read),
    row("PUT", "/api/v1/priority-classes/{class}", Administrator, Admin),
    row("DELETE", "/api/v1/priority-classes/{class}", Administrator, Admin),
    row("GET", "/quotas", Person, Read),
    // Usage, prices, budgets and statements.
    row("GET", "/api/v1/holders", Person, Read),
    row("GET", "/api/v1/idle-gpus", Person, Read),
    row("GET", "/api/v1/usage", Person, Read),
    row("GET", "/api/v1/prices", Person, Read),
    row("POST", "/api/v1/prices", Administrator, Admin),
    row("GET", "/api/v1/prices/{price}", Person, Read),
    row("PUT", "/api/v1/prices/{price}", Administrator, Admin),
    row("DELETE", "/api/v1/prices/{price}", Administrator, Admin),
    row("GET", "/api/v1/projects/{project}/budget", Viewer, Read),
    row("GET", "/api/v1/projects/{project}/budgets", Viewer, Read),
    // Budgets are set by administrators: owners must not raise their own.
    row("PUT", "/api/v1/projects/{project}/budgets/{month}", Administrator, Admin),
    row("DELETE", "/api/v1/projects/{project}/budgets/{month}", Administrator, Admin),
    row("GET", "/api/v1/projects/{project}/statements/{month}", Viewer, Read),
    row("GET", "/holders", Person, Read),
    row("GET", "/usage", Person, Read),
    row("GET", "/projects/{project}/statements/{month}", Viewer, Read),
    //
    // People: sessions, tokens, links, users, audit.
    row("POST", "/api/v1/session", Anyone, Write),
    row("DELETE", "/api/v1/session", Person, Write),
    row("GET", "/api/v1/me", Person, Read),
    row("PATCH", "/api/v1/me", Person, Admin),
    row("PUT", "/api/v1/me/password", Person, Admin),
    row("POST", "/api/v1/me/provider", Person, Admin),
    row("DELETE", "/api/v1/me/provider", Person, Admin),
    row("GET", "/api/v1/me/sessions", Person, Read),
    row("DELETE", "/api/v1/me/sessions/{session}", Person, Admin),
    row("GET", "/api/v1/tokens", Person, Read),
    row("POST", "/api/v1/tokens", Person, Admin),
    row("DELETE", "/api/v1/tokens/{token}", Person, Admin),
    row("GET", "/api/v1/users", Administrator, Read),
    row("POST", "/api/v1/users", Administrator, Admin),
    row("GET", "/api/v1/users/{user}", Administrator, Read),
    row("PATCH", "/api/v1/users/{user}", Administrator, Admin),
    row("GET", "/api/v1/users/{user}/tokens", Administrator, Read),
    row("GET", "/api/v1/links", Administrator, Read),
    row("POST", "/api/v1/links", Administrator, Admin),
    row("DELETE", "/api/v1/links/{link}", Administrator, Admin),
    row("POST", "/api/v1/links/use", Anyone, Write),
    row("POST", "/api/v1/device/code", Anyone, Write),
    row("POST", "/api/v1/device/token", Anyone, Write),
    // The token in the body is the permission.
    row("POST", "/api/v1/device/revoke", Anyone, Write),
    // In a session only: `auth::device` checks.
    row("POST", "/api/v1/device/decision", Person, Admin),
    row("GET", "/api/v1/audit", Administrator, Read),
    row("GET", "/api/v1/projects/{project}/audit", Owner, Read),
    //
    // Pages.
    row("GET", "/projects/{project}/secrets", Viewer, Read),
    row("GET", "/projects/{project}/alerts", Editor, Read),
    row("GET", "/projects/{project}/storage", Viewer, Read),
    row("GET", "/clusters", Person, Read),
    row("GET", "/clusters/{cluster}", Person, Read),
    row("GET", "/clusters/{cluster}/nodes", Person, Read),
    row("GET", "/clusters/{cluster}/gpus/{gpu}", Person, Read),
    row("GET", "/clusters/{cluster}/gpu-history", Person, Read),
    row("GET", "/sign-in", Anyone, Read),
    row("POST", "/sign-in", Anyone, Write),
    row("GET", "/sign-in/oidc", Anyone, Read),
    row("GET", "/sign-in/oidc/callback", Anyone, Read),
    row("GET", "/welcome", Anyone, Read),
    row("POST", "/welcome", Anyone, Write),
    row("GET", "/link", Anyone, Read),
    row("POST", "/link", Anyone, Write),
    row("GET", "/device", Person, Read),
    row("POST", "/device", Person, Admin),
    row("GET", "/me", Person, Read),
    row("GET", "/users", Administrator, Read),
    row("GET", "/audit", Administrator, Read),
    row("GET", "/projects/{project}/audit", Owner, Read),
    row("GET", "/projects/{project}/runs", Viewer, Read),
    row("GET", "/projects/{project}/compare", Viewer, Read),
    row("GET", "/runs/{run}", Viewer, Read),
    row("GET", "/runs/{run}/tasks/{task}", Viewer, Read),
    row("GET", "/runs/{run}/compare", Viewer, Read),
    row("GET", "/projects", Person, Read),
    row("GET", "/projects/{project}", Viewer, Read),
    row("GET", "/projects/{project}/pipelines", Viewer, Read),
    row("GET", "/projects/{project}/new-pipeline", Editor, Read),
    row("GET", "/projects/{project}/import", Editor, Read),
    row("GET", "/projects/{project}/new-pipeline/canvas", Editor, Read),
    row("GET", "/projects/{project}/pipelines/{pipeline}", Viewer, Read),
    row("GET", "/projects/{project}/pipelines/{pipeline}/edit", Viewer, Read),
    row("GET", "/projects/{project}/pipelines/{pipeline}/compare", Viewer, Read),
    row("GET", "/templates", Person, Read),
    row("GET", "/templates/{template}", Person, Read),
];

/// The row of a route.
#[must_use]
pub fn rule(method: &Method, route: &str) -> Option<&'static Rule> {
    let method = if method == Method::HEAD { "GET" } else { method.as_str() };
    POLICY.iter().find(|rule| rule.method == method && rule.route == route)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(method: &str, route: &str) -> &'static Rule {
        rule(&method.parse().unwrap(), route).unwrap_or_else(|| panic!("no row {method} {route}"))
    }

    #[test]
    fn what_is_remembered_of_people_is_forgotten_when_people_change_and_not_otherwise() {
        for (method, route) in [
            ("PUT", "/api/v1/projects/{project}/members/{user}"),
            ("PATCH", "/api/v1/users/{user}"),
            ("DELETE", "/api/v1/tokens/{token}"),
            ("POST", "/link"),
        ] {
            assert!(found(method, route).changes_rights(), "{method} {route}");
        }
        for (method, route) in [
            ("GET", "/api/v1/users/{user}"),
            ("POST", "/preferences"),
            ("POST", "/sign-in"),
            ("POST", "/api/v1/hooks/{hook}"),
            ("POST", "/api/v1/projects/{project}/runs"),
            ("POST", "/api/v1/projects/{project}/secrets"),
            ("POST", "/api/v1/tokens"),
        ] {
            assert!(!found(method, route).changes_rights(), "{method} {route}");
        }
    }

    #[test]
    fn what_is_fetched_once_is_not_kept_to_be_repeated() {
        for (route, creates) in [
            ("/api/v1/device/code", false),
            ("/api/v1/device/token", false),
            ("/api/v1/device/revoke", false),
            ("/api/v1/device/decision", true),
            ("/api/v1/tokens", true),
        ] {
            assert_eq!(found("POST", route).creates(), creates, "{route}");
        }
    }

    #[test]
    fn the_lists_name_routes_that_there_are() {
        for route in CHANGING_RIGHTS {
            assert!(POLICY.iter().any(|rule| rule.route == *route && rule.changes_rights()), "{route}");
        }
        for route in OF_THE_PERSON {
            assert!(POLICY.iter().any(|rule| rule.route == *route && rule.method == "GET"), "{route}");
        }
    }
}
