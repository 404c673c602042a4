//! When a task runs: its dependencies, its condition, its items, and the reaction to a failure.

use std::sync::LazyLock;

use cubeloom_domain::TaskIx;
use cubeloom_domain::pipeline::{Task, TriggerRule};
use cubeloom_domain::plan::{ForEachItems, PlannedTask, RunPlan};
use regex::{Captures, Regex};
use serde_json::{Map, Value, json};

use super::Export;
use super::marks::{Reference, is_read, reference, task_name};
use crate::search::first_trials;

/// A reference that Argo may support too.
const NAME: &str = r#"params\.\w+|tasks(?:\.[\w-]+|\[['"][\w-]+['"]\])\.outputs\.\w+|item(?:\.\w+)?"#;
const TEXT: &str = r#"'[^']*'|"[^"]*""#;

static REFERENCE: Pattern = LazyLock::new(|| Regex::new(&format!(r"\b(?:{NAME})")).ok());
/// A reference, or a text literal outside of any reference.
static PART: Pattern = LazyLock::new(|| Regex::new(&format!(r"\b(?:{NAME})|({TEXT})")).ok());
/// A comparison of a reference with a text: Argo inserts values verbatim, so they need quotes.
static COMPARED: Pattern = LazyLock::new(|| Regex::new(&format!(r"\b({NAME})\s*(==|!=)\s*{ASIDE}")).ok());

/// Replaces the text literals of a condition, which contain no references or operators.
const ASIDE: char = '\u{E010}';

/// A task's dependencies, as Argo's `depends`.
pub fn depends(task: &Task) -> Option<String> {
    let each = |ends: &[&str], join: &str| {
        let one = |need: &String| {
            let need = task_name(need);
            let ends: Vec<String> = ends.iter().map(|end| format!("{need}.{end}")).collect();
            if ends.len() == 1 { ends.join("") } else { format!("({})", ends.join(" || ")) }
        };
        task.needs.iter().map(one).collect::<Vec<_>>().join(join)
    };
    if task.needs.is_empty() {
        return None;
    }
    const FINE: [&str; 3] = ["Succeeded", "Skipped", "Omitted"];
    let bad = ["Failed", "Errored"];
    let any = ["Succeeded", "Failed", "Errored", "Skipped", "Omitted"];
    Some(match task.trigger.unwrap_or_default() {
        TriggerRule::AllSuccess => each(&["Succeeded"], " && "),
        TriggerRule::AllDone => each(&any, " && "),
        TriggerRule::AllFailed => each(&bad, " && "),
        TriggerRule::OneFailed => each(&bad, " || "),
        TriggerRule::OneSuccess => each(&["Succeeded"], " || "),
        TriggerRule::NoneFailed => each(&FINE, " && "),
        TriggerRule::NoneFailedMinOneSuccess => {
            format!("{} && ({})", each(&FINE, " && "), each(&["Succeeded"], " || "))
        }
    })
}

/// The condition, if Argo can express it.
pub fn when(export: &mut Export, task: &Task) -> Option<String> {
    let source = task.when.as_ref()?;
    let bare = source.trim().trim_start_matches("{{").trim_end_matches("}}").trim();
    let texts = texts_of(bare);
    let aside = replaced(&PART, bare, |found| match found.get(1) {
        Some(_) => ASIDE.into(),
        None => found[0].to_owned(),
    });
    let rest = replaced(&REFERENCE, &aside, |_| "0".into());
    let plain = |c: char| c.is_alphanumeric() || c == ASIDE || " <>=!().".contains(c);
    let mut words = rest.split(|c: char| !c.is_alphabetic() && c != ASIDE).filter(|word| !word.is_empty());
    let known = |word: &str| ["and", "or", "true", "false"].contains(&word) || word == ASIDE.to_string();
    // Argo would expand two braces in a text, and a quote would end it.
    let said = texts.iter().all(|text| !text.contains("{{") && !text.contains(['\'', '"', '\\']));
    if rest.chars().all(plain) && words.all(known) && said {
        for found in REFERENCE.as_ref().into_iter().flat_map(|pattern| pattern.find_iter(&aside)) {
            if let Some(Reference::Local { output: Some((name, output)), .. }) = reference(found.as_str()) {
                export.read.entry(name).or_default().insert(output);
            }
        }
        return Some(condition(&aside, &texts));
    }
    export
        .say(format!("the condition of `{}` cannot be expressed in Argo, and is omitted: {bare}", task.name));
    None
}

/// The text literals that a condition compares with.
fn texts_of(bare: &str) -> Vec<&str> {
    let found = PART.as_ref().into_iter().flat_map(|pattern| pattern.captures_iter(bare));
    let texts = found.filter_map(|part| part.get(1));
    texts.map(|text| &bare[text.start() + 1..text.end() - 1]).collect()
}

/// A condition with Argo's references and operators.
fn condition(aside: &str, texts: &[&str]) -> String {
    let compared = replaced(&COMPARED, aside, |found| format!("'{}' {} {ASIDE}", argo(&found[1]), &found[2]));
    let written = replaced(&REFERENCE, &compared, |found| {
        let start = found.get(0).map_or(0, |all| all.start());
        // References already written are in braces.
        if compared[..start].ends_with(['{', '.']) { found[0].to_owned() } else { argo(&found[0]) }
    });
    let written = written.replace(" and ", " && ").replace(" or ", " || ");
    texts.iter().fold(written, |written, text| written.replacen(ASIDE, &format!("'{text}'"), 1))
}

type Pattern = LazyLock<Option<Regex>>;

fn replaced(pattern: &Pattern, text: &str, with: impl Fn(&Captures<'_>) -> String) -> String {
    pattern.as_ref().map_or_else(|| text.to_owned(), |pattern| pattern.replace_all(text, with).into_owned())
}

fn argo(expression: &str) -> String {
    match reference(expression) {
        Some(Reference::Global(text) | Reference::Local { text, .. }) => text,
        None => expression.to_owned(),
    }
}

/// The items of a loop: `withItems` or `withParam`.
pub fn elements(export: &mut Export, task: &Task, plan: &RunPlan, at: TaskIx, out: &mut Map<String, Value>) {
    let planned = plan.task(at);
    let Some(for_each) = &planned.for_each else { return };
    match &for_each.items {
        ForEachItems::Known(items) => {
            if items.iter().any(|item| is_read(&item.to_string())) {
                export.say(format!("an item of `{}` has two braces or `$(`, which Argo and Kubernetes would interpret: write it differently", task.name));
            }
            out.insert("withItems".into(), json!(items));
        }
        ForEachItems::Expression(source) => {
            let bare = source.trim().trim_start_matches("{{").trim_end_matches("}}").trim();
            match reference(bare) {
                Some(Reference::Local { text, output: Some((name, output)), .. }) => {
                    export.read.entry(name).or_default().insert(output);
                    out.insert("withParam".into(), json!(text));
                }
                _ => export.say(format!("the items of `{}` cannot be expressed in Argo: {bare}", task.name)),
            }
        }
        ForEachItems::Search(search) => {
            let trials = first_trials(plan, at);
            export.say(format!(
                "the search of `{}` becomes its first {} of {} trials; Argo compares no trials, and starts no others",
                task.name,
                trials.len(),
                search.trials
            ));
            out.insert("withItems".into(), json!(trials));
        }
    }
    if for_each.parallelism.is_some() {
        export.say(format!("not carried over: `for_each.parallelism` of `{}`", task.name));
    }
}

/// Retries and the timeout of each attempt. Argo's schema has strings for numbers that may be expressions.
pub fn failures(export: &mut Export, task: &Task, planned: &PlannedTask, out: &mut Map<String, Value>) {
    if let Some(limit) = planned.timeout {
        out.insert("activeDeadlineSeconds".into(), json!(limit.0.as_secs().max(1).to_string()));
    }
    let Some(retry) = planned.retry.as_ref().filter(|retry| retry.attempts > 1) else { return };
    let seconds = |span: std::time::Duration| format!("{}s", span.as_secs().max(1));
    let factor = retry.factor.round().max(1.0) as i64;
    out.insert(
        "retryStrategy".into(),
        json!({
            "limit": (retry.attempts - 1).to_string(),
            "retryPolicy": "Always",
            "backoff": {"duration": seconds(retry.initial.0), "factor": factor.to_string(), "cap": seconds(retry.max.0)},
        }),
    );
    if task.retry.as_ref().is_some_and(|retry| retry.on.is_some()) {
        export.say(format!(
            "not carried over: `retry.on` of `{}`: Argo retries after every failure",
            task.name
        ));
    }
}
