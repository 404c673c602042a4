//! The filters, tests and functions available to expressions: a small set, all pure and all bounded.
//!
//! Everything here that makes a longer text or list out of a short one, or iterates over one, is charged to a
//! budget. The engine's fuel counts instructions, and one instruction can produce a gigabyte. The expressions
//! of one document also share a budget, because thousands of cheap expressions cost as much as an expensive
//! one.

use std::borrow::Cow;
use std::cell::Cell;
use std::sync::OnceLock;

use minijinja::value::{Kwargs, Rest, Value, ValueOrKwargs};
use minijinja::{Environment, Error, ErrorKind, State, UndefinedBehavior, filters, tests};

use super::dates;

/// Instructions of one evaluation.
const FUEL: u64 = 100_000;
/// Bytes that the filters of one evaluation may write in total.
const BUDGET: usize = 8 << 20;
/// The same for all evaluations of one document.
const DOCUMENT: usize = 256 << 20;
/// Cost in bytes of each list item that is created or visited.
const ELEMENT: usize = 8;
/// Maximum number of items of a `range`.
const MAX_RANGE: i64 = 10_000;
/// The functions; every other undeclared name is an error.
pub const FUNCTIONS: [&str; 1] = ["range"];

thread_local! {
    static LEFT: Cell<usize> = const { Cell::new(BUDGET) };
    /// The remaining budget of the current document; `None` outside of a document.
    static OF_DOCUMENT: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Expressions evaluated while this value lives share one budget.
#[derive(Debug)]
pub struct OneDocument(Option<usize>);

impl OneDocument {
    pub fn begin() -> Self {
        Self(OF_DOCUMENT.replace(Some(DOCUMENT)))
    }
}

impl Drop for OneDocument {
    fn drop(&mut self) {
        OF_DOCUMENT.set(self.0);
    }
}

pub fn within_budget<T>(evaluate: impl FnOnce() -> T) -> T {
    let most = OF_DOCUMENT.get().map_or(BUDGET, |left| left.min(BUDGET));
    LEFT.set(most);
    let result = evaluate();
    let used = most - LEFT.get();
    OF_DOCUMENT.set(OF_DOCUMENT.get().map(|left| left - used));
    result
}

fn charge(bytes: usize) -> Result<(), Error> {
    match LEFT.get().checked_sub(bytes) {
        Some(left) => {
            LEFT.set(left);
            Ok(())
        }
        None if OF_DOCUMENT.get().is_some_and(|left| left < BUDGET) => {
            LEFT.set(0);
            Err(wrong("the document's expressions produce too much text in total"))
        }
        None => Err(wrong("the expression produces too much text")),
    }
}

/// Charges an iteration over a list.
fn charge_walk(list: &Value) -> Result<(), Error> {
    charge(list.len().unwrap_or(0).saturating_mul(ELEMENT))
}

/// Wraps a filter of the engine that iterates over a list, and charges for it.
macro_rules! walks {
    ($($name:ident($($argument:ident: $kind:ty),*) -> $result:ty, $state:ty;)*) => {
        $(fn $name(state: $state, list: Value, $($argument: $kind),*) -> Result<$result, Error> {
            charge_walk(&list)?;
            filters::$name(state, list, $($argument),*)
        })*
    };
}

walks! {
    map(how: Rest<ValueOrKwargs>) -> Vec<Value>, &mut State<'_, '_>;
    select(test: Option<Cow<'_, str>>, how: Rest<ValueOrKwargs>) -> Vec<Value>, &mut State<'_, '_>;
    reject(test: Option<Cow<'_, str>>, how: Rest<ValueOrKwargs>) -> Vec<Value>, &mut State<'_, '_>;
    selectattr(name: Cow<'_, str>, test: Option<Cow<'_, str>>, how: Rest<ValueOrKwargs>) -> Vec<Value>, &mut State<'_, '_>;
    rejectattr(name: Cow<'_, str>, test: Option<Cow<'_, str>>, how: Rest<ValueOrKwargs>) -> Vec<Value>, &mut State<'_, '_>;
    sort(how: Kwargs) -> Value, &State<'_, '_>;
    unique(how: Kwargs) -> Value, &State<'_, '_>;
    min(how: Kwargs) -> Value, &State<'_, '_>;
    max(how: Kwargs) -> Value, &State<'_, '_>;
    list() -> Value, &State<'_, '_>;
}

fn reverse(list: &Value) -> Result<Value, Error> {
    charge_walk(list)?;
    filters::reverse(list)
}

fn wrong(message: impl Into<Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::InvalidOperation, message)
}

/// The only environment: no templates, no loader, nothing beyond the items listed here.
pub fn environment() -> &'static Environment<'static> {
    static ENVIRONMENT: OnceLock<Environment<'static>> = OnceLock::new();
    ENVIRONMENT.get_or_init(|| {
        let mut env = Environment::empty();
        env.set_undefined_behavior(UndefinedBehavior::Strict);
        env.set_fuel(Some(FUEL));
        env.set_recursion_limit(100);
        add_filters(&mut env);
        add_tests(&mut env);
        env.add_function("range", range);
        env
    })
}

fn add_filters(env: &mut Environment<'static>) {
    env.add_filter("lower", filters::lower);
    env.add_filter("upper", filters::upper);
    env.add_filter("trim", filters::trim);
    env.add_filter("length", filters::length);
    env.add_filter("default", filters::default);
    env.add_filter("round", filters::round);
    env.add_filter("abs", filters::abs);
    env.add_filter("int", filters::int);
    env.add_filter("float", filters::float);
    env.add_filter("string", filters::string);
    env.add_filter("bool", filters::bool);
    env.add_filter("first", filters::first);
    env.add_filter("last", filters::last);
    env.add_filter("min", min);
    env.add_filter("max", max);
    env.add_filter("sort", sort);
    env.add_filter("reverse", reverse);
    env.add_filter("unique", unique);
    env.add_filter("list", list);
    env.add_filter("items", filters::items);
    env.add_filter("map", map);
    env.add_filter("select", select);
    env.add_filter("reject", reject);
    env.add_filter("selectattr", selectattr);
    env.add_filter("rejectattr", rejectattr);
    env.add_filter("split", filters::split);
    env.add_filter("sum", sum);
    env.add_filter("times", times);
    env.add_filter("join", join);
    env.add_filter("replace", replace);
    env.add_filter("tojson", to_json);
    env.add_filter("days", dates::days);
    env.add_filter("weeks", dates::weeks);
    env.add_filter("months", dates::months);
    env.add_filter("hours", dates::hours);
    env.add_filter("minutes", dates::minutes);
    env.add_filter("days_until", dates::days_until);
    env.add_filter("timezone", dates::timezone);
    env.add_filter("format", dates::format);
}

fn add_tests(env: &mut Environment<'static>) {
    env.add_test("defined", tests::is_defined);
    env.add_test("undefined", tests::is_undefined);
    env.add_test("none", tests::is_none);
    env.add_test("boolean", tests::is_boolean);
    env.add_test("number", tests::is_number);
    env.add_test("integer", tests::is_integer);
    env.add_test("string", tests::is_string);
    env.add_test("sequence", tests::is_sequence);
    env.add_test("mapping", tests::is_mapping);
    env.add_test("odd", tests::is_odd);
    env.add_test("even", tests::is_even);
    env.add_test("date", dates::is_date);
    env.add_test("interval", is_interval);
    env.add_test("startingwith", tests::is_startingwith);
    env.add_test("endingwith", tests::is_endingwith);
    env.add_test("eq", tests::is_eq);
    env.add_test("ne", tests::is_ne);
    env.add_test("lt", tests::is_lt);
    env.add_test("le", tests::is_le);
    env.add_test("gt", tests::is_gt);
    env.add_test("ge", tests::is_ge);
}

/// Whether the first of several numbers is below the second.
fn is_interval(values: &Value) -> bool {
    let number = |at: usize| values.get_item_by_index(at).ok().and_then(|value| f64::try_from(value).ok());
    matches!((number(0), number(1)), (Some(low), Some(high)) if low < high)
}

/// `range(stop)`, `range(start, stop)`, `range(start, stop, step)`.
fn range(bounds: Rest<i64>) -> Result<Vec<i64>, Error> {
    let (start, stop, step) = match bounds.as_slice() {
        [stop] => (0, *stop, 1),
        [start, stop] => (*start, *stop, 1),
        [start, stop, step] => (*start, *stop, *step),
        _ => return Err(wrong("range takes one, two or three numbers")),
    };
    if step == 0 {
        return Err(wrong("the step of a range cannot be 0"));
    }
    let distance = if step > 0 { stop.saturating_sub(start) } else { start.saturating_sub(stop) };
    let (distance, size) = (distance.max(0).unsigned_abs(), step.unsigned_abs());
    let count = i64::try_from(distance.div_ceil(size)).unwrap_or(i64::MAX);
    if count > MAX_RANGE {
        return Err(wrong(format!("the range has {count} elements; at most {MAX_RANGE} are allowed")));
    }
    charge(usize::try_from(count).unwrap_or(usize::MAX).saturating_mul(ELEMENT))?;
    Ok((0..count).map(|at| start + at * step).collect())
}

/// Numbers only: see `scan` for why there is no `*`.
fn times(left: &Value, right: &Value) -> Result<Value, Error> {
    if let (Some(left), Some(right)) = (left.as_i64(), right.as_i64()) {
        return left.checked_mul(right).map(Value::from).ok_or_else(|| wrong("the product is too large"));
    }
    match (f64::try_from(left.clone()), f64::try_from(right.clone())) {
        (Ok(left), Ok(right)) if left.is_finite() && right.is_finite() => Ok(Value::from(left * right)),
        _ => Err(wrong("times multiplies two numbers")),
    }
}

fn sum(values: &Value) -> Result<Value, Error> {
    charge_walk(values)?;
    let mut whole: Option<i64> = Some(0);
    let mut total = 0.0;
    for value in values.try_iter()? {
        if !value.is_number() {
            return Err(wrong("sum adds numbers"));
        }
        whole = whole.and_then(|sum| sum.checked_add(value.as_i64()?));
        total += f64::try_from(value)?;
    }
    Ok(whole.map_or(Value::from(total), Value::from))
}

fn join(values: &Value, separator: Option<&str>) -> Result<String, Error> {
    let mut text = String::new();
    for (at, value) in values.try_iter()?.enumerate() {
        let before = text.len();
        if at > 0 {
            text.push_str(separator.unwrap_or_default());
        }
        match value.as_str() {
            Some(part) => text.push_str(part),
            None => text.push_str(&value.to_string()),
        }
        charge(text.len() - before)?;
    }
    Ok(text)
}

fn replace(text: &str, from: &str, to: &str) -> Result<String, Error> {
    let found = text.matches(from).count();
    charge(text.len().saturating_add(found.saturating_mul(to.len())))?;
    Ok(text.replace(from, to))
}

/// As JSON on one line.
fn to_json(value: &Value) -> Result<String, Error> {
    let text = serde_json::to_string(value).map_err(|error| wrong(error.to_string()))?;
    charge(text.len())?;
    Ok(text)
}
