//! Parameters of a run: valid declarations, and values that fit them.

use cubeloom_domain::json::{exact, is_large_integer, is_whole};
use cubeloom_domain::pipeline::{Parameter, ParameterType, Parameters};
use cubeloom_domain::{Code, JsonMap, Problem};
use serde_json::Value;

use crate::expression::has_expression;
use crate::nearest::{hint, listing};

/// Checks a declaration: its name, its bounds, its default.
pub fn declaration(name: &str, parameter: &Parameter, problems: &mut Vec<Problem>) {
    let path = format!("/parameters/{name}");
    if !crate::parse::is_variable(name) {
        let message = format!("`{name}` cannot be written as `params.{name}`: use letters, digits and `_`");
        problems.push(Problem::error(Code::InvalidName, path.clone(), message));
    }
    let numeric = matches!(parameter.kind, ParameterType::Integer | ParameterType::Number);
    if (parameter.minimum.is_some() || parameter.maximum.is_some()) && !numeric {
        let message = "`minimum` and `maximum` are for numbers";
        problems.push(Problem::error(Code::Conflict, path.clone(), message));
    }
    if let (Some(minimum), Some(maximum)) = (parameter.minimum, parameter.maximum)
        && minimum > maximum
    {
        let message = format!("minimum ({minimum}) is more than maximum ({maximum})");
        problems.push(Problem::error(Code::Conflict, path.clone(), message));
    }
    match &parameter.default {
        // Known only when a run starts.
        Some(Value::String(text)) if has_expression(text) => {}
        Some(default) => {
            if let Err(reason) = fits(parameter, default) {
                let message = format!("the default {reason}");
                problems.push(Problem::error(Code::InvalidParameter, format!("{path}/default"), message));
            }
        }
        None => {}
    }
}

/// Whether a declaration allows a value.
///
/// # Errors
/// The problem, as the rest of a sentence about the value.
pub fn fits(parameter: &Parameter, value: &Value) -> Result<(), String> {
    let (is_type, expected) = match parameter.kind {
        ParameterType::String => (value.is_string(), "text"),
        ParameterType::Integer if is_large_integer(value) => (false, "a whole number of at most 64 bits"),
        ParameterType::Integer => (is_whole(value), "a whole number"),
        ParameterType::Number => (value.is_number(), "a number"),
        ParameterType::Boolean => (value.is_boolean(), "true or false"),
        ParameterType::Date => (is_date(value), "a date such as 2026-01-31"),
        ParameterType::List => (value.is_array(), "a list"),
        ParameterType::Object => (value.is_object(), "a mapping"),
    };
    if !is_type {
        return Err(format!("must be {expected}, not {}", shown(value)));
    }
    if let Some(choices) = &parameter.choices
        && !choices.contains(value)
    {
        let listed = choices.iter().map(shown).collect::<Vec<_>>().join(", ");
        return Err(format!("must be one of {listed}, not {}", shown(value)));
    }
    let Some(number) = value.as_f64() else { return Ok(()) };
    if let Some(minimum) = parameter.minimum.filter(|minimum| number < *minimum) {
        return Err(format!("must be at least {minimum}, not {value}"));
    }
    if let Some(maximum) = parameter.maximum.filter(|maximum| number > *maximum) {
        return Err(format!("must be at most {maximum}, not {value}"));
    }
    Ok(())
}

fn is_date(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.len() == 10 && text.parse::<jiff::civil::Date>().is_ok())
}

/// A value for a message, truncated if long.
fn shown(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 60 {
        text
    } else {
        format!("{}...", text.chars().take(57).collect::<String>())
    }
}

/// Checks the parameter values of a run, adds problems, and returns the accepted values. A text for a
/// parameter of another type is parsed as that type, because the command line has only texts.
pub fn accept(declared: &Parameters, given: &JsonMap, problems: &mut Vec<Problem>) -> JsonMap {
    let mut accepted = JsonMap::new();
    for (name, value) in given {
        let path = format!("/parameters/{name}");
        let Some(parameter) = declared.get(name) else {
            let names = || declared.keys().map(String::as_str);
            let hint = hint(name, names());
            let hint = if hint.is_empty() { format!("; it has: {}", listing(names())) } else { hint };
            let message = format!("the pipeline has no parameter `{name}`{hint}");
            problems.push(Problem::error(Code::InvalidParameter, "/parameters", message));
            continue;
        };
        let value = read_as(parameter.kind, value);
        if let Err(reason) = fits(parameter, &value) {
            let message = format!("the parameter `{name}` {reason}");
            problems.push(Problem::error(Code::InvalidParameter, path, message));
        }
        accepted.insert(name.clone(), value);
    }
    accepted
}

fn read_as(kind: ParameterType, value: &Value) -> Value {
    match (kind, value) {
        (ParameterType::String | ParameterType::Date, _) => value.clone(),
        (_, Value::String(text)) => {
            serde_json::from_slice(&exact(text.as_bytes())).unwrap_or_else(|_| value.clone())
        }
        _ => value.clone(),
    }
}
