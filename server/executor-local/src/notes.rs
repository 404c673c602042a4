//! Messages of shims during their start: one pipe for all of a server's shims.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, Weak};

use rustix::io::Errno;
use rustix::pipe::PipeFlags;

use crate::attempt::Happened;
use crate::descriptor::readable;
use crate::machine::{Machine, Slot};
use crate::spec::Note;

/// Both ends of the pipe.
pub(crate) struct Notes {
    /// The end that shims inherit.
    pub(crate) write: OwnedFd,
    pub(crate) read: Arc<OwnedFd>,
    /// An incomplete line. Locked while lines are read and dispatched. So after draining the pipe, every
    /// message written before has been dispatched.
    partial: Mutex<Vec<u8>>,
}

impl Notes {
    pub(crate) fn new() -> io::Result<Self> {
        let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        rustix::io::ioctl_fionbio(&read, true)?;
        Ok(Self { write, read: Arc::new(read), partial: Mutex::default() })
    }

    /// Dispatches all messages written so far.
    pub(crate) fn drain(&self, machine: &Machine) {
        let mut partial = self.partial.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let mut buffer = [0; 4096];
        loop {
            match rustix::io::read(&self.read, &mut buffer) {
                Ok(0) | Err(Errno::AGAIN) => return,
                Ok(count) => partial.extend_from_slice(&buffer[..count]),
                Err(Errno::INTR) => {}
                Err(error) => return tracing::error!(%error, "the notes of shims cannot be read"),
            }
            while let Some(end) = partial.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = partial.drain(..=end).collect();
                pass_on(machine, &line);
            }
        }
    }
}

fn pass_on(machine: &Machine, line: &[u8]) {
    let Ok(note) = serde_json::from_slice::<Note>(line) else { return };
    if let Some(Slot::Live(sender)) = machine.attempts().get(&note.attempt) {
        let _ = sender.send(Happened::Note(note));
    }
}

/// Reads until the server's executor is dropped.
pub(crate) async fn read_all(machine: Weak<Machine>, read: Arc<OwnedFd>) {
    let descriptor = match readable(&read) {
        Ok(descriptor) => descriptor,
        Err(error) => return tracing::error!(%error, "the notes of shims cannot be read"),
    };
    while let Ok(mut ready) = descriptor.readable().await {
        let Some(machine) = machine.upgrade() else { return };
        // Clear it first: a write while draining makes it ready again.
        ready.clear_ready();
        machine.notes.drain(&machine);
    }
}
