//! Servers that are killed, that hang, or whose data is corrupt.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use cubeloom_storage::transfer::{Outcome, Progress, Stop, TransferError, transfer};

use super::{Hdfs, MIB, content_of, hdfs_spec, put};
use crate::helpers::{content, copy, write};

/// Default idle timeout.
const BY_DEFAULT: Duration = Duration::from_secs(60);

pub(super) async fn no_name_node(hdfs: &mut Hdfs) {
    let bytes = content(8 * MIB, 5);
    put(hdfs, "faults/big.bin", &bytes).await;
    for address in hdfs.addresses.clone() {
        let dir = tempfile::tempdir().unwrap();
        let to = dir.path().join("big.bin");
        let spec = hdfs_spec(&format!("{address}/faults/big.bin"), to.to_str().unwrap());
        hdfs.order("kill namenode");
        let began = Instant::now();
        let error = copy(&spec).await.unwrap_err();
        assert!(matches!(error, TransferError::NoConnection { .. }), "{error}");
        assert!(began.elapsed() < BY_DEFAULT, "{:?}", began.elapsed());
        let file = write(dir.path().join("mine"), b"mine");
        let error =
            copy(&hdfs_spec(file.to_str().unwrap(), &format!("{address}/faults/mine"))).await.unwrap_err();
        assert!(matches!(error, TransferError::NoConnection { .. }), "{error}");
        hdfs.order("start namenode");
        copy(&spec).await.unwrap();
        assert!(std::fs::read(&to).unwrap() == bytes);
    }
}

/// A server that neither responds nor hangs up costs the timeout, not more: NameNode and DataNode, reading
/// and writing. The existing target stays.
pub(super) async fn frozen(hdfs: &mut Hdfs) {
    let old = content(MIB, 6);
    put(hdfs, "frozen/old.bin", &old).await;
    put(hdfs, "frozen/model.bin", &old).await;
    // The remains of a killed transfer do not count as files of a folder.
    put(hdfs, "frozen/.old.bin.cubeloom-part", b"half").await;
    let before = content_of(hdfs, "frozen").await;
    assert!(before.iter().all(|(_, bytes)| *bytes == old) && before.len() == 2, "two files");
    let dir = tempfile::tempdir().unwrap();
    let to = dir.path().join("old.bin");
    let new = content(MIB, 7);
    let file = write(dir.path().join("model.bin"), &new);
    for address in hdfs.addresses.clone() {
        let pull = hdfs_spec(&format!("{address}/frozen/old.bin"), to.to_str().unwrap());
        let push = hdfs_spec(file.to_str().unwrap(), &format!("{address}/frozen/model.bin"));
        for (server, whole) in
            [("namenode", &pull), ("namenode", &push), ("datanode", &pull), ("datanode", &push)]
        {
            let mut spec = whole.clone();
            // Over HTTP the timeout of a write is five times as long.
            (spec.silence, spec.attempts) = (Duration::from_secs(2), 1);
            hdfs.order(&format!("freeze {server}"));
            let began = Instant::now();
            let error = copy(&spec).await.unwrap_err();
            assert!(began.elapsed() < BY_DEFAULT, "{server}: {:?}: {error}", began.elapsed());
            hdfs.order(&format!("thaw {server}"));
        }
        assert!(
            !to.exists() && content_of(hdfs, "frozen").await == before,
            "{address}: nothing half is left"
        );
        // A resumed DataNode executes an old WebHDFS request: an unfinished, harmless file beside the target.
        copy(&push).await.unwrap();
        let there = content_of(hdfs, "frozen").await;
        assert!(there.iter().map(|(name, _)| name.as_str()).eq(["model.bin", "old.bin"]), "{address}");
        assert!(there[0].1 == new && there[1].1 == old, "{address}");
        put(hdfs, "frozen/model.bin", &old).await;
    }
}

/// A corrupt block is detected.
pub(super) async fn spoilt(hdfs: &mut Hdfs) {
    let bytes = content(MIB, 11);
    put(hdfs, "spoilt/one.bin", &bytes).await;
    let block =
        files_below(&hdfs.folder).into_iter().find(|path| std::fs::read(path).is_ok_and(|it| it == bytes));
    let mut turned = bytes.clone();
    turned[MIB / 2] ^= 1;
    write(block.expect("a file of the DataNode's"), &turned);
    let dir = tempfile::tempdir().unwrap();
    let to = write(dir.path().join("one.bin"), b"old");
    for address in &hdfs.addresses {
        let mut spec = hdfs_spec(&format!("{address}/spoilt/one.bin"), to.to_str().unwrap());
        spec.attempts = 1;
        let got = copy(&spec).await;
        assert!(got.is_err(), "{address}: {got:?}");
        assert_eq!(std::fs::read(&to).unwrap(), b"old", "{address}");
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}

pub(super) async fn no_data_node(hdfs: &mut Hdfs) {
    let bytes = content(8 * MIB, 5);
    let address = hdfs.addresses[0].clone();
    let dir = tempfile::tempdir().unwrap();
    let to = dir.path().join("big.bin");
    let mut spec = hdfs_spec(&format!("{address}/faults/big.bin"), to.to_str().unwrap());
    spec.parallel = 1;
    // Killed when a quarter has arrived; the transfer waits for that.
    let (reached, at_quarter) = std::sync::mpsc::channel();
    let (killed, is_killed) = std::sync::mpsc::channel();
    let channels = Mutex::new(Some((reached, is_killed)));
    let listener = move |now: Progress| {
        if now.bytes_done * 4 > now.bytes_total
            && let Some((reached, is_killed)) = channels.lock().unwrap().take()
        {
            reached.send(()).unwrap();
            is_killed.recv().unwrap();
        }
    };
    let pulled = std::thread::scope(|scope| {
        let hdfs = &mut *hdfs;
        scope.spawn(move || {
            at_quarter.recv().unwrap();
            hdfs.order("kill datanode");
            killed.send(()).unwrap();
        });
        let stop = Stop::default();
        let pulling = transfer(&spec, &stop, listener);
        tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(pulling))
    });
    let why = pulled.unwrap_err().to_string();
    assert!(why.contains("faults/big.bin") && why.contains("none of its DataNodes"), "{why}");
    let file = write(dir.path().join("mine"), b"mine");
    let push = hdfs_spec(file.to_str().unwrap(), &format!("{address}/faults/mine"));
    let why = copy(&push).await.unwrap_err().to_string();
    assert!(why.contains("faults/mine"), "{why}");
    hdfs.order("start datanode");
    let report = copy(&spec).await.unwrap();
    assert!(matches!(report.files[0].outcome, Outcome::Resumed(kept) if kept > 0), "{report:?}");
    assert!(std::fs::read(&to).unwrap() == bytes);
    copy(&push).await.unwrap();
}
