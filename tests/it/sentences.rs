//! The sentences of the engine, the compiler, the clusters and the API: each has its Chinese in `texts/sentences`.

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

/// Where sentences come from that pages and answers of the API show.
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

/// Files whose sentences go elsewhere: into a task's log, to the command line, to the server's own
/// log; and one with what others say, to be found in their words.
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
    // What is wrong with the configuration.
    "server/monitoring/src/advice/thresholds.rs",
    "server/executor-local/src/cgroup/",
    "server/workers/src/outputs.rs",
    "server/executor-kubernetes/src/outputs.rs",
    // Stand in the place of the frames of a worker that hangs.
    "server/executor-kubernetes/src/stacks.rs",
    "server/executor-local/src/python/interpreter.rs",
    "server/executor-local/src/python/uv.rs",
    "server/executor-local/src/sandbox.rs",
    "server/executor-local/src/shim/streams.rs",
    "server/executor-local/src/shim/view.rs",
    "server/store/",
    "server/web/src/api/complete.rs",
    "server/web/src/files/serve.rs",
];

/// Texts that are no sentences: headers, programs, documents, what a panic would say.
const OTHERS: &[&str] = &[
    "one binding a worker",
    "the engine could not start",
    "enter its control group",
    "<folder of the volume {name}>",
    "curl {}/api/v1",
    "tasks:\n  - name",
    "the password cannot be hashed",
    // What a container run-time says, to be found in its words; and ends of the sentences that follow from it.
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
    // Lines of scripts that find an image, and what leads into it.
    "# The image in which",
    "[ -e \"$image\" ]",
    "APPTAINER_CACHEDIR=",
    "ENROOT_CACHE_PATH=",
    "USER=$(id -un)",
    "was not found on the PATH",
    "does not exist",
    "may not be read or executed",
    "has arguments that are too long",
    // Stands among the frames of a worker that hangs.
    "the rest could not be looked at",
    // Put together with `are free` or `are all there is`.
    "asks for {} ",
    "has no name and",
    " and not {count} times",
    "placement (but labels",
    "# Exported from Cubeloom.",
    // Properties of Spark.
    "spark.",
    // What a shell is told that looks at a folder.
    "if test \"$@\"",
    // What a terminal's shell is told.
    "command -v bash",
    "  printf '[exit code",
    "printf '%s\\n' {}; cat",
    // What uv says, to be found in its words.
    "building from source is disabled",
    // Expressions and commands that an import writes.
    "{{{{ [",
    "echo 'import",
];

/// What stands before and after a part of a sentence.
const BEFORE: &[&str] = &["", "‹a›", "‹a› ", "the path `‹a›` ", "asks for ‹a› CPU, ‹b› "];
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

/// A value in a sentence, as the program writes it.
static VALUE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\{[^{}]*\}").unwrap());
/// A value that brings the space behind it.
static BEFORE_A_WORD: LazyLock<Regex> = LazyLock::new(|| Regex::new("›([a-z])").unwrap());
/// A value that may be empty.
static BEHIND_A_WORD: LazyLock<Regex> =
    LazyLock::new(|| Regex::new("([a-z])‹[0-9]+›|(`)‹[0-9]+›( )").unwrap());

/// Whether it is known, alone or as a part of a longer one.
fn is_said(sentence: &str) -> bool {
    let mut n = 0;
    let braces = sentence.replace("{{", "\u{1}").replace("}}", "\u{2}");
    let sample = VALUE.replace_all(&braces, |_: &regex::Captures<'_>| {
        n += 1;
        format!("‹{n}›")
    });
    let sample = sample.replace('\u{1}', "{").replace('\u{2}', "}");
    // A value right behind a word or at the end may be empty, one before a word brings its own space.
    let bare = sample.strip_suffix(&format!("‹{n}›")).map(ToOwned::to_owned);
    let spaced = BEFORE_A_WORD.replace_all(&sample, "› $1").into_owned();
    let tight = BEHIND_A_WORD.replace_all(&sample, "$1$2$3").into_owned();
    let forms = [Some(sample), bare, Some(spaced), Some(tight)];
    let around = |form: &String| {
        BEFORE.iter().any(|before| AFTER.iter().any(|after| is_known(&format!("{before}{form}{after}"))))
    };
    forms.iter().flatten().any(around)
}

/// The texts of a program that a person may read: three words or more, in small letters.
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

/// The text literals of a program, each with what stands before it.
fn literals(program: &str) -> Vec<(String, String)> {
    // A comment, a character, a raw text, a text: whatever begins first.
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
