//! How a process that is being started enters a group: with its first instruction where the kernel can do that, by itself else.
//!
//! In version 2, and wherever `cgroup.procs` is written to, moving a process waits for all processors to pass a quiescent state
//! (4 to 15 ms). `clone3` with `CLONE_INTO_CGROUP` (Linux 5.7) moves nothing. Version 1's `tasks`, written by the process itself,
//! costs some 0.1 ms. clone3(2); `cgroup_attach_lock` in kernel/cgroup/cgroup.c of Linux.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use rustix::io::Errno;

/// `CLONE_INTO_CGROUP`, which does not fit into the type that the crate `libc` gives it.
const INTO_CGROUP: u64 = 0x2_0000_0000;

/// The open files by which a process enters all folders of a group.
#[derive(Debug, Default)]
pub(crate) struct Entrance {
    /// Version 1: a process that writes `0` is in.
    pub(super) tasks: Vec<File>,
    /// Version 2: the folder, and its `cgroup.procs`.
    pub(super) unified: Option<(File, File)>,
}

/// What a fork returned.
pub(crate) enum Forked {
    /// In the child.
    Child {
        /// Whether it was started in the folder of version 2.
        inside: bool,
    },
    /// In the parent: the child's process id.
    Parent(libc::pid_t),
}

impl Entrance {
    /// Whether there is no group to enter.
    pub(crate) fn is_empty(&self) -> bool {
        self.tasks.is_empty() && self.unified.is_none()
    }

    /// Forks, into the folder of version 2 where that is possible.
    ///
    /// # Errors
    /// There are too many processes, or too little memory.
    ///
    /// # Safety
    /// This process has one thread, and the child calls nothing but system calls and what allocates, until it executes a program
    /// or ends: the C library does not know of a child that `clone3` has made.
    #[allow(unsafe_code)]
    pub(crate) unsafe fn fork(&self) -> io::Result<Forked> {
        if let Some((folder, _)) = &self.unified {
            // SAFETY: zero is a value of each of its members.
            let mut arguments: libc::clone_args = unsafe { std::mem::zeroed() };
            arguments.flags = INTO_CGROUP;
            arguments.exit_signal = libc::SIGCHLD.cast_unsigned().into();
            arguments.cgroup = folder.as_raw_fd().cast_unsigned().into();
            // SAFETY: without flags that share something it is a fork; the structure outlives the call.
            let child =
                unsafe { libc::syscall(libc::SYS_clone3, &raw const arguments, size_of_val(&arguments)) };
            match child {
                0 => return Ok(Forked::Child { inside: true }),
                // An older kernel, or a filter of system calls; whatever else it is, the other way says as well.
                -1 => {}
                child => return Ok(Forked::Parent(child as libc::pid_t)),
            }
        }
        // SAFETY: as above.
        match unsafe { libc::fork() } {
            0 => Ok(Forked::Child { inside: false }),
            -1 => Err(io::Error::last_os_error()),
            child => Ok(Forked::Parent(child)),
        }
    }

    /// In the child: enters what it is not in yet.
    ///
    /// # Errors
    /// The kernel refused.
    pub(crate) fn enter(&self, inside: bool) -> Result<(), Errno> {
        let unified = self.unified.iter().map(|(_, processes)| processes).filter(|_| !inside);
        self.tasks.iter().chain(unified).try_for_each(|file| rustix::io::write(file, b"0").map(|_| ()))
    }
}
