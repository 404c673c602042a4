//! Every route of the policy table, for every kind of person, and no route outside the table.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use cubeloom_domain::identity::{Role, Scope};
use cubeloom_web::policy::{Needs, POLICY, Rule};
use reqwest::Method;
use serde_json::Value;

use super::support::client::send;
use super::support::{Client, PROJECT, Server, Who};
use crate::support::TestApp;

/// The expected outcome by the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// The request reaches the handler.
    Allowed,
    /// The person must sign in.
    NotSignedIn,
    /// The person may know that it exists, but not do this.
    Forbidden,
    /// The person may not even know that it exists.
    Hidden,
}

/// Routes for a person's own resources, which a token for one project cannot access.
const OF_THE_PERSON: [&str; 5] =
    ["/api/v1/me/secrets", "/api/v1/me/secrets/{secret}", "/api/v1/me/sessions", "/api/v1/tokens", "/me"];

/// The scope of a person's token.
fn scope_of(who: Who) -> Scope {
    match who {
        Who::Reader => Scope::Read,
        Who::Runner => Scope::Run,
        Who::Writer => Scope::Write,
        _ => Scope::Admin,
    }
}

/// Computed only from the table and from what docs/API-DESIGN.md says of roles and tokens, independently of
/// the guard.
fn expected(rule: &Rule, who: Who) -> Verdict {
    let administers =
        matches!(who, Who::Administrator | Who::Reader | Who::Runner | Who::Writer | Who::Bound);
    let role = match who {
        _ if administers => Some(Role::Owner),
        Who::Owner => Some(Role::Owner),
        Who::Editor => Some(Role::Editor),
        Who::Viewer => Some(Role::Viewer),
        _ => None,
    };
    let own = rule.method != "GET" || OF_THE_PERSON.contains(&rule.route);
    let least = match rule.needs {
        Needs::Anyone => return Verdict::Allowed,
        _ if matches!(who, Who::Anonymous | Who::Revoked) => return Verdict::NotSignedIn,
        _ if rule.scope > scope_of(who) => return Verdict::Forbidden,
        Needs::Person if who == Who::Bound && own => return Verdict::Forbidden,
        Needs::Person => return Verdict::Allowed,
        Needs::Administrator if administers && who != Who::Bound => return Verdict::Allowed,
        Needs::Administrator => return Verdict::Forbidden,
        Needs::Viewer => Role::Viewer,
        Needs::Editor => Role::Editor,
        Needs::Owner => Role::Owner,
    };
    match role {
        None => Verdict::Hidden,
        Some(role) if role >= least => Verdict::Allowed,
        Some(_) => Verdict::Forbidden,
    }
}

#[test]
fn each_scope_lets_something_through_that_the_one_below_does_not() {
    for (below, above) in
        [(Scope::Read, Scope::Run), (Scope::Run, Scope::Write), (Scope::Write, Scope::Admin)]
    {
        let who = |scope| Who::ALL.into_iter().find(|who| scope_of(*who) == scope).unwrap();
        let (below, above) = (who(below), who(above));
        let told = |who| POLICY.iter().filter(|rule| expected(rule, who) == Verdict::Allowed).count();
        assert!(told(below) < told(above), "{below:?} {}, {above:?} {}", told(below), told(above));
    }
}

#[test]
fn every_route_does_what_the_table_says_for_everybody() {
    let mut app = TestApp::new();
    // These requests exceed the rate limit of one caller.
    app.set("CUBELOOM_SERVER_RATE", "0");
    let server = Server::start_in(app);
    let walk = Walk::new(&server);
    // First all refused requests, then the allowed ones, with deletions last: they remove what other requests
    // read.
    let mut rows: Vec<(&Rule, Who)> =
        POLICY.iter().flat_map(|rule| Who::ALL.map(|who| (rule, who))).collect();
    rows.sort_by_key(|(rule, who)| (expected(rule, *who) == Verdict::Allowed, rule.method == "DELETE"));
    let mut wrong = Vec::new();
    for (rule, who) in rows {
        if let Some(found) = walk.look(rule, who) {
            let expected = expected(rule, who);
            wrong.push(format!("{} {} as {who:?}: {expected:?} expected, {found}", rule.method, rule.route));
        }
    }
    assert!(wrong.is_empty(), "{} of the walk's steps:\n{}", wrong.len(), wrong.join("\n"));
}

struct Walk<'a> {
    server: &'a Server,
    pipeline: String,
}

impl<'a> Walk<'a> {
    fn new(server: &'a Server) -> Self {
        let task = "  - {name: only, template: command, arguments: {command: ['true']}}\n";
        Self { server, pipeline: server.pipeline("walk", task) }
    }

    /// An ended run of the project.
    fn run(&self) -> String {
        let report = self.server.json(0, &["run", &self.pipeline]);
        report["run"]["id"].as_str().expect("a run").to_owned()
    }

    /// The mismatch, if any.
    fn look(&self, rule: &Rule, who: Who) -> Option<String> {
        let verdict = expected(rule, who);
        let run = if rule.route.contains("{run}") { self.latest_or_new() } else { String::new() };
        let (status, body) = ask(&self.server.as_(who), rule, &run);
        let page = !rule.route.starts_with("/api/") && rule.route != "/metrics";
        let detail = body["detail"].as_str().unwrap_or_default();
        let fits = match verdict {
            Verdict::NotSignedIn if page && rule.method == "GET" => status == 303,
            Verdict::NotSignedIn => status == 401 || (page && status == 303),
            Verdict::Forbidden => status == 403,
            Verdict::Hidden => status == 404,
            Verdict::Allowed => {
                let hidden = detail.contains(&format!("no project `{PROJECT}`"))
                    || (rule.route.contains("{run}") && detail.contains(&format!("no run `{run}`")));
                let no_route = status == 404 && detail.contains("`here`");
                !matches!(status, 401 | 403 | 500..) && !hidden && !no_route
            }
        };
        (!fits).then(|| format!("{status} {detail}"))
    }

    fn latest_or_new(&self) -> String {
        let runs = self.server.as_(Who::Administrator).get("/runs?limit=1").expect(200).json();
        runs["items"][0]["id"].as_str().map_or_else(|| self.run(), Into::into)
    }
}

/// Sends a request with a body that handlers reject, so that allowed requests change little. Returns the
/// status, and the problem document if there is one. Streams are closed after the response head.
fn ask(client: &Client, rule: &Rule, run: &str) -> (u16, Value) {
    let method: Method = rule.method.parse().expect("a method");
    let path = match rule.route.strip_prefix("/api/v1") {
        Some(path) => filled(path, run),
        None => format!("page:{}", filled(rule.route, run)),
    };
    let mut request = client.request(method.clone(), &path);
    if method != Method::GET {
        request = request.header("content-type", "application/json").body("this is not JSON");
    }
    let answer = request.send().unwrap_or_else(|error| panic!("{method} {path}: {error:?}"));
    let status = answer.status().as_u16();
    let kind = answer.headers().get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let problem = kind == "application/problem+json";
    (status, if problem { answer.json().unwrap_or_default() } else { Value::Null })
}

/// The table row of a request, by method and path. If several match, the one with the fewest parameters.
pub(super) fn rule_of(method: &str, path: &str) -> Option<&'static Rule> {
    let fits = |route: &str| {
        let (route, path): (Vec<&str>, Vec<&str>) = (route.split('/').collect(), path.split('/').collect());
        let one =
            |(route, path): (&&str, &&str)| route == path || (route.starts_with('{') && !path.is_empty());
        route.len() == path.len() && route.iter().zip(&path).all(one)
    };
    let rows = POLICY.iter().filter(|rule| rule.method == method && fits(rule.route));
    rows.min_by_key(|rule| rule.route.matches('{').count())
}

/// The route with its parameters filled in.
pub(super) fn filled(route: &str, run: &str) -> String {
    let parts = route.split('/').map(|part| match part.trim_matches(['{', '}']) {
        name if name == part => part,
        "project" => PROJECT,
        "run" => run,
        "pipeline" => "walk",
        "task" => "only",
        "cluster" => "local",
        "template" => "command",
        "volume" => "workspace",
        "model" => "walk",
        "version" | "i" | "instance" | "attempt" => "1",
        "user" => Who::Viewer.name(),
        _ => "01arz3ndektsv4rrffq69g5fav",
    });
    parts.collect::<Vec<_>>().join("/")
}

#[test]
fn every_endpoint_of_the_document_has_a_row_and_every_row_of_the_api_is_documented() {
    let document: Value = serde_json::from_str(&cubeloom_web::api::document::text()).unwrap();
    let mut documented = BTreeSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys().filter(|key| *key != "parameters") {
            documented.insert(format!("{} /api/v1{path}", method.to_uppercase()));
        }
    }
    let of_table = POLICY.iter().filter(|rule| rule.route.starts_with("/api/v1/"));
    let table: BTreeSet<String> =
        of_table.map(|rule| format!("{} {}", rule.method, rule.route.replace("{*", "{"))).collect();
    let undocumented = BTreeSet::from(["GET /api/v1/openapi.json".to_owned()]);
    let without_row: Vec<_> = documented.difference(&table).collect();
    assert!(without_row.is_empty(), "no row in policy.rs: {without_row:#?}");
    let table: BTreeSet<String> = table.difference(&undocumented).cloned().collect();
    let without_endpoint: Vec<_> = table.difference(&documented).collect();
    assert!(without_endpoint.is_empty(), "a row in policy.rs without an endpoint: {without_endpoint:#?}");
}

#[test]
fn every_route_in_the_sources_has_a_row() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../server/web/src");
    let routes = routes_in(&sources);
    assert!(!routes.is_empty(), "the scan finds routes: {routes:?}");
    let has_row = |(method, path): &(String, String)| {
        let routes = [path.clone(), format!("/api/v1{path}")];
        POLICY.iter().any(|rule| rule.method == method && routes.iter().any(|route| route == rule.route))
    };
    let without: Vec<_> = routes.iter().filter(|route| !has_row(route)).collect();
    assert!(without.is_empty(), "no row in policy.rs: {without:#?}");
}

#[test]
fn no_route_has_two_rows() {
    let mut seen = BTreeSet::new();
    let twice: Vec<_> =
        POLICY.iter().filter(|rule| !seen.insert((rule.method, rule.route))).map(|rule| rule.route).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

/// Method and path of every `.route("<path>", get(..).post(..))` below a folder.
fn routes_in(folder: &Path) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(routes_in(&path));
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            found.extend(text.split(".route(").skip(1).flat_map(routes_of_call));
        }
    }
    found
}

/// The methods and paths in the text after `.route(`.
fn routes_of_call(text: &str) -> Vec<(String, String)> {
    let Some(text) = text.trim_start().strip_prefix('"') else { return Vec::new() };
    let Some((path, rest)) = text.split_once('"') else { return Vec::new() };
    let mut depth = 1;
    let end = rest.find(|letter| {
        depth += match letter {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        depth == 0
    });
    let handlers = &rest[..end.unwrap_or(rest.len())];
    let named = |method: &&str| {
        handlers.match_indices(&format!("{method}(")).any(|(at, _)| {
            !handlers[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_')
        })
    };
    let methods = ["get", "post", "put", "patch", "delete"];
    methods.iter().filter(|method| named(method)).map(|m| (m.to_uppercase(), path.to_owned())).collect()
}

/// About 900 requests, three seconds.
#[test]
fn a_method_that_a_path_lacks_is_told_with_those_that_it_has() {
    const METHODS: [&str; 6] = ["GET", "POST", "PUT", "PATCH", "DELETE", "TRACE"];
    let server = Server::start();
    let nobody = server.as_(Who::Anonymous);
    let routes: BTreeSet<&str> = POLICY.iter().map(|rule| rule.route).collect();
    let mut tried = 0;
    for route in routes {
        let mut has: BTreeSet<&str> =
            POLICY.iter().filter(|rule| rule.route == route).map(|rule| rule.method).collect();
        if has.contains("GET") {
            has.insert("HEAD");
        }
        let path = filled(route, "01arz3ndektsv4rrffq69g5fav");
        let path = path.strip_prefix("/api/v1").map_or_else(|| format!("page:{path}"), ToOwned::to_owned);
        for method in METHODS.into_iter().filter(|method| !has.contains(method)) {
            let answer = send(nobody.request(method.parse().unwrap(), &path)).expect(405);
            let allowed: BTreeSet<&str> = answer.header("allow").split(',').map(str::trim).collect();
            assert_eq!(allowed, has, "{method} {route}");
            tried += 1;
        }
    }
    assert!(tried > 800, "{tried}");
}
