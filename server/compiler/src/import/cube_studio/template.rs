//! Converts Cube Studio's job templates to our task templates.

use serde_json::{Map, Value, json};

use super::context::Context;
use super::ledger::At;
use super::names::{argument, label};
use super::recipe::words;
use super::task::variables;
use super::volumes::Mounts;
use crate::import::Fate;

/// The group of templates whose own group is not a valid name.
const IMPORTED: &str = "imported";
/// Maximum length of a label, in characters.
const LABEL: usize = 60;

/// The template; `name` is its name in our catalog.
pub fn template(at: &At<'_>, name: &str) -> Value {
    let mounts = Mounts::default();
    let context = Context { pipeline: name, mounts: &mounts };
    let own = at.get("job_template_name").and_then(|own| own.text()).unwrap_or_else(|| name.to_owned());
    let about = at.get("job_template_describe").and_then(|about| about.text()).unwrap_or_else(|| own.clone());
    let group = group(at);
    let title = line(&own);
    let mut template = Map::new();
    for (key, value) in
        [("apiVersion", "cubeloom/v1"), ("kind", "TaskTemplate"), ("name", name), ("version", "1.0.0")]
    {
        template.insert(key.into(), json!(value));
    }
    template.insert("group".into(), json!(group));
    template.insert("label".into(), json!({"en": title, "zh": title}));
    template.insert("help".into(), json!({"en": about, "zh": about}));
    template.insert("framework".into(), json!("single"));
    if let Some(image) = at.get("image_name").and_then(|image| image.text()) {
        template.insert("image".into(), json!(image));
    }
    let (parameters, options) = parameters(at);
    template.insert("parameters".into(), parameters);
    template.insert("roles".into(), json!([{"name": "worker", "replicas": 1}]));
    template.insert("command".into(), json!(command(at, &context, options)));
    if let Some(env) = at.get("job_template_env") {
        let text = env.text().unwrap_or_default();
        let env = variables(&text, &env, &context);
        if !env.is_empty() {
            template.insert("env".into(), Value::Object(env));
        }
    }
    if let Some(volumes) = at.get("job_template_volume") {
        volumes
            .tell(Fate::Problem, "templates mount no volumes here: set `volumes` in the tasks that use it");
    }
    Value::Object(template)
}

/// The template's group, which must be a valid name.
fn group(at: &At<'_>) -> String {
    let Some(theirs) = at.get("project_name") else { return IMPORTED.into() };
    let text = theirs.text().unwrap_or_default();
    let ours = match label(&text) {
        empty if empty.is_empty() => IMPORTED.to_owned(),
        label => label,
    };
    if ours != text {
        theirs.note(Fate::Changed, format!("the group `{text}` became `{ours}`"));
    }
    ours
}

fn line(text: &str) -> String {
    text.lines().next().unwrap_or_default().chars().take(LABEL).collect()
}

/// The words of the program and of its arguments.
fn command(at: &At<'_>, context: &Context<'_>, options: Vec<String>) -> Vec<String> {
    let line = at.first(&["job_template_entrypoint", "job_template_command"]);
    let folder = at.get("job_template_workdir").map(|folder| context.text(&folder));
    let program = line.as_ref().map(|line| words(&context.text(line))).unwrap_or_default();
    if program.is_empty() {
        at.note(
            Fate::Problem,
            "the job template has no program, because its image's default ran: write the command",
        );
        return ["sh", "-c", "echo 'import: the program of this template is unknown' >&2; exit 1"]
            .map(str::to_owned)
            .to_vec();
    }
    let start = match folder {
        Some(folder) => {
            ["sh", "-c", "cd \"$0\" && exec \"$@\""].map(str::to_owned).into_iter().chain([folder]).collect()
        }
        None => Vec::new(),
    };
    start.into_iter().chain(program).chain(options).collect()
}

/// The arguments' JSON Schema, and the words that pass them on.
fn parameters(at: &At<'_>) -> (Value, Vec<String>) {
    let mut properties = Map::new();
    let mut required = Vec::new();
    let mut options = Vec::new();
    for (group, fields) in at.get("job_template_args").map(|groups| groups.entries()).unwrap_or_default() {
        for (option, field) in fields.entries() {
            let name = argument(&option);
            if properties.contains_key(&name) {
                field.tell(
                    Fate::Problem,
                    format!("`{option}` would be the second argument `{name}`: rename it"),
                );
                continue;
            }
            let (schema, is_required) = super::field::schema(&field, &group, properties.len() + 1);
            options.push(super::field::words(&option, &name, &schema));
            if is_required {
                required.push(json!(name));
            }
            properties.insert(name, schema);
        }
    }
    let mut schema = Map::new();
    schema.insert("type".into(), json!("object"));
    schema.insert("additionalProperties".into(), json!(false));
    if !required.is_empty() {
        schema.insert("required".into(), Value::Array(required));
    }
    schema.insert("properties".into(), Value::Object(properties));
    (Value::Object(schema), options)
}
