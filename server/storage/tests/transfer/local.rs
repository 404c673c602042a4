//! From this machine to this machine.

use std::fs::File;
use std::os::unix::ffi::OsStrExt;

use cubeloom_storage::transfer::{Outcome, Progress, Source, Stop, TransferError, transfer};

use crate::helpers::{content, copy, names, sha256, spec, write};

#[tokio::test(flavor = "multi_thread")]
async fn a_file_arrives_byte_for_byte_and_is_not_copied_twice() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = content(5_000_001, 1);
    let from = write(dir.path().join("in/zahlen und 数据 \u{1f4be}.bin"), &bytes);
    let to = dir.path().join("out/copy.bin");
    let mut spec = spec(&[from.to_str().unwrap()], &to);
    spec.chunk = 1 << 20;
    let report = copy(&spec).await.unwrap();
    assert_eq!(std::fs::read(&to).unwrap(), bytes);
    assert_eq!(report.files[0].sha256.as_deref(), Some(sha256(&bytes).as_str()));
    assert_eq!((report.files[0].bytes, report.files[0].outcome), (5_000_001, Outcome::Copied));
    assert_eq!(names(&dir.path().join("out")), ["copy.bin"]);
    assert_eq!(copy(&spec).await.unwrap().files[0].outcome, Outcome::Skipped);
    std::fs::write(&from, content(5_000_001, 2)).unwrap();
    assert_eq!(copy(&spec).await.unwrap().files[0].outcome, Outcome::Copied);
    assert_eq!(std::fs::read(&to).unwrap(), content(5_000_001, 2));
}

#[tokio::test]
async fn a_target_that_somebody_changed_is_written_again() {
    let dir = tempfile::tempdir().unwrap();
    let from = write(dir.path().join("a"), b"right");
    let spec = spec(&[from.to_str().unwrap()], dir.path().join("b"));
    copy(&spec).await.unwrap();
    write(dir.path().join("b"), b"wrong");
    assert_eq!(copy(&spec).await.unwrap().files[0].outcome, Outcome::Copied);
    assert_eq!(std::fs::read(dir.path().join("b")).unwrap(), b"right");
}

#[tokio::test]
async fn folders_and_patterns_keep_their_inner_names() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("in");
    for name in ["a.csv", "x/b.csv", "x/y/c.csv", "x/y/d.txt", "x/empty.csv"] {
        write(root.join(name), if name.contains("empty") { b"" } else { name.as_bytes() });
    }
    let from = |tail: &str| format!("{}/{tail}", root.display());
    for (source, expected) in [
        ("", vec!["a.csv", "x/b.csv", "x/empty.csv", "x/y/c.csv", "x/y/d.txt"]),
        ("x", vec!["b.csv", "empty.csv", "y/c.csv", "y/d.txt"]),
        ("*.csv", vec!["a.csv"]),
        ("**/*.csv", vec!["a.csv", "x/b.csv", "x/empty.csv", "x/y/c.csv"]),
        ("x/?.csv", vec!["b.csv"]),
    ] {
        let to = tempfile::tempdir().unwrap();
        copy(&spec(&[&from(source)], to.path())).await.unwrap();
        assert_eq!(names(to.path()), expected, "{source:?}");
        assert!(expected.iter().all(|name| to.path().join(name).exists()));
    }
    let nothing = copy(&spec(&[&from("*.zip")], dir.path().join("out/"))).await.unwrap_err();
    assert!(nothing.to_string().contains("*.zip: no file matches"), "{nothing}");
}

#[tokio::test]
async fn many_small_files_come_in_parallel_and_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    for n in 0..500 {
        write(dir.path().join(format!("in/{:02}/{n}", n % 20)), &content(n, n as u64));
    }
    let mut spec = spec(&[&format!("{}/", dir.path().join("in").display())], dir.path().join("out/"));
    spec.parallel = 16;
    let last = std::sync::Mutex::new(None::<Progress>);
    let report = transfer(&spec, &Stop::default(), |now| *last.lock().unwrap() = Some(now)).await.unwrap();
    let total = (0..500).sum::<u64>();
    assert_eq!((report.files.len(), report.bytes()), (500, total));
    let last = last.into_inner().unwrap().unwrap();
    assert_eq!((last.files_done, last.bytes_done, last.bytes_total), (500, total, total));
    assert_eq!(copy(&spec).await.unwrap().skipped(), 500);
}

#[tokio::test]
async fn a_wrong_sum_leaves_the_target_as_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let from = write(dir.path().join("new"), b"new");
    let to = write(dir.path().join("to/target"), b"old");
    let mut spec = spec(&[from.to_str().unwrap()], &to);
    spec.from[0].sha256 = Some(sha256(b"something else"));
    let error = copy(&spec).await.unwrap_err();
    assert!(matches!(error, TransferError::Checksum { .. }), "{error}");
    assert_eq!(std::fs::read(&to).unwrap(), b"old");
    assert_eq!(names(&dir.path().join("to")), ["target"]);
    spec.from[0].sha256 = Some(sha256(b"new").to_uppercase());
    copy(&spec).await.unwrap();
    assert_eq!(std::fs::read(&to).unwrap(), b"new");
}

#[tokio::test]
async fn a_known_content_needs_no_source() {
    let dir = tempfile::tempdir().unwrap();
    let to = write(dir.path().join("there"), b"content");
    let mut spec = spec(&[dir.path().join("gone").to_str().unwrap()], &to);
    spec.from = vec![Source {
        url: "http://127.0.0.1:9/gone".into(),
        sha256: Some(sha256(b"content")),
        ..Source::default()
    }];
    assert_eq!(copy(&spec).await.unwrap().files[0].outcome, Outcome::Skipped);
}

#[tokio::test]
async fn sums_by_name_belong_to_a_file_each() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path().join("in/x/a"), b"a");
    write(dir.path().join("in/b"), b"b");
    let mut spec = spec(&[&format!("{}/", dir.path().join("in").display())], dir.path().join("out/"));
    spec.sums = [("x/a".to_owned(), sha256(b"a")), ("b".to_owned(), sha256(b"b"))].into();
    copy(&spec).await.unwrap();
    spec.sums.insert("c".into(), sha256(b"c"));
    let error = copy(&spec).await.unwrap_err().to_string();
    assert!(error.starts_with("c: a checksum was set for this"), "{error}");
}

#[tokio::test]
async fn what_cannot_be_copied_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().to_str().unwrap();
    let file = write(dir.path().join("file"), b"x");
    rustix::fs::mkfifoat(rustix::fs::CWD, dir.path().join("pipe"), rustix::fs::Mode::RWXU).unwrap();
    std::fs::create_dir(dir.path().join("odd")).unwrap();
    std::fs::write(dir.path().join("odd").join(std::ffi::OsStr::from_bytes(b"\xff\xfe")), b"x").unwrap();
    for (from, to, expected) in [
        (format!("{root}/gone"), format!("{root}/to"), "gone: there is no such file"),
        (format!("{root}/pipe"), format!("{root}/to"), "pipe: this is not a regular file"),
        (format!("{root}/odd/"), format!("{root}/to"), "the name is not UTF-8"),
        ("../etc/passwd".into(), format!("{root}/to"), "must not contain `..`"),
        (format!("{root}/file"), "../../to".into(), "must not contain `..`"),
        (format!("{root}/file"), "http://127.0.0.1:9/x".into(), "cannot be written to"),
        ("ftp://h/x".into(), format!("{root}/to"), "this kind of address is not supported"),
        ("s3://bucket/a/../b".into(), format!("{root}/to"), "a key must not"),
        ("http://127.0.0.1:9/..%2Fetc%2Fpasswd".into(), format!("{root}/to/"), "usable file name"),
        (String::new(), format!("{root}/to"), "must not be empty"),
    ] {
        let mut spec = spec(&[&from], dir.path());
        spec.to = to;
        let error = copy(&spec).await.unwrap_err().to_string();
        assert!(error.contains(expected), "{from}: {error}");
    }
    let twice = copy(&spec(&[file.to_str().unwrap(), file.to_str().unwrap()], dir.path().join("to/"))).await;
    assert!(matches!(twice, Err(TransferError::Collision { .. })), "{twice:?}");
}

#[tokio::test]
async fn links_in_a_circle_end() {
    let dir = tempfile::tempdir().unwrap();
    write(dir.path().join("in/a"), b"a");
    std::os::unix::fs::symlink("..", dir.path().join("in/up")).unwrap();
    std::os::unix::fs::symlink(".", dir.path().join("in/self")).unwrap();
    std::os::unix::fs::symlink("a", dir.path().join("in/link")).unwrap();
    let to = tempfile::tempdir().unwrap();
    copy(&spec(&[&format!("{}/", dir.path().join("in").display())], to.path())).await.unwrap();
    assert_eq!(names(to.path()), ["a", "link"]);
}

#[tokio::test]
async fn a_disk_without_room_is_told_before_it_is_filled() {
    let dir = tempfile::tempdir().unwrap();
    let room = rustix::fs::statvfs(dir.path()).unwrap();
    let from = dir.path().join("sparse");
    File::create(&from).unwrap().set_len(room.f_bavail * room.f_frsize + (1 << 30)).unwrap();
    let error = copy(&spec(&[from.to_str().unwrap()], dir.path().join("out/big"))).await.unwrap_err();
    assert!(matches!(error, TransferError::Full { .. }), "{error}");
    assert!(error.to_string().contains("out/big: the disk is full"), "{error}");
    assert!(names(&dir.path().join("out")).is_empty());
}

#[tokio::test]
async fn two_transfers_do_not_write_the_same_file() {
    let dir = tempfile::tempdir().unwrap();
    let from = write(dir.path().join("a"), b"a");
    let held = File::create(dir.path().join(".b.cubeloom-part")).unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let spec = spec(&[from.to_str().unwrap()], dir.path().join("b"));
    let error = copy(&spec).await.unwrap_err();
    assert!(matches!(error, TransferError::Busy { .. }), "{error}");
    drop(held);
    copy(&spec).await.unwrap();
}
