//! From web servers, with their faults.

use std::time::Duration;

use cubeloom_storage::transfer::{Outcome, Stop, TransferError, TransferSpec, transfer};

use crate::helpers::{content, copy, names, sha256, spec, write};
use crate::web_server::{Behaviour, WebServer};

const MIB: usize = 1 << 20;

fn fast(from: &str, to: &std::path::Path) -> TransferSpec {
    let mut spec = spec(&[from], to);
    spec.chunk = MIB as u64;
    spec
}

#[tokio::test(flavor = "multi_thread")]
async fn ranges_come_in_parallel_and_each_byte_once() {
    let bytes = content(10 * MIB + 17, 3);
    let server =
        WebServer::start(Behaviour { bytes: bytes.clone(), etag: Some("\"1\""), ..Behaviour::default() })
            .await;
    let dir = tempfile::tempdir().unwrap();
    let spec = fast(&server.url("dir/my%20file.bin?token=a%2Fb&x=1"), &dir.path().join("out/"));
    let report = copy(&spec).await.unwrap();
    assert_eq!(std::fs::read(dir.path().join("out/my file.bin")).unwrap(), bytes);
    assert_eq!(report.files[0].sha256.as_deref(), Some(sha256(&bytes).as_str()));
    assert!(!format!("{report:?}").contains("token"), "a query may hold a secret: {report:?}");
    let seen = server.take_seen();
    assert_eq!(seen.sent, bytes.len());
    assert_eq!(seen.ranges.len(), 11);
    assert!(seen.uris.iter().all(|uri| uri == "/dir/my%20file.bin?token=a%2Fb&x=1"), "{:?}", seen.uris);
    assert_eq!(copy(&spec).await.unwrap().files[0].outcome, Outcome::Skipped);
    assert_eq!(server.take_seen().sent, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn as_many_ranges_as_are_allowed_come_at_the_same_time() {
    let bytes = content(8 * MIB, 14);
    let behaviour =
        Behaviour { bytes: bytes.clone(), slow: Some(Duration::from_millis(10)), ..Behaviour::default() };
    let server = WebServer::start(behaviour).await;
    let dir = tempfile::tempdir().unwrap();
    for parallel in [1, 4] {
        let to = dir.path().join(parallel.to_string());
        let mut spec = fast(&server.url("file"), &to);
        spec.parallel = parallel;
        copy(&spec).await.unwrap();
        assert_eq!(server.take_seen().most, parallel);
        assert!(std::fs::read(&to).unwrap() == bytes, "{parallel}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn after_the_death_of_the_server_finished_ranges_are_not_fetched_again() {
    let bytes = content(16 * MIB, 4);
    let behaviour = Behaviour {
        bytes: bytes.clone(),
        etag: Some("\"1\""),
        dies_after: Some(9 * MIB),
        ..Behaviour::default()
    };
    let server = WebServer::start(behaviour).await;
    let dir = tempfile::tempdir().unwrap();
    let to = write(dir.path().join("out/file"), b"the old content");
    let mut spec = fast(&server.url("file"), &to);
    spec.attempts = 2;
    let error = copy(&spec).await.unwrap_err();
    assert!(error.is_passing() && error.to_string().contains("/file"), "{error}");
    assert_eq!(std::fs::read(&to).unwrap(), b"the old content");
    let first = server.take_seen();
    assert!(first.sent <= 9 * MIB, "{}", first.sent);

    server.change(|behaviour| behaviour.dies_after = None);
    let report = copy(&spec).await.unwrap();
    let Outcome::Resumed(kept) = report.files[0].outcome else { panic!("{report:?}") };
    let second = server.take_seen();
    // Data in flight when the server died is lost: four ranges, or more on a busy machine.
    assert!(kept as usize >= MIB && kept.is_multiple_of(MIB as u64), "{kept}");
    assert_eq!(second.different_ranges(), 16 - kept as usize / MIB);
    assert_eq!(std::fs::read(&to).unwrap(), bytes);
    assert_eq!(names(&dir.path().join("out")), ["file"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_source_is_fetched_from_its_beginning() {
    let behaviour = Behaviour {
        bytes: content(8 * MIB, 5),
        etag: Some("\"1\""),
        dies_after: Some(5 * MIB),
        ..Behaviour::default()
    };
    let server = WebServer::start(behaviour).await;
    let dir = tempfile::tempdir().unwrap();
    let mut spec = fast(&server.url("file"), &dir.path().join("file"));
    spec.attempts = 1;
    copy(&spec).await.unwrap_err();
    server.take_seen();
    let new = content(8 * MIB, 6);
    server.change(|behaviour| {
        *behaviour = Behaviour { bytes: new.clone(), etag: Some("\"2\""), ..Behaviour::default() };
    });
    assert_eq!(copy(&spec).await.unwrap().files[0].outcome, Outcome::Copied);
    assert_eq!(server.take_seen().different_ranges(), 8);
    assert_eq!(std::fs::read(dir.path().join("file")).unwrap(), new);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_changes_while_it_is_read_is_never_mixed() {
    let behaviour = Behaviour {
        bytes: content(4 * MIB, 7),
        etag: Some("\"1\""),
        slow: Some(Duration::from_millis(20)),
        ..Behaviour::default()
    };
    let server = WebServer::start(behaviour).await;
    let dir = tempfile::tempdir().unwrap();
    let mut spec = fast(&server.url("file"), &dir.path().join("file"));
    spec.parallel = 1;
    let new = content(4 * MIB, 8);
    let change = async {
        tokio::time::sleep(Duration::from_millis(600)).await;
        server.change(|behaviour| {
            *behaviour = Behaviour { bytes: new.clone(), etag: Some("\"2\""), ..Behaviour::default() };
        });
    };
    let (report, ()) = tokio::join!(copy(&spec), change);
    report.unwrap();
    assert_eq!(std::fs::read(dir.path().join("file")).unwrap(), new);
}

#[tokio::test(flavor = "multi_thread")]
async fn broken_connections_go_on_where_they_broke() {
    let bytes = content(3 * MIB, 9);
    let behaviour = Behaviour { bytes: bytes.clone(), breaks_after: Some(640 << 10), ..Behaviour::default() };
    let server = WebServer::start(behaviour).await;
    let dir = tempfile::tempdir().unwrap();
    copy(&fast(&server.url("file"), &dir.path().join("file"))).await.unwrap();
    assert_eq!(std::fs::read(dir.path().join("file")).unwrap(), bytes);
    assert!(server.take_seen().ranges.len() >= 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_without_ranges_head_or_length_work() {
    let bytes = content(3 * MIB, 10);
    let base = Behaviour { bytes: bytes.clone(), ..Behaviour::default() };
    for (name, behaviour) in [
        ("no ranges", Behaviour { no_ranges: true, ..base.clone() }),
        ("no head", Behaviour { no_head: true, ..base.clone() }),
        ("neither", Behaviour { no_ranges: true, no_head: true, ..base.clone() }),
        ("no length", Behaviour { no_ranges: true, chunked: true, ..base.clone() }),
        ("empty", Behaviour { bytes: Vec::new(), no_head: true, ..base.clone() }),
        ("busy at first", Behaviour { busy: 2, ..base.clone() }),
    ] {
        let expected = behaviour.bytes.clone();
        let server = WebServer::start(behaviour).await;
        let dir = tempfile::tempdir().unwrap();
        let done = copy(&fast(&server.url("file"), &dir.path().join("file"))).await;
        done.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(std::fs::read(dir.path().join("file")).unwrap() == expected, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_ranges_a_break_means_from_the_beginning() {
    let behaviour = Behaviour {
        bytes: content(2 * MIB, 11),
        no_ranges: true,
        etag: Some("\"1\""),
        dies_after: Some(MIB),
        ..Behaviour::default()
    };
    let server = WebServer::start(behaviour).await;
    let dir = tempfile::tempdir().unwrap();
    let mut spec = fast(&server.url("file"), &dir.path().join("out/file"));
    spec.attempts = 2;
    copy(&spec).await.unwrap_err();
    assert!(names(&dir.path().join("out")).is_empty());
    server.change(|behaviour| behaviour.dies_after = None);
    copy(&spec).await.unwrap();
    assert_eq!(std::fs::read(dir.path().join("out/file")).unwrap(), content(2 * MIB, 11));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_transfer_keeps_what_it_has() {
    let behaviour = Behaviour {
        bytes: content(8 * MIB, 12),
        etag: Some("\"1\""),
        slow: Some(Duration::from_millis(10)),
        ..Behaviour::default()
    };
    let server = WebServer::start(behaviour).await;
    let dir = tempfile::tempdir().unwrap();
    let mut spec = fast(&server.url("file"), &dir.path().join("file"));
    spec.parallel = 1;
    let stop = Stop::default();
    let seen = stop.clone();
    let listener = move |now: cubeloom_storage::transfer::Progress| {
        if now.bytes_done >= 3 * MIB as u64 {
            seen.raise();
        }
    };
    let error = transfer(&spec, &stop, listener).await.unwrap_err();
    assert!(matches!(error, TransferError::Stopped), "{error}");
    server.change(|behaviour| behaviour.slow = None);
    let report = copy(&spec).await.unwrap();
    let Outcome::Resumed(kept) = report.files[0].outcome else { panic!("{report:?}") };
    assert!(kept >= 2 * MIB as u64, "{kept}");
    assert_eq!(std::fs::read(dir.path().join("file")).unwrap(), content(8 * MIB, 12));
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_name_the_address() {
    let server = WebServer::start(Behaviour { bytes: b"x".to_vec(), ..Behaviour::default() }).await;
    let dir = tempfile::tempdir().unwrap();
    let to = dir.path().join("to/");
    let gone = copy(&spec(&[&server.url("gone")], &to)).await.unwrap_err();
    assert!(matches!(&gone, TransferError::Missing { url } if url.ends_with("/gone")), "{gone}");
    let denied = copy(&spec(&[&server.url("secret")], &to)).await.unwrap_err();
    assert!(matches!(denied, TransferError::Denied { .. }), "{denied}");
    let folder = copy(&spec(&[&server.url("folder/")], &to)).await.unwrap_err();
    assert!(folder.to_string().contains("cannot be listed"), "{folder}");
    // A port that was free a moment ago and has no listener.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut refused = spec(&[&format!("http://user:hidden@127.0.0.1:{port}/x")], &to);
    refused.attempts = 2;
    let refused = copy(&refused).await.unwrap_err().to_string();
    assert!(refused.contains(&format!("127.0.0.1:{port}/x: no connection (Connection refused")), "{refused}");
    assert!(!refused.contains("hidden"), "{refused}");
    assert!(names(dir.path()).is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn https_is_read_from_those_who_are_trusted() {
    let bytes = content(3 * MIB, 13);
    let (server, pem) =
        WebServer::start_tls(Behaviour { bytes: bytes.clone(), ..Behaviour::default() }).await;
    let dir = tempfile::tempdir().unwrap();
    let mut spec = fast(&server.url("file"), &dir.path().join("file"));
    let error = copy(&spec).await.unwrap_err();
    assert!(error.to_string().contains("certificate is not trusted"), "{error}");
    assert!(!error.is_passing());
    let file = write(dir.path().join("ca.pem"), pem.as_bytes());
    spec.env.insert("SSL_CERT_FILE".into(), file.to_str().unwrap().into());
    copy(&spec).await.unwrap();
    assert_eq!(std::fs::read(dir.path().join("file")).unwrap(), bytes);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_store_says_that_nobody_answers() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let dir = tempfile::tempdir().unwrap();
    let settings = [
        ("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{port}")),
        ("COS_ENDPOINT", format!("http://127.0.0.1:{port}")),
        ("COS_SECRET_ID", "id".into()),
        ("COS_SECRET_KEY", "key".into()),
        ("HADOOP_USER_NAME", "somebody".into()),
    ];
    for host in
        ["s3://bucket", "hdfs://127.0.0.1:PORT", "webhdfs://127.0.0.1:PORT", "swebhdfs://127.0.0.1:PORT"]
    {
        let host = host.replace("PORT", &port.to_string());
        let local = write(dir.path().join("local"), b"x");
        let to = dir.path().join("to/");
        for (from, to) in [
            (format!("{host}/dir/file"), to.to_str().unwrap()),
            (local.display().to_string(), &format!("{host}/x")),
        ] {
            let mut spec = spec(&[&from], to);
            spec.env = settings.clone().map(|(name, value)| (name.to_owned(), value)).into();
            spec.attempts = 1;
            let error = copy(&spec).await.unwrap_err();
            assert!(error.to_string().starts_with(&host), "{error}");
            assert!(error.is_passing(), "{error:?}");
        }
    }
}

/// This is also the only way to see requests for hosts that are not on this machine.
#[tokio::test(flavor = "multi_thread")]
async fn proxies_are_used_but_not_for_this_machine() {
    let proxy = WebServer::start(Behaviour { bytes: b"content".to_vec(), ..Behaviour::default() }).await;
    let dir = tempfile::tempdir().unwrap();
    let settings = [
        ("HTTP_PROXY", proxy.url("")),
        ("COS_ENDPOINT", "http://cos.region.example".into()),
        ("COS_SECRET_ID", "the-id".into()),
        ("COS_SECRET_KEY", "the-key".into()),
    ];
    let with = |from: &str, to: &std::path::Path| {
        let mut spec = spec(&[from], to);
        spec.env = settings.clone().map(|(name, value)| (name.to_owned(), value)).into();
        spec
    };
    copy(&with("http://somebody:secret@files.example/x", &dir.path().join("x"))).await.unwrap();
    let seen = proxy.take_seen();
    assert!(seen.uris.iter().all(|uri| uri == "http://files.example/x"), "{:?}", seen.uris);
    assert_eq!(seen.authorizations.len(), seen.uris.len());

    copy(&with("cos://bucket-1250000000/dir/y", &dir.path().join("y"))).await.unwrap();
    let seen = proxy.take_seen();
    assert!(
        seen.uris.iter().all(|uri| uri == "http://bucket-1250000000.cos.region.example/dir/y"),
        "{:?}",
        seen.uris
    );
    assert!(seen.authorizations.iter().all(|signature| signature.contains("q-ak=the-id")));

    let here = WebServer::start(Behaviour { bytes: b"here".to_vec(), ..Behaviour::default() }).await;
    copy(&with(&here.url("z"), &dir.path().join("z"))).await.unwrap();
    assert!(proxy.take_seen().uris.is_empty());
}
