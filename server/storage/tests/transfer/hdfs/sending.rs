//! Uploads, and what a failed one leaves: an interrupted transfer, another user's file, a quota.

use cubeloom_storage::transfer::TransferError;

use super::{Hdfs, MIB, call, content_of, hdfs_spec, put, user};
use crate::helpers::{content, copy, names, sha256, write};
use crate::web_server::{Behaviour, WebServer};

pub(super) async fn pushed_twice(hdfs: &mut Hdfs) {
    for address in &hdfs.addresses {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a.csv", "b.csv", "c.csv"] {
            write(dir.path().join("out").join(name), name.as_bytes());
        }
        // The source's own marker is not sent: it would mark the target as complete too early.
        write(dir.path().join("out/_SUCCESS"), b"of another");
        let folder = format!("{address}/pushed/");
        let mut push = hdfs_spec(&format!("{}/", dir.path().join("out").display()), &folder);
        push.write_marker = Some("_SUCCESS".into());
        assert_eq!(copy(&push).await.unwrap().skipped(), 0, "{address}");
        assert_eq!(copy(&push).await.unwrap().skipped(), 3, "{address}: what was sent is known");
        write(dir.path().join("out/b.csv"), b"another");
        let again = copy(&push).await.unwrap();
        assert_eq!(again.skipped(), 2, "{address}");
        let back = dir.path().join("back");
        copy(&hdfs_spec(&folder, &format!("{}/", back.display()))).await.unwrap();
        assert_eq!(names(&back), ["_SUCCESS", "a.csv", "b.csv", "c.csv"]);
        assert_eq!(std::fs::read_to_string(back.join("b.csv")).unwrap(), "another");
        // A file that another user has changed there is sent again.
        put(hdfs, "pushed/a.csv", b"changed").await;
        assert_eq!(copy(&push).await.unwrap().skipped(), 2, "{address}");
    }
}

/// An upload that fails midway leaves the existing file, and nothing beside it; for a small file and one of
/// several blocks.
pub(super) async fn broken_off(hdfs: &mut Hdfs) {
    for (size, name) in [(3 * MIB, "small.bin"), (20 * MIB, "large.bin")] {
        let bytes = content(size, 9);
        for address in hdfs.addresses.clone() {
            put(hdfs, &format!("broken/{name}"), b"old").await;
            let source = WebServer::start(Behaviour {
                bytes: bytes.clone(),
                dies_after: Some(size / 2),
                ..Behaviour::default()
            })
            .await;
            let target = format!("{address}/broken/{name}");
            let mut push = hdfs_spec(&source.url("data.bin"), &target);
            push.attempts = 1;
            copy(&push).await.unwrap_err();
            let dir = tempfile::tempdir().unwrap();
            let all = |to: &str| {
                hdfs_spec(&format!("{address}/broken/"), &format!("{}/", dir.path().join(to).display()))
            };
            copy(&all("kept")).await.unwrap();
            assert_eq!(std::fs::read(dir.path().join("kept").join(name)).unwrap(), b"old", "{target}");
            // The complete file replaces the existing one.
            source.change(|behaviour| behaviour.dies_after = None);
            copy(&hdfs_spec(&source.url("data.bin"), &target)).await.unwrap();
            copy(&all("whole")).await.unwrap();
            assert_eq!(
                sha256(&std::fs::read(dir.path().join("whole").join(name)).unwrap()),
                sha256(&bytes),
                "{target}"
            );
            for folder in ["kept", "whole"] {
                let beside: Vec<String> = names(&dir.path().join(folder));
                assert!(beside.iter().all(|name| name.ends_with(".bin")), "{beside:?}");
            }
        }
    }
}

/// Other users' files are neither read nor overwritten, and the error has the reason; by both protocols.
pub(super) async fn somebody_else(hdfs: &mut Hdfs) {
    put(hdfs, "own/secret.csv", b"secret\n").await;
    put(hdfs, "own/mine.csv", b"old\n").await;
    change(hdfs, "own?op=SETPERMISSION&permission=700").await;
    let dir = tempfile::tempdir().unwrap();
    write(dir.path().join("mine.csv"), b"mine\n");
    for address in &hdfs.addresses {
        let (code, said, _) = call(
            dir.path(),
            "stranger",
            &["--from", &format!("{address}/own/secret.csv"), "--to", "got.csv"],
        );
        assert!(code == Some(1) && said.contains("access was refused"), "{said}");
        let (code, said, _) =
            call(dir.path(), "stranger", &["--from", "mine.csv", "--to", &format!("{address}/own/mine.csv")]);
        assert!(code == Some(1) && said.contains("access was refused"), "{said}");
        assert!(!dir.path().join("got.csv").exists());
    }
    assert_eq!(
        content_of(hdfs, "own").await,
        [("mine.csv".into(), b"old\n".to_vec()), ("secret.csv".into(), b"secret\n".to_vec())]
    );
}

/// Changes something on the NameNode as superuser.
async fn change(hdfs: &Hdfs, what: &str) {
    let address = hdfs.addresses[1].replace("webhdfs", "http");
    let url = format!("{address}/webhdfs/v1/{what}&user.name={}", user());
    let answer = reqwest::Client::new().put(url).send().await.unwrap();
    assert!(answer.status().is_success(), "{}", answer.text().await.unwrap());
}

/// A folder whose quota ends in the middle of a file, after two of three blocks. The error reports it, and
/// the existing file stays, alone.
pub(super) async fn full(hdfs: &mut Hdfs) {
    put(hdfs, "full/model.bin", b"old").await;
    put(hdfs, "full/big.bin", &content(MIB, 8)).await;
    change(hdfs, &format!("full?op=SETQUOTA&namespacequota={}&storagespacequota={}", i64::MAX, 7 * MIB / 2))
        .await;
    let before = content_of(hdfs, "full").await;
    let dir = tempfile::tempdir().unwrap();
    let file = write(dir.path().join("model.bin"), &content(5 * MIB / 2, 9));
    for address in &hdfs.addresses {
        let spec = hdfs_spec(file.to_str().unwrap(), &format!("{address}/full/model.bin"));
        let error = copy(&spec).await.unwrap_err();
        let TransferError::Quota { why, .. } = &error else { panic!("{error}") };
        assert!(why.starts_with("The DiskSpace quota of /full is exceeded") && why.ends_with("MB"), "{why}");
        assert!(!error.is_passing(), "it is not tried again: {error}");
        assert!(content_of(hdfs, "full").await == before, "{address}");
    }
}
