//! Checks the manifests against the operators' own CRDs; `properties` checks the rules known without them.

use cubeloom_compiler::lower::kubernetes::lower;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;

use super::{cluster, try_job, variety};
use crate::crds::{faults, schemas};

#[test]
fn objects_fit_the_crds() {
    let files = [
        "kubeflow.org_pytorchjobs",
        "kubeflow.org_xgboostjobs",
        "kubeflow.org_tfjobs",
        "kubeflow.org_jaxjobs",
        "kubeflow.org_paddlejobs",
        "kubeflow.org_mpijobs",
        "ray.io_rayjobs",
        "sparkoperator.k8s.io_sparkapplications",
        "batch.volcano.sh_jobs",
        "frameworkcontroller.microsoft.com_frameworks",
    ];
    let Some(mut schemas) = schemas(&files) else { return };
    // The pods of batch Jobs have the form of the operators' templates.
    let operators = &schemas[&("kubeflow.org/v1".to_owned(), "PyTorchJob".to_owned())];
    let replicas = &operators["properties"]["spec"]["properties"]["pytorchReplicaSpecs"];
    let template = replicas["additionalProperties"]["properties"]["template"].clone();
    assert!(template.is_object());
    let pod = serde_json::json!({"properties": {
        "apiVersion": {}, "kind": {}, "metadata": {}, "spec": template["properties"]["spec"],
    }});
    let batch = serde_json::json!({"properties": {
        "apiVersion": {}, "kind": {}, "metadata": {},
        "spec": {"type": "object", "x-kubernetes-preserve-unknown-fields": true, "properties": {"template": template}},
    }});
    schemas.insert(("batch/v1".into(), "Job".into()), batch);
    schemas.insert(("v1".into(), "Pod".into()), pod);
    let seen = std::cell::RefCell::new(std::collections::BTreeSet::new());
    let fits = |(task, facts): (String, String)| {
        let (facts, kubernetes) = cluster(&facts);
        let made = lower(&try_job(&task, &facts).unwrap(), &kubernetes).unwrap();
        for object in &made.objects {
            let text = |key: &str| object[key].as_str().unwrap().to_owned();
            let key = (text("apiVersion"), text("kind"));
            let Some(schema) = schemas.get(&key) else { continue };
            let found = faults(schema, object);
            prop_assert!(found.is_empty(), "{task}: {found:#?}");
            seen.borrow_mut().insert(key);
        }
        Ok(())
    };
    TestRunner::default().run(&variety::task_on_cluster(), fits).unwrap();
    // One cluster of six has this operator, and one task of many is for it.
    let facts = "kubernetes: {kinds: {frameworks.frameworkcontroller.microsoft.com/v1: {}}}";
    fits(("template: nni, arguments: {workers: 3}".into(), facts.into())).unwrap();
    assert_eq!(seen.borrow().len(), 12, "{:?}", seen.borrow());
}
