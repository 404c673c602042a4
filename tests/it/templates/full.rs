//! A disk with little room.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

/// A file system of two MiB that every worker may write to, unmounted when it is dropped.
pub struct Small(PathBuf);

impl Small {
    /// At a folder, which is made. Only root can mount one: for everybody else it is a folder like others, and that is said.
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
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// A task `link`, after which the run's folder has a link to a folder of the project's; a task after it.
pub fn linked(folder: &str, task: &str, template: &str, arguments: &Value) -> String {
    let link = json!({"command": ["ln", "-s", format!("{{{{ workspace }}}}/{folder}"), format!("{{{{ run.dir }}}}/{folder}")]});
    format!(
        "  - {{name: link, template: command, arguments: {link}}}\n  - {{name: {task}, template: {template}, needs: [link], \
         arguments: {arguments}}}\n"
    )
}
