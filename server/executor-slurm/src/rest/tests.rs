//! The meaning of slurmrestd's responses, with a fake server.

use std::sync::Mutex;

use cubeloom_domain::Timestamp;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixListener;

use super::*;

#[derive(Debug)]
struct Stopped;

impl Clock for Stopped {
    fn now(&self) -> Timestamp {
        Timestamp(0)
    }
}

struct Fake {
    _folder: tempfile::TempDir,
    rest: Rest,
    asked: Arc<Mutex<Vec<String>>>,
}

/// Whether a request's body is complete.
fn is_whole(said: &str) -> bool {
    let Some((head, body)) = said.split_once("\r\n\r\n") else { return false };
    let length =
        head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
    body.len() >= length.unwrap_or(0)
}

/// Answers each request with the next of these responses; records the first line of each request.
fn fake(answers: Vec<(u16, &'static str)>) -> Fake {
    let folder = tempfile::tempdir().unwrap();
    let (key, socket) = (folder.path().join("key"), folder.path().join("socket"));
    std::fs::write(&key, "secret").unwrap();
    let listener = UnixListener::bind(&socket).unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&asked);
    tokio::spawn(async move {
        for (status, text) in answers {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut buffer = vec![0; 1 << 16];
            let mut said = String::new();
            // Head and body may arrive separately.
            while !is_whole(&said) {
                let read = stream.read(&mut buffer).await.unwrap();
                assert_ne!(read, 0, "it went away: {said}");
                said.push_str(&String::from_utf8_lossy(&buffer[..read]));
            }
            noted.lock().unwrap().push(said.lines().next().unwrap_or_default().to_owned());
            let answer = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n\r\n{text}", text.len());
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    let settings = SlurmRest {
        url: format!("unix:{}", socket.display()),
        key: key.to_str().unwrap().into(),
        user: "cubeloom".into(),
        version: "v0.0.38".into(),
    };
    let rest = Rest::new("hall", settings, BTreeMap::new(), Arc::new(Stopped));
    Fake { _folder: folder, rest, asked }
}

const WELL: &str = r#"{"errors": []}"#;

#[tokio::test]
async fn a_token_that_is_not_believed_names_the_setting_and_ends_nothing() {
    let unspecified =
        r#"{"errors": [{"description": "Failed while looking for jobs", "error": "Unspecified error"}]}"#;
    let no_bytes =
        r#"{"errors": [{"error_code": 5005, "error": "Zero Bytes were transmitted or received"}]}"#;
    for (status, text) in [(401, "Authentication failure"), (500, unspecified), (500, no_bytes)] {
        let trouble = fake(vec![(status, text)]).rest.jobs().await.unwrap_err();
        let names = "`key` of the settings [slurm.hall] slurmrestd";
        assert!(matches!(&trouble, Trouble::Away(why) if why.contains(names)), "{trouble:?}");
    }
}

#[tokio::test]
async fn a_refusal_is_told_from_what_may_do_later() {
    let script = Given { script: "/w/job.sh", text: "#!/bin/bash\n", counted_as: None };
    for (status, text, is_refused) in [
        (
            500,
            r#"{"errors": [{"error": "Invalid account or account/partition combination specified"}]}"#,
            true,
        ),
        (
            400,
            r#"{"errors": [{"error": "Unspecified error", "description": "Unable to process key"}]}"#,
            true,
        ),
        (500, r#"{"errors": [{"error": "Unable to contact slurm controller (connect failure)"}]}"#, false),
        (
            500,
            r#"{"errors": [{"error_code": 2050, "error": "Job violates accounting\/QOS policy (job submit limit, user's size and\/or time limits)"}]}"#,
            false,
        ),
        (404, "Unable find requested URL. Please view /openapi/v3 for API reference.", false),
        (200, "no JSON", false),
        (200, WELL, false),
    ] {
        let done = fake(vec![(status, text)]).rest.submit("ann", &script).await.unwrap_err();
        assert_eq!(matches!(done, Trouble::Refused(_)), is_refused, "{text}: {done:?}");
    }
}

/// The response of 22.05.8 for a job that requests more than the partition has now.
#[tokio::test]
async fn a_job_that_was_taken_with_a_warning_is_taken() {
    let warned = r#"{"errors": [{"error_code": 2015, "error": "Requested partition configuration not available now"}],
        "job_id": 17, "step_id": "BATCH", "job_submit_user_msg": ""}"#;
    let script = Given { script: "/w/job.sh", text: "#!/bin/bash\n", counted_as: None };
    assert_eq!(fake(vec![(200, warned)]).rest.submit("ann", &script).await, Ok("17".to_owned()));
}

#[tokio::test]
async fn one_that_is_not_there_is_away() {
    let Fake { _folder, mut rest, .. } = fake(Vec::new());
    rest.settings.url = "unix:/nonexistent/socket".into();
    let trouble = rest.nodes().await.unwrap_err();
    assert!(
        matches!(&trouble, Trouble::Away(why) if why.contains("unix:/nonexistent/socket")),
        "{trouble:?}"
    );
    rest.settings.key = "/nonexistent/key".into();
    let trouble = rest.nodes().await.unwrap_err();
    let names = "`key` of the settings [slurm.hall] slurmrestd: /nonexistent/key";
    assert!(matches!(&trouble, Trouble::Away(why) if why.contains(names)), "{trouble:?}");
}

#[tokio::test]
async fn jobs_are_ended_by_their_names_only_where_they_are_the_accounts() {
    let jobs = r#"{"errors": [], "jobs": [
        {"job_id": 1, "user_id": 1000, "job_state": "RUNNING", "name": "cl-a-b"},
        {"job_id": 2, "user_id": 1001, "job_state": "RUNNING", "name": "cl-a-b"},
        {"job_id": 3, "user_id": 1000, "job_state": "COMPLETED", "name": "cl-a-b"},
        {"job_id": 4, "user_id": 1000, "job_state": "PENDING", "name": "cl-a-c"}]}"#;
    let gone = r#"{"errors": [{"error": "Invalid job id specified"}]}"#;
    let denied = r#"{"errors": [{"error": "Access/permission denied"}]}"#;
    let fake = fake(vec![(200, jobs), (500, gone), (500, denied), (200, WELL)]);
    fake.rest.cancel("ann", 1000, &["--name=cl-a-b,cl-x".to_owned()], false).await.unwrap();
    // Others are cancelled although the first is another user's.
    let refused = fake.rest.cancel("ann", 1000, &["7".to_owned(), "8".to_owned()], true).await.unwrap_err();
    assert!(matches!(&refused, Trouble::Refused(why) if why.contains("denied")), "{refused:?}");
    let asked = fake.asked.lock().unwrap().clone();
    assert_eq!(
        asked,
        [
            "GET /slurm/v0.0.38/jobs HTTP/1.1",
            "DELETE /slurm/v0.0.38/job/1 HTTP/1.1",
            "DELETE /slurm/v0.0.38/job/7?signal=KILL HTTP/1.1",
            "DELETE /slurm/v0.0.38/job/8?signal=KILL HTTP/1.1"
        ]
    );
}
