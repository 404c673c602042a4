//! Fetches all of a folder, part of it, by date, once it is complete, and merged into fewer files.

use std::path::Path;
use std::time::Duration;

use cubeloom_storage::transfer::{TransferError, TransferSpec, is_there};

use super::{Hdfs, MIB, call, hdfs_spec, put, user};
use crate::helpers::{content, copy, names, sha256, write};

pub(super) async fn there_and_back(hdfs: &mut Hdfs) {
    let bytes = content(5 * MIB + 17, 1);
    for (kind, address) in hdfs.addresses.iter().enumerate() {
        let dir = tempfile::tempdir().unwrap();
        let file = write(dir.path().join("in/big file.bin"), &bytes);
        write(dir.path().join("in/sub/empty"), b"");
        let folder = format!("{address}/back-{kind}/");
        let put = copy(&hdfs_spec(&format!("{}/", dir.path().join("in").display()), &folder)).await.unwrap();
        assert_eq!(put.files.len(), 2);
        let back = dir.path().join("out");
        let got = copy(&hdfs_spec(&folder, &format!("{}/", back.display()))).await.unwrap();
        assert_eq!(names(&back), ["big file.bin", "sub/empty"], "{address}");
        assert!(std::fs::read(back.join("big file.bin")).unwrap() == std::fs::read(&file).unwrap());
        assert!(got.files.iter().any(|file| file.sha256.as_deref() == Some(&sha256(&bytes))));
        // The second run fetches nothing.
        let again = copy(&hdfs_spec(&folder, &format!("{}/", back.display()))).await.unwrap();
        assert_eq!(again.skipped(), 2, "{address}");
        let pattern = format!("{address}/back-{kind}/**/e*");
        copy(&hdfs_spec(&pattern, &format!("{}/", dir.path().join("some").display()))).await.unwrap();
        assert_eq!(names(&dir.path().join("some")), ["sub/empty"]);
        let gone = copy(&hdfs_spec(&format!("{address}/nowhere/"), &format!("{}/", back.display()))).await;
        assert!(matches!(gone, Err(TransferError::Missing { .. })), "{gone:?}");
        let there = async |path: &str, inner| {
            is_there(&format!("{address}/{path}"), inner, Duration::from_secs(10)).await
        };
        let folder = format!("back-{kind}");
        for (path, expected) in [
            (format!("{folder}/sub/empty"), true),
            (format!("{folder}/sub/"), true),
            (format!("{folder}/sub"), false),
            (format!("{folder}/sub/none"), false),
            ("nowhere/".into(), false),
        ] {
            assert_eq!(there(&path, true).await.unwrap(), expected, "{address} {path}");
        }
        let refused = there(&format!("{folder}/sub/empty"), false).await.unwrap_err();
        assert!(refused.to_string().contains("private_endpoints"), "{refused}");
    }
}

pub(super) async fn partitions(hdfs: &mut Hdfs) {
    for day in ["2026-11-18", "2026-11-20", "2026-11-21"] {
        for part in 0..2 {
            let text = format!("{day},{part}\n");
            put(hdfs, &format!("logs/dt={day}/part-{part}.csv"), text.as_bytes()).await;
        }
        put(hdfs, &format!("logs/dt={day}/_temporary/0/part-9.csv"), b"half\n").await;
    }
    put(hdfs, "logs/dt=2026-11-18/_SUCCESS", b"").await;
    put(hdfs, "logs/dt=2026-11-20/_SUCCESS", b"").await;
    let dir = tempfile::tempdir().unwrap();
    let from = format!("{}/logs/dt=%Y-%m-%d/", hdfs.addresses[0]);
    let pull = |first: &str, last: &str, rest: &[&str]| {
        let days = ["--from", &from, "--to", "in/", "--first", first, "--last", last];
        call(dir.path(), &user(), &[&days[..], &["--marker", "_SUCCESS", "--skip-hidden"], rest].concat())
    };
    let (code, said, output) = pull("2026-11-18", "2026-11-18", &[]);
    assert_eq!((code, &output["files"]), (Some(0), &2.into()), "{said}");
    assert_eq!(names(&dir.path().join("in")), ["dt=2026-11-18/part-0.csv", "dt=2026-11-18/part-1.csv"]);
    // One day is missing, and one is incomplete.
    let (code, said, _) = pull("2026-11-18", "2026-11-19", &[]);
    assert!(
        code == Some(1) && said.contains("dt=2026-11-19/") && said.contains("no _SUCCESS"),
        "{code:?} {said}"
    );
    let (code, said, _) = pull("2026-11-20", "2026-11-21", &[]);
    assert!(code == Some(1) && said.contains("dt=2026-11-21/"), "{said}");
    let (code, said, output) = pull("2026-11-18", "2026-11-21", &["--missing", "skip"]);
    assert_eq!((code, &output["files"], &output["skipped"]), (Some(0), &4.into(), &2.into()), "{said}");
    let left_out: Vec<&str> =
        output["left_out"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    assert!(left_out.len() == 2 && left_out[0].contains("2026-11-19"), "{left_out:?}");
    // One file per day, under a separate name.
    let file = format!("{}/logs/dt=%Y-%m-%d/part-0.csv", hdfs.addresses[0]);
    let days = ["--from", &file, "--to", "days/%d.csv", "--first", "2026-11-20", "--last", "2026-11-21"];
    let (code, said, _) = call(dir.path(), &user(), &days);
    assert_eq!(
        (code, names(&dir.path().join("days"))),
        (Some(0), vec!["20.csv".into(), "21.csv".into()]),
        "{said}"
    );
}

pub(super) async fn waiting(hdfs: &mut Hdfs) {
    put(hdfs, "late/dt=2026-11-21/part-0.csv", b"a\n").await;
    let dir = tempfile::tempdir().unwrap();
    let mut spec = hdfs_spec(
        &format!("{}/late/dt=2026-11-21/", hdfs.addresses[0]),
        &format!("{}/", dir.path().display()),
    );
    spec.marker = Some("_SUCCESS".into());
    spec.wait = Duration::from_secs(60);
    let soon = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        put(hdfs, "late/dt=2026-11-21/part-1.csv", b"b\n").await;
        put(hdfs, "late/dt=2026-11-21/_SUCCESS", b"").await;
    };
    let (done, ()) = tokio::join!(copy(&spec), soon);
    assert_eq!(done.unwrap().files.len(), 2);
    assert_eq!(names(dir.path()), ["part-0.csv", "part-1.csv"]);
    // Without a marker, it waits for the folder itself.
    let next = format!("{}/late/dt=2026-11-22/", hdfs.addresses[0]);
    let mut spec = hdfs_spec(&next, &format!("{}/", dir.path().join("next").display()));
    spec.wait = Duration::from_secs(60);
    let soon = async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        put(hdfs, "late/dt=2026-11-22/part-0.csv", b"a\n").await;
    };
    let (done, ()) = tokio::join!(copy(&spec), soon);
    assert_eq!(done.unwrap().files.len(), 1);
}

pub(super) async fn merging(hdfs: &mut Hdfs) {
    for part in 0..20 {
        let end = if part % 3 == 0 { "" } else { "\n" };
        put(hdfs, &format!("small/part-{part:02}.csv"), format!("a,b\n{part},1{end}").as_bytes()).await;
    }
    put(hdfs, "small/large.csv", &content(MIB, 4)).await;
    let dir = tempfile::tempdir().unwrap();
    let mut spec = hdfs_spec(&format!("{}/small/", hdfs.addresses[0]), &format!("{}/", dir.path().display()));
    (spec.merge, spec.header) = (Some(100), true);
    let merged = copy(&spec).await.unwrap();
    let mut rows = Vec::new();
    for name in names(dir.path()).iter().filter(|name| name.starts_with("merged")) {
        let text = std::fs::read_to_string(dir.path().join(name)).unwrap();
        assert!(text.starts_with("a,b\n") && text.len() <= 100, "{text:?}");
        rows.extend(text.lines().skip(1).map(str::to_owned));
    }
    assert_eq!(rows, (0..20).map(|part| format!("{part},1")).collect::<Vec<_>>());
    assert!(merged.files.len() < 6, "{merged:?}");
    assert_eq!(std::fs::read(dir.path().join("large.csv")).unwrap(), content(MIB, 4));
    assert_eq!(copy(&spec).await.unwrap().skipped(), merged.files.len() as u64);
    // Files that are not lines cannot be merged.
    put(hdfs, "small/table.parquet", b"PAR1").await;
    let error = copy(&spec).await.unwrap_err().to_string();
    assert!(error.contains("table.parquet") && error.contains("cannot be merged"), "{error}");
    put(hdfs, "rows/000000_0", b"ORC and so on").await;
    put(hdfs, "rows/000001_0", b"ORC and so on").await;
    let rows = spec_of_merge(&format!("{}/rows/", hdfs.addresses[0]), dir.path());
    let error = copy(&rows).await.unwrap_err().to_string();
    assert!(error.contains("000000_0") && error.contains("more than lines"), "{error}");
    put(hdfs, "tars/a.tar.gz", b"x").await;
    let tars = spec_of_merge(&format!("{}/tars/", hdfs.addresses[0]), dir.path());
    assert!(copy(&tars).await.unwrap_err().to_string().contains("cannot be merged"));
}

fn spec_of_merge(from: &str, to: &Path) -> TransferSpec {
    let mut spec = hdfs_spec(from, &format!("{}/", to.display()));
    spec.merge = Some(1 << 20);
    spec
}
