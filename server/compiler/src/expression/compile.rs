//! Compiled expressions, cached per thread: a plan of 100,000 tasks has few distinct ones.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use cubeloom_domain::Code;
use minijinja::{Error, ErrorKind, Expression};
use serde_json::Value;

use super::builtins::{FUNCTIONS, environment, within_budget};
use super::scan::{self, Read};
use super::{Args, Mistake, Scope};

/// Maximum length of an expression, in bytes.
const MAX_LENGTH: usize = 4 << 10;
/// Maximum size of a result, in bytes of JSON.
const MAX_RESULT: usize = 16 << 20;
/// Compiled expressions cached per thread. Each takes 9 KB, because minijinja reserves space for 128
/// instructions.
const CACHED: usize = 512;

pub struct Compiled {
    expression: Expression<'static, 'static>,
    pub source: String,
    /// Variables that it uses: `params`.
    pub roots: Vec<String>,
    /// The same with members accessed by constant names: `params.date`.
    pub names: Vec<String>,
    /// Outputs of other tasks that it reads.
    pub reads: Vec<Read>,
    /// The names, if it consists only of names and dots.
    path: Option<Vec<String>>,
}

thread_local! {
    static CACHE: RefCell<HashMap<String, Result<Rc<Compiled>, Mistake>>> = RefCell::default();
}

/// Compiles an expression, or takes it from the cache.
pub fn compile(source: &str) -> Result<Rc<Compiled>, Mistake> {
    if let Some(known) = CACHE.with_borrow(|cache| cache.get(source).cloned()) {
        return known;
    }
    let compiled = Compiled::new(source).map(Rc::new);
    CACHE.with_borrow_mut(|cache| {
        if cache.len() >= CACHED {
            cache.clear();
        }
        cache.insert(source.to_owned(), compiled.clone());
    });
    compiled
}

/// Clears this thread's cache, for a long-lived thread that has compiled many expressions.
pub fn forget() {
    CACHE.take();
}

impl Compiled {
    fn new(source: &str) -> Result<Self, Mistake> {
        let invalid = |reason: String| Mistake::new(Code::InvalidExpression, quoted(source, &reason));
        if source.is_empty() {
            return Err(invalid("it is empty".into()));
        }
        if source.len() > MAX_LENGTH {
            let message =
                format!("an expression of {} bytes is too long; at most {MAX_LENGTH}", source.len());
            return Err(Mistake::new(Code::InvalidExpression, message));
        }
        let scanned = scan::scan(source).map_err(&invalid)?;
        let text = scanned.text;
        let expression =
            environment().compile_expression_owned(text).map_err(|error| invalid(reason(&error)))?;
        let mut names = expression.undeclared_variables(true);
        names.extend(scanned.names);
        names.retain(|name| !FUNCTIONS.contains(&name.as_str()));
        let mut names: Vec<String> = names.into_iter().collect();
        names.sort();
        let mut roots: Vec<String> = names.iter().map(|name| root_of(name).to_owned()).collect();
        roots.sort();
        roots.dedup();
        let path = plain_path(source);
        Ok(Self { expression, source: source.to_owned(), roots, names, reads: scanned.reads, path })
    }

    /// The members of a root that are accessed by constant names, without duplicates.
    pub fn members<'c>(&'c self, root: &'c str) -> impl Iterator<Item = &'c str> {
        let mut last = "";
        self.names.iter().filter_map(move |name| {
            let member = name.strip_prefix(root)?.strip_prefix('.')?.split('.').next()?;
            let fresh = member != last;
            last = member;
            fresh.then_some(member)
        })
    }

    pub fn mentions(&self, root: &str) -> bool {
        self.roots.iter().any(|name| name == root)
    }

    /// # Errors
    /// When a name is undefined, or an operation fails.
    pub fn evaluate(&self, scope: &Scope<'_>) -> Result<Value, Mistake> {
        if let Some(value) = self.path.as_deref().and_then(|path| scope.walk(path)) {
            return Ok(value);
        }
        let value = within_budget(|| self.expression.eval(scope.context(self)));
        let value = value.map_err(|error| self.failed(&error, scope))?;
        if value.is_undefined() {
            return Err(self.failed(&ErrorKind::UndefinedError.into(), scope));
        }
        let json = serde_json::to_value(&value).map_err(|error| {
            Mistake::new(
                Code::InvalidExpression,
                quoted(&self.source, &format!("its result is not JSON: {error}")),
            )
        })?;
        if weight(&json) > MAX_RESULT {
            return Err(Mistake::new(
                Code::InvalidExpression,
                quoted(&self.source, "its result is too large"),
            ));
        }
        Ok(json)
    }

    fn failed(&self, error: &Error, scope: &Scope<'_>) -> Mistake {
        if error.kind() == ErrorKind::UndefinedError {
            return Mistake::new(Code::UndefinedName, quoted(&self.source, &self.undefined(scope)));
        }
        Mistake::new(Code::InvalidExpression, quoted(&self.source, &reason(error)))
    }

    /// The first undefined name.
    fn undefined(&self, scope: &Scope<'_>) -> String {
        for read in &self.reads {
            let Some(outputs) = scope.outputs.and_then(|outputs| outputs.get(&read.task)) else {
                return format!("the task `{}` has no outputs: it was not run", read.task);
            };
            let written = outputs.as_object();
            if let (Some(output), Some(written)) = (&read.output, written)
                && !written.contains_key(output)
            {
                let names = crate::nearest::listing(written.keys().map(String::as_str));
                let names = if names.is_empty() { "nothing".into() } else { names };
                return format!(
                    "the task `{}` reported no output `{output}`; it reported {names}",
                    read.task
                );
            }
        }
        for (root, values) in [("params", scope.params.map(Args::Plain)), ("args", scope.args)] {
            let missing =
                self.members(root).find(|name| values.is_none_or(|values| values.get(name).is_none()));
            if let Some(name) = missing {
                return format!("`{root}.{name}` has no value");
            }
        }
        "a name in it has no value".into()
    }
}

/// `{{ source }}: reason`.
fn quoted(source: &str, reason: &str) -> String {
    let shown: String = source.chars().take(80).collect();
    let dots = if shown.len() < source.len() { "..." } else { "" };
    format!("in the expression `{shown}{dots}`: {reason}")
}

/// The engine's message, without its file names.
fn reason(error: &Error) -> String {
    match (error.kind(), error.detail()) {
        (ErrorKind::OutOfFuel, _) => "it takes too many steps".into(),
        (_, Some(detail)) => detail.to_owned(),
        (kind, None) => kind.to_string(),
    }
}

/// `params.date` -> `params`.
fn root_of(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

/// The names of `args.rows.count`; `None` for anything but a plain path.
fn plain_path(source: &str) -> Option<Vec<String>> {
    source.split('.').all(scan::is_plain).then(|| source.split('.').map(str::to_owned).collect())
}

/// The approximate size of a value as JSON.
fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => 2 + items.iter().map(weight).sum::<usize>(),
        Value::Object(map) => 2 + map.iter().map(|(key, value)| key.len() + 3 + weight(value)).sum::<usize>(),
    }
}
