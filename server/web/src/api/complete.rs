//! Completes the OpenAPI document with what all endpoints share: errors, permissions and examples.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::policy::{self, Needs, Rule};

/// Completes the document generated from the handlers.
pub(super) fn complete(document: &mut Value) {
    document["components"]["securitySchemes"] = json!({
        "token": {
            "type": "http", "scheme": "bearer", "bearerFormat": "clt_<id>_<secret>",
            "description": "An API token.",
        },
        "session": {
            "type": "apiKey", "in": "cookie", "name": "session",
            "description": "A browser's session. Requests that change something come from this server's own pages.",
        },
    });
    let Some(paths) = document["paths"].as_object_mut() else { return };
    let mut names = BTreeSet::new();
    for (path, item) in paths {
        let Some(operations) = item.as_object_mut() else { continue };
        for (method, operation) in operations {
            let rule = policy::POLICY.iter().find(|rule| {
                rule.method.eq_ignore_ascii_case(method)
                    && rule.route.strip_prefix("/api/v1") == Some(path.as_str())
            });
            if let Some(rule) = rule {
                of_operation(operation, rule);
                let name = name(operation, rule.route);
                // A handler's name can occur with several methods, in files with several handlers.
                let name = if names.insert(name.clone()) { name } else { format!("{method}_{name}") };
                operation["operationId"] = json!(name);
            }
        }
    }
}

fn of_operation(operation: &mut Value, rule: &Rule) {
    let open = rule.needs == Needs::Anyone;
    operation["security"] = if open { json!([]) } else { json!([{"token": []}, {"session": []}]) };
    operation["x-needs"] = json!(needs(rule.needs));
    operation["x-scope"] = json!(rule.scope.as_str());
    let has_if_match = has_parameter(operation, "if-match");
    let has_body = operation.get("requestBody").is_some();
    let answers = &mut operation["responses"];
    describe(answers);
    let mut may = |status: &str, when: &str| {
        if answers.get(status).is_none() {
            answers[status] = refusal(when);
        }
    };
    if !open {
        may("401", "Authentication required, or the token is invalid.");
        may("403", "Permission denied: insufficient role or token scope.");
    }
    if rule.route.contains('{') {
        may("404", "Not found, or not visible to you.");
    }
    if has_if_match {
        may("412", "Changed by someone else in the meantime; the response has the current ETag.");
        may("428", "The header If-Match is missing.");
    }
    if has_body {
        may("400", "Malformed request body.");
        may("413", "The request body is too large.");
        may("415", "Unsupported content type.");
        may("422", "Invalid input; `problems` lists each error.");
    }
    may("429", "Too many requests; Retry-After says when to retry.");
    may("default", "Another error, in the same format.");
}

/// Descriptions of responses without one, which OpenAPI requires. All errors have the same format.
fn describe(answers: &mut Value) {
    for (status, answer) in answers.as_object_mut().into_iter().flatten() {
        if !status.starts_with(['2', '3']) && answer.get("content").is_none() {
            answer["content"] = refusal("")["content"].take();
        }
        if answer["description"].as_str().is_none_or(str::is_empty) {
            answer["description"] = json!(match status.as_str() {
                "201" => "Created.",
                "202" => "Accepted.",
                "204" => "Done.",
                "304" => "Not modified.",
                status if status.starts_with('2') => "Success.",
                _ => "Error.",
            });
        }
    }
}

fn needs(needs: Needs) -> &'static str {
    match needs {
        Needs::Anyone => "anyone",
        Needs::Person => "person",
        Needs::Viewer => "viewer",
        Needs::Editor => "editor",
        Needs::Owner => "owner",
        Needs::Administrator => "administrator",
    }
}

/// Operation id: the handler's name with its subject, for example `list_projects_members`. Handler names
/// alone are not unique.
fn name(operation: &Value, route: &str) -> String {
    let handler = operation["operationId"].as_str().unwrap_or_default();
    let things = route.split('/').skip(3).filter(|part| !part.contains('{') && *part != handler);
    [handler].into_iter().chain(things).collect::<Vec<_>>().join("_").replace('-', "_")
}

fn has_parameter(operation: &Value, name: &str) -> bool {
    let parameters = operation["parameters"].as_array().into_iter().flatten();
    parameters.filter_map(|one| one["name"].as_str()).any(|other| other.eq_ignore_ascii_case(name))
}

fn refusal(when: &str) -> Value {
    let schema = json!({"$ref": "#/components/schemas/ProblemDocument"});
    json!({"description": when, "content": {"application/problem+json": {"schema": schema}}})
}
