//! Where a worker's output goes: straight into its files, or, when it was given secrets, through pipes that this
//! process masks. A shell has its terminal instead.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pipe::PipeFlags;

use super::supervise::signals;
use crate::spec::{self, ShimSpec};
use cubeloom_workers::mask::Masker;

/// How much is read at a time, in bytes: what a pipe holds.
const PIECE: usize = 64 << 10;
/// More than this of a worker's outputs is never read by the server, in bytes.
const OUTPUTS: u64 = cubeloom_workers::outputs::MOST as u64;

/// What a worker's program is given: standard input, output and error.
pub(super) struct Streams {
    stdio: [File; 3],
    masked: Option<Masked>,
    /// Whether all three are a terminal.
    terminal: bool,
}

/// The pipes of a worker that was given secrets.
struct Masked {
    streams: [Stream; 2],
    /// Readable when a signal has come.
    signals: OwnedFd,
}

struct Stream {
    pipe: OwnedFd,
    file: File,
    masker: Masker,
}

impl Streams {
    /// Opens the files, and makes the pipes where they are needed.
    pub(super) fn open(order: &ShimSpec) -> io::Result<Self> {
        if let Some(terminal) = &order.terminal {
            let device = open_terminal(&terminal.device)?;
            let stdio = [device.try_clone()?, device.try_clone()?, device];
            return Ok(Self { stdio, masked: None, terminal: true });
        }
        let stdin = File::open("/dev/null")?;
        let (stdout, stderr) = (append(order, spec::STDOUT)?, append(order, spec::STDERR)?);
        if order.masks.is_empty() {
            return Ok(Self { stdio: [stdin, stdout, stderr], masked: None, terminal: false });
        }
        let (stdout, masked_stdout) = Stream::make(order, stdout)?;
        let (stderr, masked_stderr) = Stream::make(order, stderr)?;
        let masked = Masked { streams: [masked_stdout, masked_stderr], signals: signal_descriptor()? };
        Ok(Self { stdio: [stdin, stdout, stderr], masked: Some(masked), terminal: false })
    }

    /// What the program is given.
    pub(super) fn stdio(&self) -> &[File; 3] {
        &self.stdio
    }

    /// Says something to whoever sits at the terminal.
    pub(super) fn say(&mut self, sentence: &str) {
        if self.terminal {
            let _ = write!(self.stdio[1], "{sentence}\r\n");
        }
    }

    /// Whether nobody holds the terminal's other end any more.
    pub(super) fn hung_up(&self) -> bool {
        let mut device = [PollFd::new(&self.stdio[0], PollFlags::empty())];
        self.terminal
            && poll(&mut device, Some(&Timespec::default())).is_ok()
            && device[0].revents().contains(PollFlags::HUP)
    }

    /// Passes on what the worker writes until a signal comes, at most for `pause`. `false` when nothing has to be
    /// passed on: then signals are to be waited for by themselves.
    pub(super) fn pass_on(&mut self, pause: Duration) -> bool {
        let Some(masked) = &mut self.masked else { return false };
        let until = std::time::Instant::now() + pause;
        loop {
            let left = until.saturating_duration_since(std::time::Instant::now());
            let (signal, [stdout, stderr]) = masked.wait(left);
            if stdout {
                masked.streams[0].pass_on_once();
            }
            if stderr {
                masked.streams[1].pass_on_once();
            }
            if signal || left.is_zero() {
                return true;
            }
        }
    }

    /// Passes on what is left, once nothing of the worker runs any more.
    pub(super) fn finish(&mut self) {
        for stream in self.masked.iter_mut().flat_map(|masked| &mut masked.streams) {
            while stream.pass_on_once() {}
            let rest = stream.masker.finish();
            let _ = stream.file.write_all(&rest);
        }
    }
}

impl Masked {
    /// Whether a signal is there, and which pipes hold something.
    fn wait(&self, pause: Duration) -> (bool, [bool; 2]) {
        let [stdout, stderr] = &self.streams;
        let mut all = [&self.signals, &stdout.pipe, &stderr.pipe].map(|fd| PollFd::new(fd, PollFlags::IN));
        let timeout = Timespec::try_from(pause).ok();
        if poll(&mut all, timeout.as_ref()).is_err() {
            return (true, [false; 2]);
        }
        let ready = |at: usize| all[at].revents().contains(PollFlags::IN);
        (ready(0), [ready(1), ready(2)])
    }
}

impl Stream {
    /// The end that the program writes to, and the stream that reads from it.
    fn make(order: &ShimSpec, file: File) -> io::Result<(File, Self)> {
        let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        rustix::io::ioctl_fionbio(&read, true)?;
        Ok((write.into(), Self { pipe: read, file, masker: Masker::new(&order.masks) }))
    }

    /// One piece; `false` when there is none. What the disk does not take is lost, as without a pipe.
    fn pass_on_once(&mut self) -> bool {
        let mut buffer = [0; PIECE];
        loop {
            match rustix::io::read(self.pipe.as_fd(), &mut buffer) {
                Ok(0) => return false,
                Ok(count) => {
                    let text = self.masker.push(&buffer[..count]);
                    let _ = self.file.write_all(&text);
                    return true;
                }
                Err(Errno::INTR) => {}
                Err(_) => return false,
            }
        }
    }
}

/// Opens a terminal that does not become this process's own.
fn open_terminal(device: &Path) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(device, flags, Mode::empty())?.into())
}

fn append(order: &ShimSpec, name: &str) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).mode(0o640).open(order.folder.join(name))
}

/// Readable while one of the signals that are waited for is pending. It takes none: that is left to who waits.
fn signal_descriptor() -> io::Result<OwnedFd> {
    // SAFETY: the set is initialised; the descriptor is new and nobody else's.
    #[allow(unsafe_code)]
    unsafe {
        match libc::signalfd(-1, &signals(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) {
            -1 => Err(io::Error::last_os_error()),
            descriptor => Ok(OwnedFd::from_raw_fd(descriptor)),
        }
    }
}

/// Masks the file that a worker reported its outputs in, before anybody reads them for good.
pub(super) fn mask_outputs(path: &Path, masks: &[String]) -> io::Result<()> {
    if masks.is_empty() {
        return Ok(());
    }
    let mut text = Vec::new();
    match File::open(path) {
        Ok(file) => file.take(OUTPUTS + 1).read_to_end(&mut text)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let mut masker = Masker::new(masks);
    let mut masked = masker.push(&text);
    masked.extend(masker.finish());
    if masked == text { Ok(()) } else { fs::write(path, masked) }
}
