//! The `hdfs-push` and `hdfs-pull` templates, with a real HDFS; what can go wrong with one is tested with the program itself,
//! in `server/storage`.

use std::fs;

use super::rig::{app, folder, run, shipped};
use crate::support::{Hdfs, instance, outputs, states};

#[test]
fn what_one_pipeline_pushes_another_pulls() {
    let (hdfs, app) = (Hdfs::start(), app());
    let namenode = format!("namenode={}", hdfs.said["hdfs"].as_str().unwrap());
    let user = format!("user={}", hdfs.said["user"].as_str().unwrap());
    let of_hdfs = ["-p", &*namenode, "-p", &*user];
    let push = shipped("task-templates/hdfs-push/example.yaml");
    let pull = shipped("task-templates/hdfs-pull/example.yaml");
    // Nobody has written anything yet: not one day is there.
    let nothing = run(&app, 0, &pull, &of_hdfs);
    assert_eq!(outputs(&nothing, "pull")["left_out"].as_array().unwrap().len(), 7);
    let pushed = run(&app, 0, &push, &of_hdfs);
    assert_eq!(states(&pushed), [("write", "succeeded"), ("push", "succeeded")]);
    assert_eq!(outputs(&pushed, "push")["files"], 1, "three small files are one");
    let pulled = run(&app, 0, &pull, &of_hdfs);
    let of_pull = outputs(&pulled, "pull");
    assert_eq!(of_pull["files"], 1);
    assert_eq!(of_pull["left_out"].as_array().unwrap().len(), 6);
    let days = fs::read_dir(folder(&pulled).join("week")).unwrap().map(|entry| entry.unwrap().path());
    let day = days.filter(|path| path.is_dir()).collect::<Vec<_>>().remove(0);
    assert!(day.file_name().unwrap().to_str().unwrap().starts_with("dt=20"), "{day:?}");
    let text = fs::read_to_string(day.join("merged-00000.csv")).unwrap();
    assert_eq!(text, "part,rows\n1,10\n2,20\n3,30\n");
    let counted = app.expect(0, &["logs", "latest", "count", "--worker", "worker-0", "--stdout"]).out;
    assert_eq!(counted.trim().rsplit(' ').next(), Some("4"));
    // Who may not write there is told so.
    let stranger = run(&app, 1, &push, &["-p", &namenode, "-p", "user=stranger"]);
    let failure = instance(&stranger, "push")["state"]["failure"].to_string();
    assert!(failure.contains("access was refused"), "{failure}");
}
