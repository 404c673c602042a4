//! The settings that a job template passes to the tasks that use it.

use std::collections::BTreeMap;

use serde_json::Value;

/// The settings of a job template that a task needs.
#[derive(Clone, Debug, Default)]
pub struct Recipe {
    pub image: Option<String>,
    /// The program and its first arguments.
    pub command: Vec<String>,
    /// The working directory.
    pub folder: Option<String>,
    pub mounts: String,
    /// Variables, one per line.
    pub env: String,
}

impl Recipe {
    fn of(template: &Value) -> Self {
        let text =
            |key: &str| template.get(key).and_then(Value::as_str).unwrap_or_default().trim().to_owned();
        let filled = |key: &str| Some(text(key)).filter(|text| !text.is_empty());
        let command = filled("job_template_entrypoint").or_else(|| filled("job_template_command"));
        Self {
            image: filled("image_name"),
            command: command.map(|command| words(&command)).unwrap_or_default(),
            folder: filled("job_template_workdir"),
            mounts: text("job_template_volume"),
            env: text("job_template_env"),
        }
    }
}

/// The recipes of a file of job templates, by each of their names.
pub fn recipes(templates: &[(String, &Value)]) -> BTreeMap<String, Recipe> {
    let mut recipes = BTreeMap::new();
    for (key, template) in templates {
        let name = template.get("job_template_name").and_then(Value::as_str);
        let old = template.get("job_template_old_names").and_then(Value::as_array);
        let old = old.into_iter().flatten().filter_map(Value::as_str);
        for name in old.chain(name).chain([key.as_str()]) {
            recipes.insert(name.to_owned(), Recipe::of(template));
        }
    }
    recipes
}

/// Splits a shell line into words; quotes keep words together.
pub fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    for c in line.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}
