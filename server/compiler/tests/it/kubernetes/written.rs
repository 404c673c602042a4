//! Writes a variety of manifests to files for `tests/cluster/checks/acceptance.py`. There a real API server
//! and the real webhooks check what `properties` and `crds` check from transcribed rules.

use std::fs;
use std::path::PathBuf;

use cubeloom_compiler::lower::kubernetes::lower;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::json;

use super::{cluster, try_job, variety};

const CASES: usize = 100;

#[ignore = "writes files for a cluster"]
#[test]
fn a_variety_of_objects_is_written_down() {
    let folder = folder();
    let mut runner = TestRunner::default();
    for case in 0..CASES {
        let (task, facts) = variety::task_on_cluster().new_tree(&mut runner).unwrap().current();
        let (planned, kubernetes) = cluster(&facts);
        let made = lower(&try_job(&task, &planned).unwrap(), &kubernetes).unwrap();
        let text = json!({"task": task, "facts": facts, "objects": made.objects}).to_string();
        fs::write(folder.join(format!("{case:03}.json")), text).unwrap();
    }
}

#[expect(clippy::disallowed_methods, reason = "who checks the files says where they go")]
fn folder() -> PathBuf {
    let folder = std::env::var_os("CUBELOOM_TEST_OBJECTS").expect("CUBELOOM_TEST_OBJECTS names no folder");
    fs::create_dir_all(&folder).unwrap();
    folder.into()
}
