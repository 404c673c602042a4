//! Disks with little space.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

/// The file that fills a disk.
const FILLER: &str = "filler";
/// The space that a file of one byte takes.
const PAGE: usize = 4 << 10;

/// A 2 MiB file system that every worker may write to. Dropping this unmounts it.
pub struct Small(PathBuf);

impl Small {
    /// Mounts it at a new folder. Only root can: for others, the folder is an ordinary one, and a message
    /// says so.
    pub fn mount(place: &Path) -> Option<Self> {
        fs::create_dir_all(place).expect("it can be made");
        let small = rustix::process::geteuid().is_root().then(|| {
            let mut command = Command::new("mount");
            let done = command
                .args(["-t", "tmpfs", "-o", "size=2m", "tmpfs"])
                .arg(place)
                .output()
                .expect("mount starts");
            assert!(done.status.success(), "{done:?}");
            Self(place.to_owned())
        });
        fs::set_permissions(place, Permissions::from_mode(0o777)).expect("it is the test's");
        if small.is_none() {
            eprintln!("skipped: only root can mount a small file system");
        }
        small
    }

    /// Mounts it with files that contain `old`. One page is left: space for one small file, not for two.
    pub fn with_old(place: &Path, files: &[&str]) -> Option<Self> {
        let small = Self::mount(place)?;
        for file in files {
            let file = place.join(file);
            fs::create_dir_all(file.parent().expect("a folder")).expect("it can be made");
            fs::write(file, "old").expect("there is room");
        }
        let mut filler = File::create(place.join(FILLER)).expect("it can be made");
        while filler.write_all(&[7; PAGE]).is_ok() {}
        let size = filler.metadata().expect("it is there").len();
        filler.set_len(size - PAGE as u64).expect("it can be cut");
        Some(small)
    }

    /// Asserts that each of these files still contains `old`, and that no other file exists.
    #[track_caller]
    pub fn assert_as_it_was(&self, files: &[&str]) {
        for file in files {
            assert_eq!(fs::read_to_string(self.0.join(file)).expect("it is there"), "old", "{file}");
        }
        let entries =
            fs::read_dir(&self.0).expect("it is there").map(|entry| entry.expect("an entry").file_name());
        let mut found: Vec<String> = entries.map(|name| name.into_string().expect("UTF-8")).collect();
        found.retain(|name| name != FILLER);
        found.sort();
        let mut wanted: Vec<&str> =
            files.iter().map(|file| file.split('/').next().expect("a name")).collect();
        wanted.sort_unstable();
        assert_eq!(found, wanted, "nothing is left beside it");
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// A task `link`, which adds a link in the run's folder to a project folder, and a task after it.
pub fn linked(folder: &str, task: &str, template: &str, arguments: &Value) -> String {
    let link = json!({"command": ["ln", "-s", format!("{{{{ workspace }}}}/{folder}"), format!("{{{{ run.dir }}}}/{folder}")]});
    format!(
        "  - {{name: link, template: command, arguments: {link}}}\n  - {{name: {task}, template: {template}, needs: [link], \
         arguments: {arguments}}}\n"
    )
}
