//! Finds the expressions of a text, and the outputs of other tasks that an expression reads.
//!
//! Only `{{ ... }}` is special. Statements (`{% ... %}`) would allow loops that double a text until memory is
//! full, and programs often contain `{%` and `{#` themselves. Multiplication is refused for the same reason,
//! because it also repeats texts and lists. The filter `times` multiplies numbers.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Segment<'t> {
    /// Literal text.
    Text(&'t str),
    /// The content between `{{` and `}}`, trimmed.
    Expression(&'t str),
}

/// A read of another task by an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    pub task: String,
    /// The output; `None` if all outputs are read together.
    pub output: Option<String>,
}

/// Whether a text has an expression; most have none.
pub fn has_expression(text: &str) -> bool {
    text.contains("{{")
}

/// Splits a text.
///
/// # Errors
/// A message, if an expression is not closed.
pub fn segments(text: &str) -> Result<Vec<Segment<'_>>, String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find("{{") {
        if start > 0 {
            pieces.push(Segment::Text(&rest[..start]));
        }
        let inner = &rest[start + 2..];
        let Some(end) = end_of(inner) else {
            let shown: String = inner.chars().take(30).collect();
            return Err(format!(
                "the expression `{{{{{shown}` has no `}}}}`; to write two braces as text: {{{{ '{{{{' }}}}"
            ));
        };
        pieces.push(Segment::Expression(inner[..end].trim()));
        rest = &inner[end + 2..];
    }
    if !rest.is_empty() || pieces.is_empty() {
        pieces.push(Segment::Text(rest));
    }
    Ok(pieces)
}

/// The position of the `}}` that ends an expression, outside of quotes and brackets.
fn end_of(inner: &str) -> Option<usize> {
    let bytes = inner.as_bytes();
    let (mut at, mut depth) = (0, 0usize);
    while at < bytes.len() {
        match bytes[at] {
            quote @ (b'"' | b'\'') => at = end_of_string(bytes, at, quote),
            b'{' | b'[' | b'(' => depth += 1,
            b'}' if depth == 0 && bytes.get(at + 1) == Some(&b'}') => return Some(at),
            b'}' | b']' | b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    None
}

/// The index of the quote that ends the string starting at `start`, or the end of the text.
fn end_of_string(bytes: &[u8], start: usize, quote: u8) -> usize {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != quote {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at
}

/// An expression in the engine's syntax, and the outputs of other tasks that it reads.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Scanned {
    /// The expression; task names in it are quoted, because they may contain `-`.
    pub text: String,
    /// The reads, in text order.
    pub reads: Vec<Read>,
    /// Variables of the platform with their accessed member: the engine's own list omits sliced ones.
    pub names: Vec<String>,
}

/// The names that a document's expressions can use.
pub const ROOTS: [&str; 8] = ["params", "run", "workspace", "code", "tasks", "item", "task", "args"];

/// # Errors
/// A message, if it multiplies, or refers to a task by a name that is only known at evaluation.
pub fn scan(expression: &str) -> Result<Scanned, String> {
    let bytes = expression.as_bytes();
    let mut scanned = Scanned { text: String::with_capacity(expression.len()), ..Scanned::default() };
    let (mut at, mut after_dot) = (0, false);
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            quote @ (b'"' | b'\'') => at = (end_of_string(bytes, at, quote) + 1).min(bytes.len()),
            b'*' if bytes.get(at + 1) == Some(&b'*') => at += 2,
            b'*' => return Err("`*` is not available; write `a | times(b)`".into()),
            byte if is_word(byte) => {
                at = end_of_word(bytes, at);
                let word = &expression[start..at];
                if ROOTS.contains(&word) && !after_dot {
                    let name = match member(expression, at, false) {
                        Some((member, _)) if is_plain(member) => format!("{word}.{member}"),
                        _ => word.to_owned(),
                    };
                    scanned.names.push(name);
                }
                if word == "tasks" && !after_dot {
                    at = scan_read(expression, at, &mut scanned)?;
                    after_dot = false;
                    continue;
                }
            }
            _ => at += 1,
        }
        scanned
            .text
            .push_str(expression.get(start..at).ok_or("the expression is cut off within a character")?);
        if !bytes[start].is_ascii_whitespace() {
            after_dot = bytes[start] == b'.';
        }
    }
    Ok(scanned)
}

/// Letters, digits, `_`, and all non-ASCII bytes.
fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Whether a member can be written after a dot.
pub fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn end_of_word(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && is_word(bytes[at]) {
        at += 1;
    }
    at
}

/// Reads `.name.outputs.key`, `['name'].outputs['key']` or `.name.state` after `tasks`.
fn scan_read(expression: &str, at: usize, scanned: &mut Scanned) -> Result<usize, String> {
    let form = || "write `tasks.<name>.outputs.<output>` or `tasks.<name>.state`".to_owned();
    let (task, after_task) = member(expression, at, true).ok_or_else(form)?;
    let (what, after) = member(expression, after_task, false).ok_or_else(form)?;
    let output = match what {
        "outputs" => member(expression, after, false).map(|(output, _)| output.to_owned()),
        "state" => None,
        _ => return Err(form()),
    };
    scanned.text.push_str(&format!("tasks[\"{task}\"].{what}"));
    scanned.reads.push(Read { task: task.to_owned(), output });
    Ok(after)
}

/// The member that is accessed at `at` by a constant name, and the end of that access.
fn member(expression: &str, at: usize, dashes: bool) -> Option<(&str, usize)> {
    let bytes = expression.as_bytes();
    let skip = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        }
        at
    };
    let at = skip(at);
    match bytes.get(at)? {
        b'.' => {
            let start = skip(at + 1);
            let mut end = start;
            while bytes.get(end).is_some_and(|byte| is_word(*byte) || dashes && *byte == b'-') {
                end += 1;
            }
            (end > start).then(|| (&expression[start..end], end))
        }
        b'[' => {
            let start = skip(at + 1);
            let quote = *bytes.get(start).filter(|byte| matches!(byte, b'"' | b'\''))?;
            let end = end_of_string(bytes, start, quote);
            let name = expression.get(start + 1..end).filter(|name| !name.contains(['\\', '"']))?;
            let close = skip(end + 1);
            (bytes.get(close) == Some(&b']')).then_some((name, close + 1))
        }
        _ => None,
    }
}

/// The first statement in a text, if something looks like one: `{% if`, `{% for`, ...
pub fn statement(text: &str) -> Option<&str> {
    let words = ["if", "for", "set", "raw", "macro", "block", "include", "import", "with", "filter", "do"];
    text.match_indices("{%").find_map(|(at, _)| {
        let rest = text[at + 2..].trim_start_matches('-').trim_start();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        let word = &rest[..end];
        (words.contains(&word) && rest[end..].starts_with([' ', '\t', '\n']) && rest.contains("%}"))
            .then_some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_end_at_their_own_braces() {
        let pieces = segments("a {{ {'k': '}}'}['k'] }}b").unwrap();
        assert_eq!(
            pieces,
            [Segment::Text("a "), Segment::Expression("{'k': '}}'}['k']"), Segment::Text("b")]
        );
        assert!(segments("{{ open").unwrap_err().contains("has no `}}`"));
    }

    #[test]
    fn task_names_with_dashes_are_quoted_and_listed() {
        let scanned = scan("tasks.pull-data.outputs.rows - 1 + tasks['b'].outputs['x-y']").unwrap();
        assert_eq!(scanned.text, r#"tasks["pull-data"].outputs.rows - 1 + tasks["b"].outputs['x-y']"#);
        let read = |task: &str, output: &str| Read { task: task.into(), output: Some(output.into()) };
        assert_eq!(scanned.reads, [read("pull-data", "rows"), read("b", "x-y")]);
    }

    #[test]
    fn what_could_not_be_known_before_is_refused() {
        assert!(scan("tasks[params.name].outputs.x").is_err());
        assert!(scan("tasks").is_err());
        assert!(scan("'a' * 10").is_err());
        assert!(scan("2 ** 3 ~ 'a*b' ~ params.tasks").is_ok());
    }

    #[test]
    fn what_is_sliced_is_named_too() {
        let scanned = scan("params.list[1:] ~ item['a'] ~ item[0] ~ run").unwrap();
        assert_eq!(scanned.names, ["params.list", "item.a", "item", "run"]);
    }
}
