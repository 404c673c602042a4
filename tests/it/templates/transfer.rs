//! The `transfer` template: local files, a web server, a real S3 server.

use std::fs;

use super::rig::{folder, run};
use super::web::Web;
use crate::support::{S3, TestApp, instance, outputs};

/// The SHA-256 of `content()`.
const SUM: &str = "07df1203cb40935e896dfe90feec56b49591a6ba7f70b20537165122234bc9c0";

/// Three million bytes without repetition within a range's length.
fn content() -> Vec<u8> {
    (0_u32..3_000_000).map(|at| ((at * 31 + 7) % 251) as u8).collect()
}

fn transfer(from: &str, to: &str, rest: &str) -> String {
    format!(
        "    template: transfer\n    arguments: {{from: \"{from}\", to: \"{to}\", chunk: 256KiB{rest}}}\n"
    )
}

#[test]
fn transfer_copies_local_files_and_skips_what_is_there() {
    let app = TestApp::new();
    app.write("local/in/a.csv", "a\n");
    app.write("local/in/sub/b.csv", "b\n");
    app.write("local/in/c.txt", "c\n");
    let copy = transfer("{{ code }}/in/**/*.csv", "{{ run.dir }}/out/", "");
    let file =
        app.pipeline("local", &format!("  - name: copy\n{copy}  - name: again\n    needs: [copy]\n{copy}"));
    let run = run(&app, 0, &file, &[]);
    let out = folder(&run).join("out");
    assert_eq!(fs::read_to_string(out.join("a.csv")).unwrap(), "a\n");
    assert_eq!(fs::read_to_string(out.join("sub/b.csv")).unwrap(), "b\n");
    assert!(!out.join("c.txt").exists());
    let counts =
        |task: &str| ["files", "bytes", "skipped"].map(|name| outputs(&run, task)[name].as_u64().unwrap());
    assert_eq!((counts("copy"), counts("again")), ([2, 4, 0], [2, 4, 2]));
}

#[test]
fn transfer_reads_a_web_server_in_ranges_and_compares_sums() {
    let (app, web) = (TestApp::new(), Web::new(content()));
    let pull = |sum: &str| transfer(&web.url("digits.bin"), "digits.bin", &format!(", sha256: {sum}"));
    let file = app.pipeline("http", &format!("  - name: pull\n{}", pull(SUM)));
    let done = run(&app, 0, &file, &[]);
    assert_eq!(outputs(&done, "pull")["sha256"], SUM);
    assert!(fs::read(folder(&done).join("digits.bin")).unwrap() == content());
    assert!(web.ranges() >= 12, "3 MB in ranges of 256 KiB: {}", web.ranges());
    let wrong = SUM.replace(&SUM[..8], "00000000");
    let failed = run(&app, 1, &app.pipeline("wrong", &format!("  - name: pull\n{}", pull(&wrong))), &[]);
    let failure = instance(&failed, "pull")["state"]["failure"].to_string();
    assert!(failure.contains(SUM) && failure.contains(&wrong), "{failure}");
    assert!(!folder(&failed).join("digits.bin").exists(), "a file with a wrong sum does not appear");
}

#[test]
fn transfer_writes_to_and_reads_from_s3() {
    let server = S3::start();
    let mut app = TestApp::new();
    for (secret, key) in [("ID", "access_key"), ("ACCESS_KEY", "secret_key")] {
        let secret = if secret == "ID" { "AWS_ACCESS_KEY_ID" } else { "AWS_SECRET_ACCESS_KEY" };
        app.set(&format!("TEST_{secret}"), server.said[key].as_str().unwrap());
        app.set(&format!("CUBELOOM_SECRETS_{secret}"), format!("env:TEST_{secret}"));
    }
    let endpoint = server.said["endpoint"].as_str().unwrap();
    let settings = format!(
        "    secrets: [aws-access-key-id, aws-secret-access-key]\n    env: {{AWS_ENDPOINT_URL: \"{endpoint}\"}}\n"
    );
    let push = transfer("{{ code }}/big.bin", "s3://data/in/", "");
    let small = transfer("{{ code }}/small.csv", "s3://data/in/", "");
    let pull = transfer("s3://data/in/", "back/", &format!(", sha256: {{big.bin: {SUM}}}"));
    let file = app.pipeline(
        "s3",
        &format!(
            "  - name: push\n{push}{settings}  - name: small\n{small}{settings}\
             \x20 - name: pull\n    needs: [push, small]\n{pull}{settings}"
        ),
    );
    fs::write(app.path("s3/big.bin"), content()).unwrap();
    app.write("s3/small.csv", "digit\n7\n");
    let run = run(&app, 0, &file, &[]);
    assert_eq!(outputs(&run, "pull")["files"], 2);
    let back = folder(&run).join("back");
    assert!(fs::read(back.join("big.bin")).unwrap() == content());
    assert_eq!(fs::read_to_string(back.join("small.csv")).unwrap(), "digit\n7\n");
}
