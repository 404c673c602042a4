//! Onto a file system without enough space.

use std::path::{Path, PathBuf};
use std::process::Command;

use cubeloom_storage::transfer::{Outcome, TransferError};

use crate::helpers::{content, copy, names, spec, write};
use crate::web_server::{Behaviour, WebServer};

/// A file system of two MiB, unmounted on drop.
struct Small(PathBuf);

impl Small {
    fn mount(place: &Path) -> Self {
        let mut command = Command::new("mount");
        let done = command.args(["-t", "tmpfs", "-o", "size=2m", "tmpfs"]).arg(place).output().unwrap();
        assert!(done.status.success(), "{done:?}");
        Self(place.to_owned())
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// Either the size is known in advance, so the transfer fetches nothing, or the disk fills up midway: the
/// target is unchanged. Only root can mount a file system.
#[tokio::test(flavor = "multi_thread")]
async fn a_full_target_is_as_it_was_and_the_transfer_works_when_there_is_room() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: only root can mount a small file system");
        return;
    }
    for chunked in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let small = Small::mount(dir.path());
        let old = content(1 << 20, 30);
        let to = write(dir.path().join("model.bin"), &old);
        let bytes = content(4 << 20, 31);
        let behaviour = Behaviour { bytes, chunked, no_ranges: chunked, ..Behaviour::default() };
        let server = WebServer::start(behaviour).await;
        let spec = spec(&[&server.url("model.bin")], &to);
        let error = copy(&spec).await.unwrap_err();
        assert!(matches!(error, TransferError::Full { .. }), "{error}");
        assert!(error.to_string().contains("model.bin: the disk is full"), "{error}");
        assert_eq!(std::fs::read(&to).unwrap(), old, "chunked: {chunked}");
        assert_eq!(server.take_seen().sent > 0, chunked, "a size that is known is looked at first");
        // Less arrives, and fits beside the old file.
        let bytes = content(800 << 10, 32);
        server.change(|behaviour| behaviour.bytes.clone_from(&bytes));
        assert_eq!(copy(&spec).await.unwrap().files[0].outcome, Outcome::Copied);
        assert_eq!(std::fs::read(&to).unwrap(), bytes);
        assert_eq!(names(dir.path()), ["model.bin"]);
        drop(small);
    }
}
