//! Parses YAML into a tree, with limits on size, depth and the expansion of aliases.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use cubeloom_domain::{Code, Problem};
use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, Tag};

use super::node::{Entry, Kind, MAX_DEPTH, Mark, Node, is_number};
use crate::path::Path;

/// Maximum number of values that all aliases of a document may expand to.
const MAX_ALIASED: usize = 1_000_000;

/// Parses one YAML document. Problems that leave a usable tree (duplicate keys) are pushed.
///
/// # Errors
/// The first problem without a usable tree: a syntax error, too deep nesting, too many aliases.
pub fn parse<'t>(text: &'t str, problems: &mut Vec<Problem>) -> Result<Node<'t>, Problem> {
    let mut builder =
        Builder { open: Vec::new(), anchors: HashMap::new(), aliased: 0, path: Path::default(), problems };
    let mut root = None;
    let mut parser = Parser::new_from_str(text);
    while let Some(event) = parser.next_event() {
        let (event, span) = event.map_err(|error| syntax(&error))?;
        if matches!(event, Event::DocumentStart(_)) && root.is_some() {
            return Err(at(
                mark(span),
                Code::Syntax,
                "a second document begins here; write one document per file",
            ));
        }
        if let Some(node) = builder.event(event, mark(span))? {
            root = Some(node);
        }
    }
    root.ok_or_else(|| at(Mark { line: 1, column: 1 }, Code::Syntax, "the document is empty"))
}

fn syntax(error: &ScanError) -> Problem {
    let marker = error.marker();
    let mark = to_mark(marker.line(), marker.col());
    if error.info().contains("recursion limit") {
        return at(mark, Code::TooLarge, format!("nested more than {MAX_DEPTH} deep; flatten it"));
    }
    at(mark, Code::Syntax, format!("this is not YAML: {}", error.info()))
}

fn at(mark: Mark, code: Code, message: impl Into<String>) -> Problem {
    Problem { line: Some(mark.line), column: Some(mark.column), ..Problem::error(code, "", message) }
}

fn mark(span: Span) -> Mark {
    to_mark(span.start.line(), span.start.col())
}

fn to_mark(line: usize, column: usize) -> Mark {
    let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    Mark { line: number(line.max(1)), column: number(column + 1) }
}

/// A list or mapping that is still open.
struct Open<'t> {
    mark: Mark,
    anchor: usize,
    container: Container<'t>,
}

enum Container<'t> {
    List(Vec<Node<'t>>),
    Map {
        entries: Vec<Entry<'t>>,
        key: Option<(Cow<'t, str>, Mark)>,
        seen: HashSet<Cow<'t, str>>,
        /// The values of `<<`: added at the end, because keys written in the mapping win in any position.
        merged: Vec<Node<'t>>,
    },
}

struct Builder<'t, 'p> {
    open: Vec<Open<'t>>,
    anchors: HashMap<usize, Node<'t>>,
    aliased: usize,
    path: Path,
    problems: &'p mut Vec<Problem>,
}

impl<'t> Builder<'t, '_> {
    /// Handles one event; returns the root when it is complete.
    fn event(&mut self, event: Event<'t>, mark: Mark) -> Result<Option<Node<'t>>, Problem> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let node = |text| {
                    let kind = scalar(text, style, tag.as_deref());
                    Ok(Node { mark, kind: kind.map_err(|message| at(mark, Code::Syntax, message))? })
                };
                if self.wants_key() {
                    if anchor != 0 {
                        self.name(anchor, &node(text.clone())?)?;
                    }
                    self.start_key(text, mark);
                    return Ok(None);
                }
                self.finish(node(text)?, anchor)
            }
            Event::SequenceStart(anchor, tag) => {
                self.push(mark, anchor, Container::List(Vec::new()), tag.as_deref()).map(|()| None)
            }
            Event::MappingStart(anchor, tag) => {
                let map = Container::Map {
                    entries: Vec::new(),
                    key: None,
                    seen: HashSet::new(),
                    merged: Vec::new(),
                };
                self.push(mark, anchor, map, tag.as_deref()).map(|()| None)
            }
            Event::SequenceEnd | Event::MappingEnd => self.pop(),
            Event::Alias(anchor) => {
                let node = self.alias(anchor, mark)?;
                if self.wants_key() {
                    let Some(text) = node.scalar() else { return Err(bad_key(mark)) };
                    self.start_key(text.to_owned().into(), mark);
                    return Ok(None);
                }
                self.finish(node, 0)
            }
            Event::Nothing
            | Event::StreamStart
            | Event::StreamEnd
            | Event::DocumentStart(_)
            | Event::DocumentEnd => Ok(None),
        }
    }

    fn wants_key(&self) -> bool {
        matches!(self.open.last(), Some(Open { container: Container::Map { key: None, .. }, .. }))
    }

    fn start_key(&mut self, text: Cow<'t, str>, mark: Mark) {
        let Some(Open { container: Container::Map { key, seen, .. }, .. }) = self.open.last_mut() else {
            return;
        };
        self.path.push_key(&text);
        if text != "<<" && !seen.insert(text.clone()) {
            let message = format!("the key `{text}` is used twice; keep one");
            self.problems
                .push(Problem { path: self.path.pointer(), ..at(mark, Code::DuplicateKey, message) });
        }
        *key = Some((text, mark));
    }

    fn push(
        &mut self,
        mark: Mark,
        anchor: usize,
        container: Container<'t>,
        tag: Option<&Tag>,
    ) -> Result<(), Problem> {
        if self.wants_key() {
            return Err(bad_key(mark));
        }
        if let Some(tag) = tag.filter(|tag| !tag.is_yaml_core_schema()) {
            return Err(at(mark, Code::Syntax, unknown_tag(tag)));
        }
        if self.open.len() >= MAX_DEPTH {
            let message = format!("nested more than {MAX_DEPTH} deep; flatten it");
            return Err(at(mark, Code::TooLarge, message));
        }
        if let Some(Open { container: Container::List(items), .. }) = self.open.last() {
            self.path.push_index(items.len());
        }
        self.open.push(Open { mark, anchor, container });
        Ok(())
    }

    fn pop(&mut self) -> Result<Option<Node<'t>>, Problem> {
        let Some(Open { mark, anchor, container }) = self.open.pop() else { return Ok(None) };
        let kind = match container {
            Container::List(items) => Kind::List(items),
            Container::Map { mut entries, merged, .. } => {
                merged.into_iter().try_for_each(|node| merge(&mut entries, node))?;
                Kind::Map(entries)
            }
        };
        if matches!(self.open.last(), Some(Open { container: Container::List(_), .. })) {
            self.path.pop();
        }
        self.finish(Node { mark, kind }, anchor)
    }

    /// Adds a complete value to its parent.
    fn finish(&mut self, node: Node<'t>, anchor: usize) -> Result<Option<Node<'t>>, Problem> {
        if anchor != 0 {
            self.name(anchor, &node)?;
        }
        match self.open.last_mut() {
            None => return Ok(Some(node)),
            Some(Open { container: Container::List(items), .. }) => items.push(node),
            Some(Open { container: Container::Map { entries, key, merged, .. }, .. }) => {
                self.path.pop();
                match key.take() {
                    Some((name, _)) if name == "<<" => merged.push(node),
                    Some((key, mark)) => entries.push(Entry { key, mark, value: node }),
                    None => return Err(bad_key(node.mark)),
                }
            }
        }
        Ok(None)
    }

    /// Stores an anchored value for its aliases.
    fn name(&mut self, anchor: usize, node: &Node<'t>) -> Result<(), Problem> {
        self.spend(node)?;
        self.anchors.insert(anchor, node.clone());
        Ok(())
    }

    fn alias(&mut self, anchor: usize, mark: Mark) -> Result<Node<'t>, Problem> {
        let Some(node) = self.anchors.get(&anchor).cloned() else {
            return Err(at(mark, Code::Syntax, "this alias is inside its own anchor"));
        };
        if self.open.len() + depth(&node) > MAX_DEPTH {
            let message = format!("with this alias, nested more than {MAX_DEPTH} deep; flatten it");
            return Err(at(mark, Code::TooLarge, message));
        }
        self.spend(&node).map_err(|problem| Problem {
            line: Some(mark.line),
            column: Some(mark.column),
            ..problem
        })?;
        Ok(node)
    }

    /// Counts a copy made by an anchor or an alias.
    fn spend(&mut self, node: &Node<'t>) -> Result<(), Problem> {
        self.aliased += node.count();
        if self.aliased > MAX_ALIASED {
            let message = format!("aliases expand to more than {MAX_ALIASED} values; use fewer");
            return Err(at(node.mark, Code::TooLarge, message));
        }
        Ok(())
    }
}

fn depth(node: &Node<'_>) -> usize {
    match &node.kind {
        Kind::List(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Kind::Map(entries) => 1 + entries.iter().map(|entry| depth(&entry.value)).max().unwrap_or(0),
        _ => 0,
    }
}

fn bad_key(mark: Mark) -> Problem {
    at(mark, Code::Syntax, "a key must be text, not a list or a mapping")
}

/// `<<: *defaults`: the keys of one or several mappings that are not set here.
fn merge<'t>(entries: &mut Vec<Entry<'t>>, node: Node<'t>) -> Result<(), Problem> {
    let mark = node.mark;
    let sources = match node.kind {
        Kind::List(items) => items,
        kind => vec![Node { mark: node.mark, kind }],
    };
    for source in sources {
        let Kind::Map(more) = source.kind else {
            return Err(at(mark, Code::Syntax, "`<<` must be a mapping, or a list of mappings"));
        };
        let known: HashSet<String> = entries.iter().map(|entry| entry.key.to_string()).collect();
        entries.extend(more.into_iter().filter(|entry| !known.contains(entry.key.as_ref())));
    }
    Ok(())
}

fn unknown_tag(tag: &Tag) -> String {
    format!("the tag `{tag}` is not supported; remove it")
}

/// A scalar in YAML's core schema: only plain ones may be anything but text.
fn scalar<'t>(text: Cow<'t, str>, style: ScalarStyle, tag: Option<&Tag>) -> Result<Kind<'t>, String> {
    if let Some(tag) = tag {
        if !tag.is_yaml_core_schema() {
            return Err(unknown_tag(tag));
        }
        if tag.suffix == "str" {
            return Ok(Kind::String(text));
        }
    }
    if style != ScalarStyle::Plain {
        return Ok(Kind::String(text));
    }
    Ok(match text.as_ref() {
        "" | "~" | "null" | "Null" | "NULL" => Kind::Null,
        "true" | "True" | "TRUE" => Kind::Bool(true),
        "false" | "False" | "FALSE" => Kind::Bool(false),
        plain if is_number(plain) => Kind::Number(text),
        _ => Kind::String(text),
    })
}
