//! User-facing texts: in both languages, all of them used, and defined only in `texts/`.

#![allow(clippy::unwrap_used, reason = "helpers of tests, too")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Words that are the same in Chinese.
const SAME: &[&str] = &[
    "API",
    "CPU",
    "Slack",
    "CSV",
    "GPU",
    "JSON",
    "YAML",
    "URL",
    "ID",
    "OpenID Connect",
    "REST API",
    "Python",
    "curl",
    "Prometheus",
    "Grafana",
    "NVLink",
];

/// Names, symbols and samples in templates that are not translated.
const LITERAL: &[&str] = &["Cubeloom", "English", "GET", "POST"];

/// Every text, by `<area>.<key>`.
fn texts() -> BTreeMap<String, [String; 2]> {
    let mut all = BTreeMap::new();
    let folder = Path::new(ROOT).join("texts");
    for path in files(&folder, &["json"]).into_iter().filter(|path| path.parent() == Some(&folder)) {
        let area = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&path).unwrap();
        let both: BTreeMap<String, [String; 2]> =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        all.extend(both.into_iter().map(|(key, both)| (format!("{area}.{key}"), both)));
    }
    assert!(all.len() > 50, "the texts are found");
    all
}

/// Files of these kinds below a folder, without generated or downloaded ones.
pub fn files(folder: &Path, kinds: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() && !["node_modules", "dist"].iter().any(|name| path.ends_with(name)) {
            found.extend(files(&path, kinds));
        } else if path.extension().is_some_and(|kind| kinds.iter().any(|wanted| kind == *wanted)) {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The files that use texts: pages, templates and scripts; tests use none.
fn sources() -> Vec<(String, String)> {
    let folders: [(&str, &[&str]); 3] =
        [("server/web/src", &["rs"]), ("templates", &["html"]), ("frontend/src", &["ts", "tsx"])];
    let all = folders.iter().flat_map(|(folder, kinds)| files(&Path::new(ROOT).join(folder), kinds));
    let own = all.filter(|path| !path.to_string_lossy().ends_with(".test.ts"));
    own.map(|path| {
        let text = fs::read_to_string(&path).unwrap();
        (path.strip_prefix(ROOT).unwrap().display().to_string(), text)
    })
    .collect()
}

#[test]
fn every_text_is_there_in_both_languages() {
    let placeholder = Regex::new(r"\{[a-z_]+\}").unwrap();
    let places = |text: &str| -> BTreeSet<String> {
        placeholder.find_iter(text).map(|found| found.as_str().to_owned()).collect()
    };
    let is_chinese = |text: &str| text.chars().any(|letter| ('\u{4e00}'..='\u{9fff}').contains(&letter));
    let mut wrong = Vec::new();
    for (key, [english, chinese]) in texts() {
        if english.trim().is_empty() || chinese.trim().is_empty() {
            wrong.push(format!("{key} is empty"));
        }
        if places(&english) != places(&chinese) {
            wrong.push(format!("{key}: `{english}` and `{chinese}` have other placeholders"));
        }
        if is_chinese(&english) && english != "中文" {
            wrong.push(format!("{key}: `{english}` is not English"));
        }
        let has_words =
            placeholder.replace_all(&english, "").chars().filter(|c| c.is_alphabetic()).count() > 1;
        if has_words
            && english == chinese
            && !SAME.contains(&english.as_str())
            && !LITERAL.contains(&english.as_str())
        {
            wrong.push(format!("{key}: `{english}` is not translated"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_text_is_used_and_every_key_has_a_text() {
    let texts = texts();
    let areas: BTreeSet<&str> =
        texts.keys().filter_map(|key| key.split_once('.')).map(|(area, _)| area).collect();
    let areas = areas.into_iter().collect::<Vec<_>>().join("|");
    // A key, or the prefix of a composed one: "common.state-{state}".
    let key = Regex::new(&format!(r#"["'`]((?:{areas})\.[a-z0-9_-]+)(["'`]|\{{|\$\{{)"#)).unwrap();
    let mut used = BTreeSet::new();
    let mut beginnings = BTreeSet::new();
    let mut unknown = Vec::new();
    for (path, text) in sources() {
        for found in key.captures_iter(&text) {
            let name = found[1].to_owned();
            if found[2].ends_with('{') {
                beginnings.insert(name);
            } else if texts.contains_key(&name) {
                used.insert(name);
            } else if !is_something_else(&name) {
                unknown.push(format!("{path}: {name}"));
            }
        }
    }
    let unused: Vec<&String> = texts
        .keys()
        .filter(|name| !used.contains(*name) && !beginnings.iter().any(|begin| name.starts_with(begin)))
        .collect();
    assert!(unknown.is_empty(), "keys without a text:\n{}", unknown.join("\n"));
    assert!(unused.is_empty(), "texts that nothing uses:\n{unused:#?}");
}

/// Names that look like keys: audit actions and file names.
fn is_something_else(name: &str) -> bool {
    let rest = name.split_once('.').map_or("", |(_, rest)| rest);
    let actions = [
        "create", "update", "delete", "put", "remove", "start", "cancel", "resume", "rerun", "add", "export",
    ];
    actions.contains(&rest)
        || ["rs", "html", "css", "json", "ts", "tsx", "yaml", "tar", "rotate", "use"].contains(&rest)
}

#[test]
fn no_template_has_a_text_of_its_own() {
    let comment = Regex::new(r"(?s)\{#.*?#\}|<!--.*?-->").unwrap();
    let code = Regex::new(r"(?s)<(?:code|pre|kbd)\b.*?</(?:code|pre|kbd)>").unwrap();
    // Names for scripts, not for people.
    let page = Regex::new(r"\{% block page %\}.*?\{% endblock %\}").unwrap();
    let askama = Regex::new(r"(?s)\{\{.*?\}\}|\{%.*?%\}").unwrap();
    let spoken = Regex::new(r#"\b(?:title|placeholder|alt|aria-label)="([^"]*)""#).unwrap();
    let tag = Regex::new(r"(?s)<[^>]*>").unwrap();
    let entity = Regex::new(r"&[a-z]+;|&#[0-9]+;").unwrap();
    let word = Regex::new(r"[A-Za-z\u{4e00}-\u{9fff}]{2,}").unwrap();
    let mut found = Vec::new();
    for path in files(&Path::new(ROOT).join("templates"), &["html"]) {
        let text = fs::read_to_string(&path).unwrap();
        let text = comment.replace_all(&text, "");
        let text = code.replace_all(&text, "");
        let text = page.replace_all(&text, "");
        let text = askama.replace_all(&text, "");
        let attributes: Vec<String> = spoken.captures_iter(&text).map(|one| one[1].to_owned()).collect();
        let between = tag.replace_all(&text, "\n");
        let lines = between.lines().map(str::to_owned).chain(attributes);
        for line in lines {
            let line = entity.replace_all(&line, " ").trim().to_owned();
            if word.is_match(&line) && !is_sign(&line) {
                found.push(format!("{}: {line}", path.strip_prefix(ROOT).unwrap().display()));
            }
        }
    }
    assert!(found.is_empty(), "put these in texts/:\n{}", found.join("\n"));
}

fn is_sign(line: &str) -> bool {
    let mut words = line.split(|letter: char| !letter.is_alphanumeric()).filter(|word| word.len() > 1);
    words.all(|word| {
        LITERAL.contains(&word) || SAME.contains(&word) || word.chars().all(|c| c.is_ascii_digit())
    })
}

#[test]
fn no_script_shows_a_text_of_its_own() {
    // Text put on the page: the children of `h(...)`, `textContent`, titles and labels.
    let shown = Regex::new(
        r#"(?:textContent = |innerText = |placeholder: |title: |alt: |"aria-label": |ariaLabel = |toast\()["`]([^"`$]*[A-Za-z]{2,}[^"`]*)["`]"#,
    )
    .unwrap();
    let mut found = Vec::new();
    let scripts = |path: &str| path.ends_with(".ts") || path.ends_with(".tsx");
    for (path, text) in sources().into_iter().filter(|(path, _)| scripts(path)) {
        for one in shown.captures_iter(&text).filter(|one| !is_sign(&one[1])) {
            found.push(format!("{path}: {}", &one[1]));
        }
    }
    assert!(found.is_empty(), "put these in texts/:\n{}", found.join("\n"));
}
