//! Starts one program: fork, confine, exec; and describes failures.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::ptr;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, Resource, Rlimit};

use crate::cgroup::{Entrance, Forked};
use crate::spec::ShimSpec;

/// OOM score adjustment of a worker: the kernel kills it before the server or its shim.
const OOM_SCORE: &[u8] = b"500";
/// The file with a process's own OOM score adjustment.
const OOM_FILE: &CStr = c"/proc/self/oom_score_adj";

/// Address space beyond the memory limit, in bytes.
const ROOM: u64 = 1 << 30;

/// A program, with everything prepared that the forked child needs.
pub(super) struct Program<'a> {
    order: &'a ShimSpec,
    name: String,
    argv: Vec<CString>,
    env: Vec<CString>,
    /// Candidate paths of the program, in order.
    candidates: Vec<CString>,
    cwd: CString,
    entrance: Entrance,
}

/// The step at which the child failed; sent to the parent as a number.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Confine = 1,
    Identity = 2,
    Folder = 3,
    Exec = 4,
    View = 5,
}

/// Why a program could not start.
pub(super) enum StartError {
    /// An argument contains a NUL byte.
    ZeroByte(String),
    /// A system call failed before the fork.
    System(&'static str, io::Error),
    /// The child failed.
    Child { stage: u8, errno: i32, name: String, cwd: String, user: Option<u32> },
    /// The same for the `setup` command.
    OfSetup(Box<StartError>),
}

impl<'a> Program<'a> {
    /// Prepares everything that allocates or may fail.
    pub(super) fn new(order: &'a ShimSpec, argv: &[String]) -> Result<Self, StartError> {
        let text =
            |word: &str| CString::new(word).map_err(|_| StartError::ZeroByte(word.replace('\0', "\\0")));
        let name = argv.first().cloned().unwrap_or_default();
        let env: Result<_, _> =
            order.env.iter().map(|(key, value)| text(&format!("{key}={value}"))).collect();
        let entrance = order.cgroup.as_ref().map_or(Ok(Entrance::default()), |cgroup| cgroup.entrance());
        Ok(Self {
            order,
            candidates: candidates(&name, &order.env)
                .iter()
                .map(|path| text(path))
                .collect::<Result<_, _>>()?,
            argv: argv.iter().map(|word| text(word)).collect::<Result<_, _>>()?,
            env: env?,
            cwd: CString::new(order.cwd.as_os_str().as_bytes())
                .map_err(|_| StartError::ZeroByte(order.cwd.display().to_string()))?,
            entrance: entrance.map_err(|error| StartError::System("enter its control group", error))?,
            name,
        })
    }

    /// Forks and executes; returns when the program runs.
    pub(super) fn start(&self, stdio: &[File; 3]) -> Result<Pid, StartError> {
        let system = |what| move |error: Errno| StartError::System(what, error.into());
        let argv = pointers(&self.argv);
        let env = pointers(&self.env);
        let (read, write) =
            rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).map_err(system("make a pipe"))?;
        // SAFETY: this process has one thread, so the child may use inherited memory; it calls only exec or
        // _exit.
        #[allow(unsafe_code)]
        let forked = unsafe { self.entrance.fork() };
        match forked.map_err(|error| StartError::System("start a process", error))? {
            Forked::Child { inside } => self.child(inside, &argv, &env, stdio, &write),
            Forked::Parent(pid) => {
                drop(write);
                self.verdict(read)?;
                Pid::from_raw(pid).ok_or(StartError::System("start a process", io::ErrorKind::Other.into()))
            }
        }
    }

    /// Reads the child's error from the pipe; a closed pipe means that exec succeeded.
    fn verdict(&self, read: OwnedFd) -> Result<(), StartError> {
        let mut message = [0; 5];
        match File::from(read).read(&mut message) {
            Ok(5) => Err(StartError::Child {
                stage: message[0],
                errno: i32::from_ne_bytes([message[1], message[2], message[3], message[4]]),
                name: self.name.clone(),
                cwd: self.order.cwd.display().to_string(),
                user: self.order.user,
            }),
            _ => Ok(()),
        }
    }

    /// In the child: never returns.
    fn child(
        &self,
        inside: bool,
        argv: &[*const libc::c_char],
        env: &[*const libc::c_char],
        stdio: &[File; 3],
        verdict: &OwnedFd,
    ) -> ! {
        let (stage, errno) = match self.confine(inside, stdio) {
            Err(failed) => failed,
            Ok(()) => (Stage::Exec, self.exec(argv, env)),
        };
        let mut message = [stage as u8, 0, 0, 0, 0];
        message[1..].copy_from_slice(&errno.raw_os_error().to_ne_bytes());
        let _ = rustix::io::write(verdict, &message);
        // SAFETY: ends the child at once, without running the parent's exit handlers.
        #[allow(unsafe_code)]
        unsafe {
            libc::_exit(127)
        }
    }

    /// In the child: sets the session, control group, identity and folder.
    fn confine(&self, inside: bool, stdio: &[File; 3]) -> Result<(), (Stage, Errno)> {
        let at = |stage| move |errno| (stage, errno);
        rustix::process::setsid().map_err(at(Stage::Confine))?;
        self.entrance.enter(inside).map_err(at(Stage::Confine))?;
        // Open it here: opened by the parent, it would be the parent's own score.
        if let Ok(score) = rustix::fs::open(OOM_FILE, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty()) {
            let _ = rustix::io::write(&score, OOM_SCORE);
        }
        self.set_limits();
        rustix::stdio::dup2_stdin(&stdio[0]).map_err(at(Stage::Confine))?;
        rustix::stdio::dup2_stdout(&stdio[1]).map_err(at(Stage::Confine))?;
        rustix::stdio::dup2_stderr(&stdio[2]).map_err(at(Stage::Confine))?;
        if self.order.terminal.is_some() {
            rustix::process::ioctl_tiocsctty(&stdio[0]).map_err(at(Stage::Confine))?;
        }
        if let Some(view) = &self.order.view {
            let errno = |error: io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
            super::view::enter(view).map_err(errno).map_err(at(Stage::View))?;
        }
        if let Some(fence) = &self.order.fence {
            super::fence::put_up(fence).map_err(|_| (Stage::View, Errno::PERM))?;
        }
        if let Some(user) = self.order.user {
            become_user(user).map_err(at(Stage::Identity))?;
        }
        rustix::thread::set_no_new_privs(true).map_err(at(Stage::Identity))?;
        // Set it after the change of identity, which clears it: a worker must not outlive its shim.
        let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
        rustix::process::chdir(&self.cwd).map_err(at(Stage::Folder))?;
        super::supervise::restore_signals();
        Ok(())
    }

    fn set_limits(&self) {
        let limits = &self.order.limits;
        let set = |resource, value: u64| {
            let _ =
                rustix::process::setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) });
        };
        let most = rustix::process::getrlimit(Resource::Nofile).maximum.unwrap_or(limits.nofile);
        set(Resource::Nofile, limits.nofile.min(most));
        set(Resource::Core, 0);
        if self.entrance.is_empty() && limits.memory > 0 {
            // Sampling enforces the limit; this stops faster growth. It limits address space, including
            // thread stacks, so it must be generous.
            set(Resource::Data, limits.memory.saturating_mul(4).saturating_add(ROOM));
        }
    }

    /// In the child: tries each path; the error of the first readable one counts.
    fn exec(&self, argv: &[*const libc::c_char], env: &[*const libc::c_char]) -> Errno {
        let mut verdict = Errno::NOENT;
        for path in &self.candidates {
            // SAFETY: all three are live, null-terminated, and outlive the call.
            #[allow(unsafe_code)]
            unsafe {
                libc::execve(path.as_ptr(), argv.as_ptr(), env.as_ptr());
            }
            let errno =
                io::Error::last_os_error().raw_os_error().map_or(Errno::NOENT, Errno::from_raw_os_error);
            match errno {
                Errno::NOENT | Errno::NOTDIR => {}
                Errno::ACCESS => verdict = errno,
                other => return other,
            }
        }
        verdict
    }
}

/// Switches to a uid and the gid of the same number, without other groups; for use between fork and exec.
pub(crate) fn become_user(user: u32) -> Result<(), Errno> {
    rustix::thread::set_thread_groups(&[])?;
    rustix::thread::set_thread_gid(rustix::fs::Gid::from_raw(user))?;
    rustix::thread::set_thread_uid(rustix::fs::Uid::from_raw(user))
}

fn pointers(words: &[CString]) -> Vec<*const libc::c_char> {
    words.iter().map(|word| word.as_ptr()).chain([ptr::null()]).collect()
}

/// Candidate paths of a program called `name`: itself if it is a path, else below each folder of `PATH`.
fn candidates(name: &str, env: &[(String, String)]) -> Vec<String> {
    if name.contains('/') {
        return vec![name.into()];
    }
    let path = env.iter().find(|(key, _)| key == "PATH").map_or("", |(_, value)| value.as_str());
    path.split(':')
        .filter(|folder| folder.starts_with('/'))
        .map(|folder| format!("{folder}/{name}"))
        .collect()
}

impl StartError {
    /// Marks it as an error of the `setup` command.
    pub(super) fn of_setup(self) -> Self {
        Self::OfSetup(Box::new(self))
    }

    /// A sentence for the user.
    pub(super) fn sentence(&self) -> String {
        match self {
            Self::ZeroByte(word) => format!("`{word}` contains a zero byte, which programs cannot receive"),
            Self::System(what, error) => format!("the system did not allow it to {what}: {error}"),
            Self::OfSetup(error) => format!("setup: {}", error.sentence()),
            Self::Child { stage, errno, name, cwd, user } => {
                let who = user.map_or(String::new(), |user| format!(" by uid {user}"));
                let error = io::Error::from_raw_os_error(*errno);
                match *stage {
                    stage if stage == Stage::Exec as u8 => exec_sentence(name, *errno, &who),
                    stage if stage == Stage::Folder as u8 => {
                        format!("its folder {cwd} cannot be entered{who}: {error}")
                    }
                    stage if stage == Stage::View as u8 => {
                        format!("its sandbox of files could not be created: {error}; see `[sandbox]`")
                    }
                    stage if stage == Stage::Identity as u8 => {
                        format!("it could not switch to its user{who}: {error}")
                    }
                    _ => format!("it could not be confined: {error}; see `cubeloom check`"),
                }
            }
        }
    }
}

fn exec_sentence(name: &str, errno: i32, who: &str) -> String {
    match errno {
        libc::ENOENT if name.contains('/') => {
            format!("the command `{name}` or its interpreter does not exist")
        }
        libc::ENOENT => format!("the command `{name}` was not found on the PATH"),
        libc::EACCES => format!("the command `{name}` may not be read or executed{who}"),
        libc::ENOEXEC => {
            format!("the command `{name}` is neither a program nor a script that begins with `#!`")
        }
        libc::E2BIG => format!("the arguments and variables of `{name}` are too long for the system"),
        _ => format!("the command `{name}` could not be executed: {}", io::Error::from_raw_os_error(errno)),
    }
}
