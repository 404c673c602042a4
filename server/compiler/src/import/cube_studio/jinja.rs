//! Converts Cube Studio's variables in texts into our expressions.

use std::sync::LazyLock;

use regex::{Captures, Regex};

/// A date in a text, with an offset and a format.
static DATE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let now = r"datetime\.(?:datetime\.)?now\(\)";
    let distance = r"(?:\s*([+-])\s*(?:datetime\.)?timedelta\((days|hours|weeks|minutes)=(-?\d{1,6})\))?";
    let form = r#"(?:\.strftime\(\s*(?:'([^'"\\]*)'|"([^'"\\]*)")\s*\))?"#;
    Regex::new(&format!(r"^\(?{now}{distance}\)?{form}$")).ok()
});

/// The text with our expressions, and the parts without a counterpart, which stay text.
pub fn convert(text: &str, pipeline: &str) -> (String, Vec<String>) {
    let mut out = String::new();
    let mut unknown = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        out.push_str(&rest[..start]);
        let Some(length) = rest[start..].find("}}") else { break };
        let inner = rest[start + 2..start + length].trim();
        match variable(inner, pipeline).or_else(|| date(inner)) {
            Some(ours) => out.push_str(&ours),
            None => {
                unknown.push(inner.to_owned());
                out.push_str("{{ '{{' }}");
                out.push_str(&rest[start + 2..start + length + 2]);
            }
        }
        rest = &rest[start + length + 2..];
    }
    // An unclosed opening is text, too.
    out.push_str(&rest.replace("{{", "{{ '{{' }}"));
    (out, unknown)
}

fn variable(name: &str, pipeline: &str) -> Option<String> {
    let ours = match name {
        "creator" | "runner" | "username" | "user" => "{{ run.user }}",
        "run_id" | "runner_id" | "uuid" | "pipeline_run_id" => "{{ run.id }}",
        "project" | "project_name" => "{{ run.project }}",
        "task_name" | "task_id" => "{{ task.name }}",
        "ds" | "execution_date" => "{{ run.date }}",
        "pipeline_name" | "pipeline_id" => return Some(pipeline.to_owned()),
        _ => return None,
    };
    Some(ours.to_owned())
}

fn date(expression: &str) -> Option<String> {
    let found = DATE.as_ref()?.captures(expression)?;
    let mut ours = "run.timestamp".to_owned();
    if let (Some(sign), Some(unit), Some(count)) = (found.get(1), found.get(2), found.get(3)) {
        let count: i64 = count.as_str().parse().ok()?;
        let count = if sign.as_str() == "-" { -count } else { count };
        ours.push_str(&format!(" | {}({count})", unit.as_str()));
    }
    if let Some(form) = form(&found) {
        ours.push_str(&format!(" | format('{form}')"));
    }
    Some(format!("{{{{ {ours} }}}}"))
}

fn form<'t>(found: &Captures<'t>) -> Option<&'t str> {
    found.get(4).or_else(|| found.get(5)).map(|form| form.as_str())
}
