//! Marks that replace references which Argo also supports, during compilation.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use cubeloom_domain::pipeline::Task;
use regex::Regex;
use serde_json::Value;

use crate::lower::kubernetes::words;

/// Private-use characters, which no document has a reason to contain.
const OPEN: char = '\u{E010}';
const CLOSE: char = '\u{E011}';

/// A variable for a brace in a text, which the kubelet expands: Argo expands a template several times,
/// including its own results.
pub const BRACE: &str = "CUBELOOM_BRACE";

static OUTPUT: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"^tasks(?:\.([\w-]+)|\[['"]([\w-]+)['"]\])\.outputs\.(\w+)$"#).ok());
static MEMBER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"^(params|item)\.(\w+)$").ok());

/// The content of the marks of one task.
#[derive(Debug, Default)]
pub struct Marks {
    /// By number: the reference in the template's body.
    texts: Vec<String>,
    /// The template's inputs by name, and the value that the DAG passes to each.
    pub inputs: BTreeMap<String, String>,
    /// Outputs of other tasks that are read: task and output.
    pub reads: Vec<(String, String)>,
    /// Expressions that are left to the compiler.
    pub fixed: BTreeSet<String>,
}

/// A reference as Argo writes it.
pub enum Reference {
    /// Known everywhere.
    Global(String),
    /// Known in the DAG only: the input's name, its text in the DAG, and the task and output that it reads.
    Local { input: String, text: String, output: Option<(String, String)> },
}

/// The name of a task in the DAG. Argo's `depends` reads a leading digit as a number; our task names contain
/// no capitals.
pub fn task_name(name: &str) -> String {
    if name.starts_with(|first: char| first.is_ascii_digit()) { format!("T-{name}") } else { name.to_owned() }
}

/// The reference that an expression consists of, if Argo supports it.
pub fn reference(expression: &str) -> Option<Reference> {
    if let Some(found) = OUTPUT.as_ref()?.captures(expression) {
        let task = found.get(1).or_else(|| found.get(2))?.as_str();
        let output = found.get(3)?.as_str();
        return Some(Reference::Local {
            input: format!("{task}-{output}"),
            text: format!("{{{{tasks.{}.outputs.parameters.{output}}}}}", task_name(task)),
            output: Some((task.to_owned(), output.to_owned())),
        });
    }
    if let Some(found) = MEMBER.as_ref()?.captures(expression) {
        let name = found.get(2)?.as_str();
        return Some(match found.get(1)?.as_str() {
            "params" => Reference::Global(format!("{{{{workflow.parameters.{name}}}}}")),
            _ => Reference::Local {
                input: format!("item-{name}"),
                text: format!("{{{{item.{name}}}}}"),
                output: None,
            },
        });
    }
    let global = |text: &str| Some(Reference::Global(text.to_owned()));
    match expression {
        "item" => Some(Reference::Local { input: "item".into(), text: "{{item}}".into(), output: None }),
        "run.id" => global("{{workflow.uid}}"),
        "run.date" | "run.date_utc" => global(
            "{{workflow.creationTimestamp.Y}}-{{workflow.creationTimestamp.m}}-{{workflow.creationTimestamp.d}}",
        ),
        "run.timestamp" => global("{{workflow.creationTimestamp.RFC3339}}"),
        _ => None,
    }
}

/// Whether Argo or the kubelet would expand a part of a text.
pub fn is_read(text: &str) -> bool {
    ["{{", "$(", "$$"].iter().any(|own| text.contains(own))
}

/// Escapes a text so that Argo leaves it alone. The kubelet still expands variables that are `known`.
fn as_text(text: &str, before_reference: bool, known: &impl Fn(&str) -> bool) -> String {
    let mut parts = vec![String::new()];
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        let opens = sign == '{' && signs.peek().map_or(before_reference, |next| *next == '{');
        match parts.last_mut() {
            Some(part) if !opens => part.push(sign),
            _ => parts.push(String::new()),
        }
    }
    let none = BTreeSet::new();
    let parts = parts.iter().map(|part| words::plain(&words::parts(part, known, &none)).unwrap_or_default());
    parts.collect::<Vec<_>>().join(&format!("$({BRACE})"))
}

impl Marks {
    /// Puts marks into the variables of a task, and into the arguments that may have them.
    pub fn set(task: &mut Task, may_mark: impl Fn(&str) -> bool) -> Self {
        let mut marks = Self::default();
        for (name, value) in task.arguments.iter_mut() {
            marks.value(value, may_mark(name));
        }
        for text in task.env.values_mut() {
            *text = marks.text(text, true);
        }
        marks
    }

    fn value(&mut self, value: &mut Value, may_mark: bool) {
        match value {
            Value::String(text) => *text = self.text(text, may_mark),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item, may_mark)),
            Value::Object(map) => map.iter_mut().for_each(|(_, value)| self.value(value, may_mark)),
            _ => {}
        }
    }

    fn text(&mut self, text: &str, may_mark: bool) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((start, length)) =
            rest.find("{{").and_then(|start| Some((start, rest[start..].find("}}")?)))
        {
            let expression = rest[start + 2..start + length].trim();
            out.push_str(&rest[..start]);
            match reference(expression).filter(|_| may_mark) {
                Some(found) => self.mark(found, &mut out),
                None => {
                    // Folders become variables, which Kubernetes expands.
                    let folder = ["run.dir", "workspace", "code", "task.name"].contains(&expression);
                    if !folder && !expression.starts_with('\'') {
                        self.fixed.insert(expression.to_owned());
                    }
                    out.push_str(&rest[start..start + length + 2]);
                }
            }
            rest = &rest[start + length + 2..];
        }
        out.push_str(rest);
        out
    }

    fn mark(&mut self, found: Reference, out: &mut String) {
        let text = match found {
            Reference::Global(text) => text,
            Reference::Local { input, text, output } => {
                self.reads.extend(output);
                let inside = format!("{{{{inputs.parameters.{input}}}}}");
                self.inputs.insert(input, text);
                inside
            }
        };
        out.push(OPEN);
        out.push_str(&self.texts.len().to_string());
        out.push(CLOSE);
        self.texts.push(text);
    }

    /// Replaces the marks in a compiled text with Argo's references; `known` are the container's variables.
    pub fn written(&self, text: &str, known: impl Fn(&str) -> bool) -> String {
        let mut out = String::new();
        let mut parts = text.split(OPEN).enumerate().peekable();
        while let Some((at, part)) = parts.next() {
            let marked = part.split_once(CLOSE).filter(|_| at > 0);
            let marked = marked
                .and_then(|(number, rest)| Some((self.texts.get(number.parse::<usize>().ok()?)?, rest)));
            let (reference, rest) = marked.map_or(("", part), |(text, rest)| (text.as_str(), rest));
            out.push_str(reference);
            out.push_str(&as_text(rest, parts.peek().is_some(), &known));
        }
        out
    }
}
