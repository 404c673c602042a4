//! CRDs as schemas, from the folder in `CUBELOOM_TEST_CRDS`. None is part of this repository.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;
use serde_json::Value;

/// By `apiVersion` and `kind`.
pub type Schemas = BTreeMap<(String, String), Value>;

/// The schemas of CRDs below the folder, by file name without extension; `None` without a folder.
#[expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a folder that only some machines have")]
pub fn schemas(files: &[&str]) -> Option<Schemas> {
    let Some(folder) = std::env::var_os("CUBELOOM_TEST_CRDS") else {
        println!("skipped: CUBELOOM_TEST_CRDS names no folder of CRDs");
        return None;
    };
    let mut found = Schemas::new();
    let wanted = |path: &PathBuf| files.iter().any(|name| path.ends_with(format!("{name}.yaml")));
    for path in below(Path::new(&folder)).into_iter().filter(wanted) {
        let crd = cubeloom_compiler::plain(&fs::read_to_string(&path).unwrap()).unwrap();
        let spec = &crd["spec"];
        for version in spec["versions"].as_array().unwrap() {
            let api = format!("{}/{}", spec["group"].as_str().unwrap(), version["name"].as_str().unwrap());
            let kind = spec["names"]["kind"].as_str().unwrap().to_owned();
            found.insert((api, kind), version["schema"]["openAPIV3Schema"].clone());
        }
    }
    assert!(found.len() >= files.len(), "only {:?} have CRDs there", found.keys());
    Some(found)
}

/// The violations of a schema by a value; an unknown key counts.
pub fn faults(schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    against(schema, value, "", &mut found);
    found
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { below(&path) } else { vec![path] }).collect()
}

fn against(schema: &Value, value: &Value, path: &str, found: &mut Vec<String>) {
    if schema["x-kubernetes-int-or-string"] == true {
        if !value.is_string() && !value.is_i64() {
            found.push(format!("{path}: neither a number nor a text"));
        }
        return;
    }
    let fits = match schema["type"].as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("boolean") => value.is_boolean(),
        _ => true,
    };
    if !fits {
        found.push(format!("{path}: {value} is no {}", schema["type"]));
    }
    if schema["enum"].as_array().is_some_and(|values| !values.contains(value)) {
        found.push(format!("{path}: {value} is none of {}", schema["enum"]));
    }
    if schema["minimum"].as_i64().is_some_and(|minimum| value.as_i64() < Some(minimum)) {
        found.push(format!("{path}: {value} is too small"));
    }
    if let Some(text) = value.as_str() {
        words(schema, text, path, found);
    }
    if let Some(items) = value.as_array() {
        bounds(schema, ["minItems", "maxItems"], items.len(), path, found);
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        against(&schema["items"], item, &format!("{path}/{index}"), found);
    }
    if let Some(map) = value.as_object() {
        object(schema, map, path, found);
    }
}

fn words(schema: &Value, text: &str, path: &str, found: &mut Vec<String>) {
    bounds(schema, ["minLength", "maxLength"], text.chars().count(), path, found);
    let pattern = schema["pattern"].as_str().map(|pattern| Regex::new(pattern).unwrap());
    if pattern.is_some_and(|pattern| !pattern.is_match(text)) {
        found.push(format!("{path}: {text:?} is not of the form {}", schema["pattern"]));
    }
}

fn bounds(schema: &Value, [least, most]: [&str; 2], count: usize, path: &str, found: &mut Vec<String>) {
    let count = count as u64;
    if schema[least].as_u64().is_some_and(|least| count < least)
        || schema[most].as_u64().is_some_and(|most| count > most)
    {
        found.push(format!("{path}: {count} are too few or too many"));
    }
}

fn object(schema: &Value, map: &serde_json::Map<String, Value>, path: &str, found: &mut Vec<String>) {
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !map.contains_key(name) {
            found.push(format!("{path}/{name} is missing"));
        }
    }
    // The API server adds its own rules for metadata to those of the kind.
    let open = schema["x-kubernetes-preserve-unknown-fields"] == true
        || schema.get("properties").is_none()
        || path == "/metadata";
    for (name, item) in map {
        let path = format!("{path}/{name}");
        match (schema["properties"].get(name), schema.get("additionalProperties")) {
            (Some(schema), _) | (None, Some(schema)) => against(schema, item, &path, found),
            (None, None) if open => {}
            (None, None) => found.push(format!("{path} is not known")),
        }
    }
}
