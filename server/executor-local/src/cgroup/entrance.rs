//! How a new process enters a group: with its first instruction if the kernel supports that, otherwise by
//! itself.
//!
//! In version 2, and on any write to `cgroup.procs`, moving a process waits for all CPUs to pass a quiescent
//! state (4 to 15 ms). `clone3` with `CLONE_INTO_CGROUP` (Linux 5.7) moves nothing. Version 1's `tasks`,
//! written by the process itself, costs some 0.1 ms. clone3(2); `cgroup_attach_lock` in
//! kernel/cgroup/cgroup.c of Linux.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

use rustix::io::Errno;

/// `CLONE_INTO_CGROUP`, which overflows its type in the crate `libc`.
const INTO_CGROUP: u64 = 0x2_0000_0000;

/// The open files through which a process enters all folders of a group.
#[derive(Debug, Default)]
pub(crate) struct Entrance {
    /// Version 1: a process enters by writing `0`.
    pub(super) tasks: Vec<File>,
    /// Version 2: the folder, and its `cgroup.procs`.
    pub(super) unified: Option<(File, File)>,
}

/// The result of a fork.
pub(crate) enum Forked {
    /// In the child.
    Child {
        /// Whether it was started in the version 2 folder.
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

    /// Forks, into the version 2 folder if possible.
    ///
    /// # Errors
    /// There are too many processes, or too little memory.
    ///
    /// # Safety
    /// This process has one thread. Until it executes a program or ends, the child only makes system calls
    /// and allocates. The C library does not know of a child that `clone3` creates.
    #[allow(unsafe_code)]
    pub(crate) unsafe fn fork(&self) -> io::Result<Forked> {
        if let Some((folder, _)) = &self.unified {
            // SAFETY: zero is a valid value of each field.
            let mut arguments: libc::clone_args = unsafe { std::mem::zeroed() };
            arguments.flags = INTO_CGROUP;
            arguments.exit_signal = libc::SIGCHLD.cast_unsigned().into();
            arguments.cgroup = folder.as_raw_fd().cast_unsigned().into();
            // SAFETY: without sharing flags it is a fork; the structure outlives the call.
            let child =
                unsafe { libc::syscall(libc::SYS_clone3, &raw const arguments, size_of_val(&arguments)) };
            match child {
                0 => return Ok(Forked::Child { inside: true }),
                // An older kernel, or a seccomp filter. For any other error, the fallback reports it too.
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

    /// In the child: enters the folders that it is not in yet.
    pub(crate) fn enter(&self, inside: bool) -> Result<(), Errno> {
        let unified = self.unified.iter().map(|(_, processes)| processes).filter(|_| !inside);
        self.tasks.iter().chain(unified).try_for_each(|file| rustix::io::write(file, b"0").map(|_| ()))
    }
}
