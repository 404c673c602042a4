//! The objects against the operators' own CRDs, where a folder of them is named: `CUBELOOM_TEST_CRDS=<folder>`. No CRD
//! is part of this repository; without the variable there is nothing to check, and `properties` checks what we know.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use cubeloom_compiler::lower::kubernetes::lower;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use serde_json::Value;

use super::{cluster, try_job, variety};

/// The schemas of CRDs below a folder, by `apiVersion` and `kind`.
fn schemas(folder: &Path) -> BTreeMap<(String, String), Value> {
    let files = [
        "kubeflow.org_pytorchjobs",
        "kubeflow.org_xgboostjobs",
        "kubeflow.org_mpijobs",
        "batch.volcano.sh_jobs",
    ];
    let mut found = BTreeMap::new();
    for path in below(folder)
        .into_iter()
        .filter(|path| files.iter().any(|name| path.ends_with(format!("{name}.yaml"))))
    {
        let crd = cubeloom_compiler::plain(&fs::read_to_string(&path).unwrap()).unwrap();
        let spec = &crd["spec"];
        for version in spec["versions"].as_array().unwrap() {
            let api = format!("{}/{}", spec["group"].as_str().unwrap(), version["name"].as_str().unwrap());
            let kind = spec["names"]["kind"].as_str().unwrap().to_owned();
            found.insert((api, kind), version["schema"]["openAPIV3Schema"].clone());
        }
    }
    found
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { below(&path) } else { vec![path] }).collect()
}

/// What a structural schema says against a value; a key that it does not know counts.
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
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        against(&schema["items"], item, &format!("{path}/{index}"), found);
    }
    if let Some(map) = value.as_object() {
        object(schema, map, path, found);
    }
}

fn object(schema: &Value, map: &serde_json::Map<String, Value>, path: &str, found: &mut Vec<String>) {
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !map.contains_key(name) {
            found.push(format!("{path}/{name} is missing"));
        }
    }
    let open = schema["x-kubernetes-preserve-unknown-fields"] == true || schema.get("properties").is_none();
    for (name, item) in map {
        let path = format!("{path}/{name}");
        match (schema["properties"].get(name), schema.get("additionalProperties")) {
            (Some(schema), _) | (None, Some(schema)) => against(schema, item, &path, found),
            (None, None) if open => {}
            (None, None) => found.push(format!("{path} is not known")),
        }
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a folder that only some machines have")]
fn objects_fit_the_crds() {
    let Some(folder) = std::env::var_os("CUBELOOM_TEST_CRDS") else {
        println!("skipped: CUBELOOM_TEST_CRDS names no folder of CRDs");
        return;
    };
    let mut schemas = schemas(Path::new(&folder));
    assert!(schemas.len() >= 4, "only {:?} have CRDs there", schemas.keys());
    // The pods of batch Jobs are of the form that operators' templates have.
    let operators = &schemas[&("kubeflow.org/v1".to_owned(), "PyTorchJob".to_owned())];
    let replicas = &operators["properties"]["spec"]["properties"]["pytorchReplicaSpecs"];
    let template = replicas["additionalProperties"]["properties"]["template"].clone();
    assert!(template.is_object());
    let batch = serde_json::json!({"properties": {
        "apiVersion": {}, "kind": {}, "metadata": {},
        "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"template": template}},
    }});
    schemas.insert(("batch/v1".into(), "Job".into()), batch);
    let seen = std::cell::RefCell::new(std::collections::BTreeSet::new());
    let all = TestRunner::default().run(&(variety::task(), variety::facts()), |(task, facts)| {
        let (facts, kubernetes) = cluster(&facts);
        let made = lower(&try_job(&task, &facts).unwrap(), &kubernetes).unwrap();
        for object in &made.objects {
            let text = |key: &str| object[key].as_str().unwrap().to_owned();
            let key = (text("apiVersion"), text("kind"));
            let Some(schema) = schemas.get(&key) else { continue };
            let mut found = Vec::new();
            against(schema, object, "", &mut found);
            prop_assert!(found.is_empty(), "{task}: {found:#?}");
            seen.borrow_mut().insert(key);
        }
        Ok(())
    });
    all.unwrap();
    assert_eq!(seen.borrow().len(), 5, "{:?}", seen.borrow());
}
