//! Wakes the engine of another process: an empty datagram to `wake.sock`.
//!
//! It carries no data, and a lost one costs at most the engine's poll interval.

use std::os::unix::net::UnixDatagram as Sender;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};
use tokio::net::UnixDatagram;

/// Maximum length of a socket path in the kernel.
const LONGEST: usize = 100;

/// Wakes the engine, if there is one.
pub fn send(socket: &Path) {
    let Ok(place) = Place::of(socket) else { return };
    if let Ok(sender) = Sender::unbound() {
        let _ = sender.set_nonblocking(true);
        let _ = sender.send_to(&[0], place.path());
    }
}

/// The engine's socket. The caller has the engine's lock, so an existing socket belongs to a dead process.
pub fn listen(socket: &Path) -> std::io::Result<UnixDatagram> {
    let _ = std::fs::remove_file(socket);
    UnixDatagram::bind(Place::of(socket)?.path())
}

/// A path that is short enough, and the resource that keeps it valid.
struct Place {
    path: PathBuf,
    _folder: Option<std::os::fd::OwnedFd>,
}

impl Place {
    fn of(socket: &Path) -> std::io::Result<Self> {
        let (Some(folder), Some(name)) = (socket.parent(), socket.file_name()) else {
            return Err(std::io::ErrorKind::InvalidInput.into());
        };
        if socket.as_os_str().len() <= LONGEST {
            return Ok(Self { path: socket.into(), _folder: None });
        }
        let opened = rustix::fs::open(folder, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        let number = std::os::fd::AsRawFd::as_raw_fd(&opened);
        let path = Path::new("/proc/self/fd").join(number.to_string()).join(name);
        Ok(Self { path, _folder: Some(opened) })
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_wake_up_arrives_also_in_a_deep_folder() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("d".repeat(120));
        std::fs::create_dir(&deep).unwrap();
        for folder in [folder.path(), &deep] {
            let socket = folder.join("wake.sock");
            send(&socket);
            let listener = listen(&socket).unwrap();
            send(&socket);
            assert_eq!(listener.recv(&mut [0; 8]).await.unwrap(), 1);
        }
    }
}
