//! The OpenAPI document as the pages show it.

use std::collections::BTreeMap;

use serde_json::Value;

use super::sample;
use super::schema::{self, Row};

/// All operations, by tag.
pub(super) struct Document {
    /// In the tags' alphabetical order.
    pub tags: Vec<Tag>,
}

/// Operations of one tag.
pub(super) struct Tag {
    pub name: String,
    pub operations: Vec<Operation>,
}

/// A method of a path.
pub(super) struct Operation {
    pub id: String,
    /// In upper case.
    pub method: String,
    /// With `/api/v1`.
    pub path: String,
    /// The first sentence.
    pub title: String,
    /// The rest.
    pub description: String,
    /// Who may call it: the role, and the token's scope.
    pub needs: String,
    pub scope: String,
    pub open: bool,
    pub parameters: Vec<Parameter>,
    pub body: Option<Body>,
    pub answers: Vec<Answer>,
}

/// A path, query or header parameter.
pub(super) struct Parameter {
    pub name: String,
    /// `path`, `query` or `header`.
    pub place: String,
    pub kind: String,
    pub required: bool,
    pub description: String,
}

/// Request body.
pub(super) struct Body {
    pub media: String,
    pub rows: Vec<Row>,
    /// An example, for JSON.
    pub example: Option<Value>,
}

pub(super) struct Answer {
    pub status: String,
    pub description: String,
    pub media: Option<String>,
    pub rows: Vec<Row>,
}

impl Answer {
    /// Whether it is a success response.
    pub(super) fn is_good(&self) -> bool {
        self.status.starts_with('2')
    }
}

impl Document {
    /// Reads an OpenAPI 3.1 document. Missing parts are empty.
    pub(super) fn read(document: &Value) -> Self {
        let mut tags: BTreeMap<String, Vec<Operation>> = BTreeMap::new();
        for (path, item) in document["paths"].as_object().into_iter().flatten() {
            for (method, value) in item.as_object().into_iter().flatten() {
                let tag = text(&value["tags"][0]);
                tags.entry(tag).or_default().push(operation(document, path, method, value));
            }
        }
        let tags = tags.into_iter().map(|(name, operations)| Tag { name, operations }).collect();
        Self { tags }
    }
}

fn operation(document: &Value, path: &str, method: &str, value: &Value) -> Operation {
    let whole = [text(&value["summary"]), text(&value["description"])].join(" ");
    let (title, description) = sentences(&whole.replace('\n', " "));
    let answers = value["responses"].as_object().into_iter().flatten();
    let mut answers: Vec<_> = answers.map(|(status, value)| answer(document, status, value)).collect();
    // `default` comes after the numbers.
    answers.sort_by(|a, b| a.status.cmp(&b.status));
    Operation {
        id: text(&value["operationId"]),
        method: method.to_uppercase(),
        path: format!("/api/v1{path}"),
        title,
        description,
        needs: text(&value["x-needs"]),
        scope: text(&value["x-scope"]),
        open: value["security"].as_array().is_some_and(Vec::is_empty),
        parameters: value["parameters"].as_array().into_iter().flatten().map(parameter).collect(),
        body: value["requestBody"]["content"].as_object().and_then(|content| body(document, content)),
        answers,
    }
}

fn parameter(value: &Value) -> Parameter {
    Parameter {
        name: text(&value["name"]),
        place: text(&value["in"]),
        kind: schema::kind(&value["schema"]),
        required: value["required"] == true,
        description: text(&value["description"]),
    }
}

fn body(document: &Value, content: &serde_json::Map<String, Value>) -> Option<Body> {
    let (media, value) = content.iter().next()?;
    let example = media.contains("json").then(|| sample::of(document, &value["schema"]));
    Some(Body { media: media.clone(), rows: schema::rows(document, &value["schema"]), example })
}

fn answer(document: &Value, status: &str, value: &Value) -> Answer {
    let content = value["content"].as_object().and_then(|content| content.iter().next());
    // The error format is the same everywhere, and documented once.
    let is_problem = content.is_some_and(|(media, _)| media.contains("problem"));
    let rows = content.filter(|_| !is_problem).map(|(_, value)| schema::rows(document, &value["schema"]));
    Answer {
        status: status.to_owned(),
        description: text(&value["description"]),
        media: content.map(|(media, _)| media.clone()),
        rows: rows.unwrap_or_default(),
    }
}

/// The first sentence, and the rest.
fn sentences(text: &str) -> (String, String) {
    match text.split_once(". ") {
        Some((first, rest)) => (format!("{first}."), rest.trim().to_owned()),
        None => (text.trim().to_owned(), String::new()),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_operation_of_this_server_can_be_shown_and_has_a_title() {
        let value = serde_json::from_str(&crate::api::document::text()).unwrap();
        let document = Document::read(&value);
        let operations: Vec<_> = document.tags.iter().flat_map(|tag| &tag.operations).collect();
        assert!(operations.len() > 20, "{}", operations.len());
        for operation in &operations {
            assert!(!operation.title.is_empty() && !operation.id.is_empty(), "{}", operation.path);
        }
        let mut ids: Vec<_> = operations.iter().map(|operation| &operation.id).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), operations.len(), "two operations have one id");
    }

    #[test]
    fn the_first_sentence_is_the_title() {
        let value = json!({"paths": {"/runs/{run}": {"get": {
            "tags": ["runs"], "operationId": "get_runs", "summary": "One run. With\nits tasks.",
            "parameters": [{"name": "run", "in": "path", "required": true, "schema": {"type": "string"}}],
            "responses": {"200": {"description": ""}}
        }}}});
        let document = Document::read(&value);
        let operation = &document.tags[0].operations[0];
        assert_eq!(
            (operation.title.as_str(), operation.description.as_str()),
            ("One run.", "With its tasks.")
        );
        assert_eq!(operation.path, "/api/v1/runs/{run}");
        assert_eq!(operation.parameters[0].kind, "string");
    }
}
