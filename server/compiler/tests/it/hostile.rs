//! No input causes a panic or a hang. The fuzz targets in `fuzz/` call the same functions for longer.

use cubeloom_compiler::{check_pipeline, check_template, parse_pipeline, parse_template, validate};
use cubeloom_domain::executor::Facts;
use cubeloom_domain::{Bytes, Cpu, JsonMap, Span};
use proptest::prelude::*;

use crate::support::{fixtures, machine, repository, try_plan};

/// Valid documents to mutate.
fn seeds() -> Vec<String> {
    let below = |path: &str| std::fs::read_to_string(repository().join(path)).unwrap();
    let json = r#"{"apiVersion":"cubeloom/v1","kind":"Pipeline","name":"p","parameters":{"n":{"type":"integer","default":1}},
        "tasks":[{"name":"a","template":"echo","arguments":{"words":["{{ params.n }}"]},"retry":{"attempts":2}},
        {"name":"b","template":"mpi","needs":["a"],"when":"tasks.a.outputs.x > 1","for_each":{"matrix":{"k":[1,2]}}}]}"#;
    vec![
        below("examples/digits/pipeline.yaml"),
        below("task-templates/xgboost/template.yaml"),
        json.to_owned(),
    ]
}

/// A mutation of a text: a part cut, repeated, or inserted.
#[derive(Clone, Debug)]
struct Change {
    at: prop::sample::Index,
    length: usize,
    insert: String,
}

fn change() -> impl Strategy<Value = Change> {
    let insert = prop_oneof![
        Just(String::new()),
        Just("{{".to_owned()),
        Just("}}".to_owned()),
        Just(": ".to_owned()),
        Just("\n  - ".to_owned()),
        Just("&a ".to_owned()),
        Just("*a".to_owned()),
        Just("\"".to_owned()),
        Just("[".to_owned()),
        Just("{".to_owned()),
        Just("\t".to_owned()),
        Just("!!str ".to_owned()),
        Just("? ".to_owned()),
        Just("<<: ".to_owned()),
        Just("|\n".to_owned()),
        Just("99999999999999999999".to_owned()),
        Just("\u{feff}".to_owned()),
        Just("---\n".to_owned()),
        "\\PC{0,8}",
    ];
    (any::<prop::sample::Index>(), 0usize..12, insert).prop_map(|(at, length, insert)| Change {
        at,
        length,
        insert,
    })
}

fn apply(text: &str, changes: &[Change]) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for change in changes {
        let at = change.at.index(characters.len() + 1);
        let end = (at + change.length).min(characters.len());
        characters.splice(at..end, change.insert.chars());
    }
    characters.into_iter().collect()
}

/// Runs everything that parses a text.
fn swallow(text: &str) {
    let (templates, facts) = (fixtures(), machine());
    let _ = check_pipeline(text, &templates, &facts);
    if let Ok(document) = parse_pipeline(text) {
        validate(&document, &templates, &Facts::default());
        let _ = try_plan(text, JsonMap::new(), &templates, &facts);
    }
    if let Ok(template) = parse_template(text) {
        let _ = check_template(&template);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_survived(text in "\\PC{0,200}") {
        swallow(&text);
    }

    #[test]
    fn any_yaml_like_text_is_survived(text in "[a-z0-9:\\-\\[\\]{}&*!|>'\"#%@,? \t\n]{0,200}") {
        swallow(&text);
    }

    #[test]
    fn changed_documents_are_survived(seed in 0usize..3, changes in prop::collection::vec(change(), 1..6)) {
        swallow(&apply(&seeds()[seed], &changes));
    }

    #[test]
    fn any_expression_is_survived(text in "[a-z0-9_.'\"|()\\[\\]{}+~%<>=!, -]{0,80}") {
        let document = serde_json::json!({
            "apiVersion": "cubeloom/v1", "kind": "Pipeline", "name": "p",
            "tasks": [{"name": "a", "template": "echo", "arguments": {"words": [format!("{{{{ {text} }}}}")]}, "when": text}],
        });
        swallow(&document.to_string());
    }

    #[test]
    fn amounts_are_read_or_refused_and_written_back(text in "[0-9.]{0,12}[a-zA-Z]{0,3}") {
        if let Ok(amount) = text.parse::<Cpu>() {
            prop_assert_eq!(amount.to_string().parse::<Cpu>(), Ok(amount));
        }
        if let Ok(amount) = text.parse::<Bytes>() {
            prop_assert_eq!(amount.to_string().parse::<Bytes>(), Ok(amount));
        }
        if let Ok(span) = text.parse::<Span>() {
            prop_assert_eq!(span.to_string().parse::<Span>(), Ok(span));
        }
    }
}
