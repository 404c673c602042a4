//! The `spark` template: a standalone cluster with a driver, its master and executors; a driver alone; and
//! executors in a real YARN, which read and write a real HDFS.

#![allow(clippy::unwrap_used, reason = "helpers of tests, too")]

use std::fs;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};

use super::ledger::{PATIENCE, is_there, killing_a_worker_fails, of_worker, wait_for_none, worker_of};
use super::rig::{app, folder, job, run, shipped};
use crate::support::{Hdfs, TestApp, instance, outputs, states, wait_within};

/// How long YARN may take to finish an application whose driver is gone.
const DONE: Duration = Duration::from_secs(60);

#[test]
#[ignore = "needs 500 MB of packages, and Java: make test-templates"]
fn the_example_of_spark() {
    let app = app();
    let run = run(&app, 0, &shipped("task-templates/spark/example.yaml"), &[]);
    let files = fs::read_dir(shipped("task-templates/spark")).unwrap().flatten().map(|entry| entry.path());
    let texts =
        files.filter(|path| path.extension().is_some_and(|it| it == "py" || it == "md" || it == "yaml"));
    let words: usize = texts.map(|path| fs::read_to_string(path).unwrap().split_whitespace().count()).sum();
    let told = outputs(&run, "count");
    assert_eq!((&told["words"], &told["executors"]), (&words.into(), &2.into()), "{told}");
    assert!(folder(&run).join("counts/_SUCCESS").exists(), "Parquet was written whole");
    assert!(wait_for_none(&app).is_empty(), "master and executors are ended with the driver");
}

#[test]
#[ignore = "needs 500 MB of packages, and Java: make test-templates"]
fn spark_fails_as_its_program_does() {
    let app = app();
    let run = run(&app, 1, &job("spark"), &["-p", "then=fail"]);
    let failure = &instance(&run, "gang")["state"]["failure"];
    assert_eq!((&failure["kind"], &failure["exit_code"]), (&"exit".into(), &7.into()), "{failure}");
    assert_eq!(failure["worker"]["role"], "driver", "{failure}");
    assert!(wait_for_none(&app).is_empty());
}

/// Workers of other projects can reach its ports, too.
#[test]
#[ignore = "needs 500 MB of packages, and Java: make test-templates"]
fn spark_obeys_nobody_without_the_jobs_secret() {
    let app = app();
    run(&app, 0, &job("spark"), &["-p", "then=call"]);
    assert!(wait_for_none(&app).is_empty());
}

#[test]
#[ignore = "needs 500 MB of packages, and Java: make test-templates"]
fn spark_fails_when_an_executors_worker_is_killed() {
    killing_a_worker_fails(&app(), "spark", &["-p", "then=hold"], "executor", 1);
}

#[test]
#[ignore = "needs 500 MB of packages, and Java: make test-templates"]
fn spark_alone_uses_the_cores_that_it_has() {
    let app = app();
    let run = run(&app, 0, &job("spark-local"), &[]);
    let told = outputs(&run, "count");
    assert_eq!((&told["master"], &told["parallel"]), (&"local[2]".into(), &2.into()), "{told}");
    assert!(wait_for_none(&app).is_empty());
}

#[test]
#[ignore = "needs 500 MB of packages, and Java: make test-templates"]
fn spark_reads_and_writes_hdfs() {
    let (hdfs, app) = (Hdfs::with_yarn(), app());
    let run = counted(&app, &hdfs, "cluster", &[]);
    let told = outputs(&run, "count");
    assert!(told["master"].as_str().is_some_and(|master| master.starts_with("spark://")), "{told}");
    assert_eq!(told["executors"], 2, "{told}");
    assert_eq!(hdfs.applications(), []);
    let run = counted(&app, &hdfs, "local", &[]);
    assert_eq!(outputs(&run, "count")["master"], "local[1]");
}

#[test]
#[ignore = "needs 500 MB of packages, and Java: make test-templates"]
fn spark_on_yarn_has_executors_of_yarn() {
    let (hdfs, app) = (Hdfs::with_yarn(), app());
    let jars = jars(&app);
    let run = counted(&app, &hdfs, "yarn", &["-p", &jars]);
    let told = outputs(&run, "count");
    assert_eq!((&told["master"], &told["executors"]), (&"yarn".into(), &2.into()), "{told}");
    let [(number, state)] = &hdfs.applications()[..] else { panic!("{:?}", hdfs.applications()) };
    assert_eq!(state, "FINISHED");
    let facts = Hdfs::answer(&format!("{}/apps/{number}", hdfs.says("yarn")));
    let facts = &facts["app"];
    assert_eq!((&facts["user"], &facts["queue"]), (&"etl".into(), &"root.etl".into()), "{facts}");
    // The task ends with its program, and YARN keeps nothing.
    let failed = on_yarn(&app, &hdfs, &["-p", "then=fail", "-p", &jars]);
    let failure = &instance(&failed, "gang")["state"]["failure"];
    assert_eq!((&failure["kind"], &failure["exit_code"]), (&"exit".into(), &7.into()), "{failure}");
    wait_within(DONE, "the application to end", || alive(&hdfs).is_empty());
    assert!(wait_for_none(&app).is_empty());
}

#[test]
#[ignore = "needs 500 MB of packages, and Java: make test-templates"]
fn what_ends_a_driver_leaves_no_application_in_yarn() {
    let (mut hdfs, mut app) = (Hdfs::with_yarn(), app());
    let jars = jars(&app);
    // A driver takes some seconds to shut down, and the machine may be busy.
    app.set("CUBELOOM_LOCAL_GRACE", "50s");
    let pipeline = pipeline(&app, &hdfs, "spark-yarn");
    let words = ["run", &pipeline, "-p", "then=hold", "-p", &jars];
    let cancelled = |hdfs: &Hdfs, state: &str| {
        let running = app.start(&words);
        wait_within(PATIENCE, "the application", || alive(hdfs).iter().any(|found| found == state));
        app.expect(0, &["cancel", "latest"]);
        assert_eq!(running.wait().code, Some(3));
        assert_eq!(states(&app.latest()), [("gang", "cancelled")]);
        wait_within(DONE, "the application to end", || alive(hdfs).is_empty());
    };
    cancelled(&hdfs, "RUNNING");
    // No node manager starts its containers: YARN accepts the application, and the driver waits.
    hdfs.order("freeze nodemanager");
    cancelled(&hdfs, "ACCEPTED");
    hdfs.order("thaw nodemanager");
    // YARN gets no notice of a killed driver.
    let running = app.start(&words);
    wait_within(PATIENCE, "the program to run", || is_there(&app.data(), "runs", "busy"));
    assert_eq!(alive(&hdfs), ["RUNNING"]);
    kill_process(worker_of(&app, &json!({"pid": of_worker(&app, "driver", 0)})), Signal::KILL).unwrap();
    assert_eq!(running.wait().code, Some(1));
    wait_within(DONE, "the application to end", || alive(&hdfs).is_empty());
}

#[test]
#[ignore = "needs 500 MB of packages, and Java: make test-templates"]
fn a_yarn_that_cannot_take_the_job_is_told() {
    let (mut hdfs, app) = (Hdfs::with_yarn(), app());
    let jars = jars(&app);
    let why = |hdfs: &Hdfs, words: &[&str]| {
        let run = on_yarn(&app, hdfs, &[&["-p", "then=hold", "-p", &jars], words].concat());
        assert!(wait_for_none(&app).is_empty());
        instance(&run, "gang")["state"]["failure"].to_string()
    };
    let said = why(&hdfs, &["-p", "queue=nobodys"]);
    assert!(said.contains("YARN ended application_") && said.contains("unknown queue"), "{said}");
    hdfs.order("freeze resourcemanager");
    let said = why(&hdfs, &[]);
    assert!(said.contains("YARN has not answered for 60 s"), "{said}");
    hdfs.order("kill resourcemanager");
    let said = why(&hdfs, &[]);
    assert!(said.contains("does not answer") && said.contains("refused"), "{said}");
    fs::remove_file(Path::new(hdfs.says("conf")).join("yarn-site.xml")).unwrap();
    let said = why(&hdfs, &[]);
    assert!(said.contains("hadoop_conf: there is no yarn-site.xml in "), "{said}");
}

#[test]
fn wrong_arguments_of_spark_are_refused() {
    let app = TestApp::new();
    for (arguments, argument, why) in [
        ("mode: mesos", "mode", ""),
        ("mode: local, executors: 2", "executors", "there are no executors"),
        ("executors: 0", "executors", ""),
        ("mode: yarn", "hadoop_conf", "name the folder with core-site.xml and yarn-site.xml"),
        ("queue: etl", "queue", "choose the mode `yarn`"),
        ("user: a b", "user", ""),
    ] {
        let task = format!("  - {{name: a, template: spark, arguments: {{program: a.py, {arguments}}}}}\n");
        app.write("wrong/a.py", "");
        let said = app.expect(2, &["validate", &app.pipeline("wrong", &task)]).out;
        assert!(said.contains(&format!("/tasks/0/arguments/{argument}: ")) && said.contains(why), "{said}");
    }
}

/// A test pipeline in its own folder, with a Hadoop configuration as users have it.
fn pipeline(app: &TestApp, hdfs: &Hdfs, name: &str) -> String {
    for entry in fs::read_dir(Path::new(&job(name)).parent().unwrap()).unwrap().flatten() {
        let file = entry.file_name().into_string().unwrap();
        if file.starts_with("spark") || file == "ledger.py" {
            app.write(&format!("hadoop-jobs/{file}"), &fs::read_to_string(entry.path()).unwrap());
        }
    }
    for file in ["core-site.xml", "yarn-site.xml"] {
        let there = app.path("hadoop-jobs/hadoop").join(file);
        let _ = fs::remove_file(&there);
        if let Ok(text) = fs::read_to_string(Path::new(hdfs.says("conf")).join(file)) {
            app.write(&format!("hadoop-jobs/hadoop/{file}"), &text);
        }
    }
    app.path(&format!("hadoop-jobs/{name}.yaml")).to_str().unwrap().into()
}

/// Counts words of HDFS in this mode, and checks the result by other means.
fn counted(app: &TestApp, hdfs: &Hdfs, mode: &str, words: &[&str]) -> Value {
    let namenode = format!("namenode={}", hdfs.says("hdfs"));
    let mode = format!("mode={mode}");
    let words = [&["-p", &*mode, "-p", &*namenode], words].concat();
    let run = run(app, 0, &pipeline(app, hdfs, "spark-hdfs"), &words);
    let files = fs::read_dir(folder(&run).join("counts")).unwrap().flatten().map(|entry| entry.path());
    let file = files.into_iter().find(|path| path.extension().is_some_and(|it| it == "csv")).unwrap();
    let text = fs::read_to_string(file).unwrap();
    assert_eq!(text.lines().count(), 403, "a header, 400 numbers and two words: {text}");
    assert!(text.starts_with("word,count\n") && text.contains("\nloom,400\n"), "{text}");
    let place = format!("user/etl/{}/counts", run["run"]["id"].as_str().unwrap());
    let http = hdfs.says("webhdfs").replace("webhdfs:", "http:");
    let facts = Hdfs::answer(&format!("{http}/webhdfs/v1/{place}/_SUCCESS?op=GETFILESTATUS"));
    assert_eq!(facts["FileStatus"]["owner"], "etl", "{facts}");
    run
}

/// Runs the pipeline that needs YARN, and expects it to fail.
#[track_caller]
fn on_yarn(app: &TestApp, hdfs: &Hdfs, words: &[&str]) -> Value {
    run(app, 1, &pipeline(app, hdfs, "spark-yarn"), words)
}

/// The states of the applications that YARN has not finished.
fn alive(hdfs: &Hdfs) -> Vec<String> {
    let states = hdfs.applications().into_iter().map(|(_, state)| state);
    states.filter(|state| !["FINISHED", "FAILED", "KILLED"].contains(&&**state)).collect()
}

/// The parameter with the path of Spark's jars: on one machine, YARN's containers need no copy.
fn jars(app: &TestApp) -> String {
    let folders = |folder: &Path| {
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect::<Vec<_>>()
    };
    // PySpark has no wheel: as root, a project builds it in its own folder, beside the shared environments.
    let find = || {
        let environments = folders(&app.data().join("venvs"));
        let own = environments.iter().flat_map(|folder| folders(folder));
        let places = environments.iter().cloned().chain(own);
        places.map(|path| path.join("lib/python3.11/site-packages/pyspark/jars")).find(|jars| jars.exists())
    };
    let folder = find().or_else(|| {
        run(app, 0, &job("spark-local"), &[]);
        find()
    });
    format!("jars=local:{}/*", folder.expect("an environment with PySpark").canonicalize().unwrap().display())
}
