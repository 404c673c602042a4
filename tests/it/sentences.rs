//! The messages of the engine, the compiler, the clusters and the API: each has a Chinese translation in
//! `texts/sentences`.

#![allow(clippy::unwrap_used, reason = "helpers of tests, too")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use cubeloom_compiler::parse_template;
use cubeloom_web::said::is_known;
use regex::Regex;

use crate::texts::files;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// The crates whose messages appear on pages and in API responses.
const SOURCES: &[&str] = &[
    "domain",
    "admission",
    "compiler",
    "engine",
    "workers",
    "executor-local",
    "executor-kubernetes",
    "executor-slurm",
    "storage",
    "store",
    "web",
    "alerts",
    "monitoring",
];

/// Files whose messages go to a task's log, the command line or the server's own log, and one that matches
/// others' messages.
const ELSEWHERE: &[&str] = &[
    "server/domain/src/effective/cause.rs",
    // Each begins with its field, which is cut off before it is shown.
    "server/domain/src/slurm.rs",
    "server/domain/src/slurm/",
    "server/compiler/src/lower/slurm/script.rs",
    "server/executor-slurm/src/account.rs",
    "server/executor-slurm/src/fill.rs",
    "server/executor-slurm/src/orders.rs",
    "server/executor-slurm/src/places.rs",
    "server/executor-slurm/src/verdict.rs",
    "server/executor-slurm/src/worker.rs",
    "server/executor-local/src/alone.rs",
    "server/storage/src/transfer/",
    "server/storage/src/snapshot/",
    "server/admission/src/simulate/",
    "server/admission/src/check.rs",
    "server/executor-local/src/check.rs",
    "server/monitoring/src/queries.rs",
    // Problems of the configuration.
    "server/monitoring/src/advice/thresholds.rs",
    "server/executor-local/src/cgroup/",
    "server/workers/src/outputs.rs",
    "server/executor-kubernetes/src/outputs.rs",
    // Shown in place of the stack frames of a hanging worker.
    "server/executor-kubernetes/src/stacks.rs",
    "server/executor-local/src/python/interpreter.rs",
    "server/executor-local/src/python/uv.rs",
    "server/executor-local/src/sandbox.rs",
    "server/executor-local/src/shim/streams.rs",
    "server/executor-local/src/shim/view.rs",
    "server/store/",
    "server/web/src/api/complete.rs",
    "server/web/src/files/serve.rs",
    // Texts of lines that look like errors.
    "server/web/src/logs/errors.rs",
];

/// Texts that are no messages: headers, programs, documents, panic messages.
const OTHERS: &[&str] = &[
    "one binding a worker",
    "the engine could not start",
    "enter its control group",
    "<folder of the volume {name}>",
    "curl {}/api/v1",
    "tasks:\n  - name",
    "the password cannot be hashed",
    // Container runtime messages to match, and endings of the messages derived from them.
    "executable file not found in $PATH",
    "no such file or directory",
    "argument list too long",
    "Unable to contact slurm",
    "Unable to connect to database",
    "Connection timed out",
    "Socket timed out",
    "Zero Bytes were transmitted",
    "job submit limit",
    "Unable to create job record",
    "Transport endpoint is not connected",
    "Unexpected message received",
    "Unexpected missing socket error",
    "Protocol authentication error",
    "temporarily unable to accept job",
    "Resource temporarily unavailable",
    "in standby mode",
    "Nothing new added",
    "Submitted batch job",
    "slurm_load_node error",
    // Script lines that find an image, and the paths that lead to it.
    "# The image in which",
    "[ -e \"$image\" ]",
    "APPTAINER_CACHEDIR=",
    "ENROOT_CACHE_PATH=",
    "USER=$(id -un)",
    "was not found on the PATH",
    "does not exist",
    "may not be read or executed",
    "has arguments that are too long",
    // Shown among the stack frames of a hanging worker.
    "the rest did not respond",
    "has no name and",
    " and not {count} times",
    "placement (but labels",
    "# Exported from Cubeloom.",
    // Spark properties.
    "spark.",
    // A shell script that lists a folder.
    "if test \"$@\"",
    // A terminal's shell script.
    "command -v bash",
    "  printf '[exit code",
    "printf '%s\\n' {}; cat",
    // uv messages to match.
    "building from source is disabled",
    // Expressions and commands that an import writes.
    "{{{{ [",
    "echo 'import",
];

/// Text around a part of a message.
const BEFORE: &[&str] = &["", "‹a›", "‹a› ", "the path `‹a›` ", "requests ‹a› CPU, ‹b› "];
const AFTER: &[&str] = &["", "‹z›", ": ‹z›"];

#[test]
fn every_sentence_of_the_server_has_its_chinese() {
    let mut missing = Vec::new();
    let mut seen = 0;
    for source in SOURCES {
        for path in files(&Path::new(ROOT).join("server").join(source).join("src"), &["rs"]) {
            let name = path.strip_prefix(ROOT).unwrap().display().to_string();
            if ELSEWHERE.iter().any(|elsewhere| name.starts_with(elsewhere)) || name.contains("tests") {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let own = text.split("#[cfg(test)]").next().unwrap();
            for sentence in sentences(own) {
                seen += 1;
                if !is_said(&sentence) {
                    missing.push(format!("{name}: {sentence}"));
                }
            }
        }
    }
    assert!(seen > 300, "the sentences are found: {seen}");
    assert!(missing.is_empty(), "put these into texts/sentences:\n{}", missing.join("\n"));
}

#[test]
fn what_templates_say_of_outputs_and_wrong_arguments_has_its_chinese() {
    let place = Regex::new(r"\{\{.*?\}\}").unwrap();
    let (mut missing, mut seen) = (Vec::new(), 0);
    for path in files(&Path::new(ROOT).join("task-templates"), &["yaml"]) {
        if !path.ends_with("template.yaml") {
            continue;
        }
        let template = parse_template(&fs::read_to_string(&path).unwrap()).unwrap();
        let outputs = template.outputs.iter().filter_map(|output| output.description.as_deref());
        for sentence in outputs.chain(template.checks.iter().map(|check| check.says.as_str())) {
            seen += 1;
            if !is_known(&place.replace_all(sentence, "‹1›")) {
                missing.push(format!("{}: {sentence}", template.name));
            }
        }
    }
    assert!(seen > 100, "the sentences are found: {seen}");
    assert!(missing.is_empty(), "put these into texts/sentences:\n{}", missing.join("\n"));
}

#[test]
fn sentences_have_the_same_values_in_both_languages() {
    let place = Regex::new(r"\{[a-z_]+\}").unwrap();
    let places = |text: &str| {
        let mut found: Vec<String> = place.find_iter(text).map(|found| found.as_str().to_owned()).collect();
        found.sort();
        found.dedup();
        found
    };
    let folder = Path::new(ROOT).join("texts/sentences");
    let mut wrong = Vec::new();
    for path in files(&folder, &["json"]) {
        let both: BTreeMap<String, String> =
            serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        for (english, chinese) in both {
            let is_chinese = chinese.chars().any(|letter| ('\u{4e00}'..='\u{9fff}').contains(&letter));
            if places(&english) != places(&chinese) || !(is_chinese || english == chinese) {
                wrong.push(format!("{english}: {chinese}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A value in a message, as in the source.
static VALUE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\{[^{}]*\}").unwrap());
/// A value that brings the space after it.
static BEFORE_A_WORD: LazyLock<Regex> = LazyLock::new(|| Regex::new("›([a-z])").unwrap());
/// A value that may be empty.
static BEHIND_A_WORD: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("([a-z])‹[0-9]+›|(`)‹[0-9]+›( )").unwrap());

/// Whether a message is known, alone or as part of a longer one.
fn is_said(sentence: &str) -> bool {
    let mut n = 0;
    let braces = sentence.replace("{{", "\u{1}").replace("}}", "\u{2}");
    let sample = VALUE.replace_all(&braces, |_: &regex::Captures<'_>| {
        n += 1;
        format!("‹{n}›")
    });
    let sample = sample.replace('\u{1}', "{").replace('\u{2}', "}");
    // A value right after a word or at the end may be empty. One before a word brings its own space.
    let bare = sample.strip_suffix(&format!("‹{n}›")).map(ToOwned::to_owned);
    let spaced = BEFORE_A_WORD.replace_all(&sample, "› $1").into_owned();
    let tight = BEHIND_A_WORD.replace_all(&sample, "$1$2$3").into_owned();
    let forms = [Some(sample), bare, Some(spaced), Some(tight)];
    let around = |form: &String| {
        BEFORE.iter().any(|before| AFTER.iter().any(|after| is_known(&format!("{before}{form}{after}"))))
    };
    forms.iter().flatten().any(around)
}

/// The readable texts in a source file: three words or more, in lower case.
fn sentences(program: &str) -> Vec<String> {
    let words = Regex::new(r"[A-Za-z][a-z']+").unwrap();
    let spoken = Regex::new(r"[a-z}`)] [a-z{`(]").unwrap();
    let place = Regex::new(r"\{[^}]*\}").unwrap();
    let sql = Regex::new(r"^\s*\(?(SELECT|INSERT|UPDATE|DELETE|CREATE|WITH|ALTER|PRAGMA|AND|WHERE|ORDER)\b")
        .unwrap();
    let unseen = Regex::new(
        r"(?s)(?:(?:description|reason|example|summary|tag|path)\s*=\s*|(?:expect|sqlx::query\w*|unreachable!|panic!|assert!|starts_with|ends_with|strip_prefix|contains|split_once|split)\(\s*|(?:debug|info|warn|error|trace)!\([^;]*)$",
    )
    .unwrap();
    let mut found = Vec::new();
    for (before, text) in literals(program) {
        let plain = place.replace_all(&text, "x");
        let is_sentence = words.find_iter(&plain).count() >= 3 && spoken.is_match(&plain);
        let other = OTHERS.iter().any(|other| text.starts_with(other));
        if is_sentence && !other && !sql.is_match(&text) && !unseen.is_match(&before) {
            found.push(text);
        }
    }
    found
}

/// The string literals of a source file, each with the preceding code.
fn literals(program: &str) -> Vec<(String, String)> {
    // The first match wins: a comment, a character, a raw string or a string.
    let token =
        Regex::new(r##"(?s)//[^\n]*|b?'(?:[^'\\\n]|\\.[^']*)'|r#+".*?"#+|b?r?"((?:[^"\\]|\\.)*)""##).unwrap();
    let goes_on = Regex::new(r"\\\n\s*").unwrap();
    let mut found = Vec::new();
    for one in token.captures_iter(program) {
        let Some(text) = one.get(1) else { continue };
        let start = one.get(0).unwrap().start();
        let from =
            (0..=start.saturating_sub(160)).rev().find(|at| program.is_char_boundary(*at)).unwrap_or(0);
        let text = goes_on.replace_all(text.as_str(), "").replace(r"\\", "\u{3}").replace("\\\"", "\"");
        let text = text.replace("\\n", "\n").replace('\u{3}', "\\");
        found.push((program[from..start].to_owned(), text));
    }
    found
}
