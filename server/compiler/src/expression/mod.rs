//! Expressions in documents and templates: `{{ params.date }}`, sandboxed and bounded in steps, size and depth.

mod builtins;
mod compile;
mod dates;
mod scan;
mod scope;

pub use builtins::OneDocument;
pub use compile::{Compiled, compile, forget};
pub use scan::has_expression;
pub use scope::{Args, RUN_NAMES, Scope};

use std::rc::Rc;

use cubeloom_domain::{Code, verbatim};
use serde_json::Value;

use scan::Segment;

/// An invalid expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    pub code: Code,
    pub message: String,
}

impl Mistake {
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// Maximum size of a rendered text, in bytes.
const MAX_TEXT: usize = 16 << 20;

/// The expressions of a text.
pub fn expressions(text: &str) -> Result<Vec<Rc<Compiled>>, Mistake> {
    if let Some(word) = scan::statement(text) {
        let message = format!(
            "statements such as `{{% {word} %}}` are not available; write an expression: {{{{ a if b else c }}}}"
        );
        return Err(Mistake::new(Code::InvalidExpression, message));
    }
    if !has_expression(text) {
        return Ok(Vec::new());
    }
    pieces(text)?
        .into_iter()
        .filter_map(|piece| match piece {
            Segment::Expression(source) => Some(compile(source)),
            Segment::Text(_) => None,
        })
        .collect()
}

fn pieces(text: &str) -> Result<Vec<Segment<'_>>, Mistake> {
    scan::segments(text).map_err(|message| Mistake::new(Code::InvalidExpression, message))
}

/// Renders a text with expressions. A text that is exactly one expression yields that value, any other a
/// text.
pub fn render(text: &str, scope: &Scope<'_>) -> Result<Value, Mistake> {
    if !has_expression(text) {
        return Ok(Value::String(text.to_owned()));
    }
    let pieces = pieces(text)?;
    if let [Segment::Expression(source)] = pieces.as_slice() {
        return evaluate(source, scope);
    }
    let mut rendered = String::new();
    for piece in pieces {
        match piece {
            Segment::Text(text) => rendered.push_str(text),
            Segment::Expression(source) => rendered.push_str(&to_text(evaluate(source, scope)?)),
        }
        if rendered.len() > MAX_TEXT {
            return Err(Mistake::new(Code::InvalidExpression, "the text becomes larger than 16 MiB"));
        }
    }
    Ok(Value::String(rendered))
}

/// The value of an expression. Arguments may contain marked data besides the document's own text.
fn evaluate(source: &str, scope: &Scope<'_>) -> Result<Value, Mistake> {
    let expression = compile(source)?;
    let mut value = expression.evaluate(scope)?;
    if scope.is_for_words && !expression.mentions("args") {
        verbatim::mark(&mut value);
    }
    Ok(value)
}

/// Renders every string in a value; keys stay unchanged.
pub fn render_value(value: &Value, scope: &Scope<'_>) -> Result<Value, Mistake> {
    Ok(match value {
        Value::String(text) => render(text, scope)?,
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| render_value(item, scope)).collect::<Result<_, _>>()?)
        }
        Value::Object(map) => Value::Object(
            map.iter()
                .map(|(key, value)| Ok((key.clone(), render_value(value, scope)?)))
                .collect::<Result<_, Mistake>>()?,
        ),
        other => other.clone(),
    })
}

/// A value inserted into a text: text unchanged, null as empty text, all else as JSON.
pub fn to_text(value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// An expression without surrounding text (`when`, `from`), with or without its braces.
pub fn bare(text: &str) -> Result<Rc<Compiled>, Mistake> {
    let text = text.trim();
    if !has_expression(text) {
        return compile(text);
    }
    match pieces(text)?.as_slice() {
        [Segment::Expression(source)] => compile(source),
        _ => Err(Mistake::new(Code::InvalidExpression, "write one expression, without text around it")),
    }
}

/// Calls `visit` for every string in a value that contains an expression, with its position below `path`.
pub fn strings<'v>(
    value: &'v Value,
    path: &mut crate::path::Path,
    visit: &mut impl FnMut(&'v str, &crate::path::Path),
) {
    match value {
        Value::String(text) => visit(text, path),
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                path.push_index(at);
                strings(item, path, visit);
                path.pop();
            }
        }
        Value::Object(map) => {
            for (key, value) in map {
                path.push_key(key);
                strings(value, path, visit);
                path.pop();
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
