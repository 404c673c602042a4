//! The path of a worker's output: through pipes into its files, with secrets masked and the size limited. A
//! shell has its terminal instead.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::Duration;

use cubeloom_files::own;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::pipe::PipeFlags;

use super::supervise::signals;
use crate::spec::{self, ShimSpec};
use cubeloom_workers::mask::Masker;

/// Read size, in bytes: the capacity of a pipe.
const PIECE: usize = 64 << 10;
/// The server never reads more than this of a worker's outputs, in bytes.
const OUTPUTS: u64 = cubeloom_workers::outputs::MOST as u64;

/// The program's standard input, output and error.
pub(super) struct Streams {
    stdio: [File; 3],
    /// `None` if all three are a terminal.
    pipes: Option<Pipes>,
}

/// The pipes of output and error.
struct Pipes {
    streams: [Stream; 2],
    /// Readable when a signal is pending.
    signals: OwnedFd,
}

struct Stream {
    pipe: OwnedFd,
    file: File,
    masker: Masker,
    kept: Kept,
}

/// The retained part of a stream: its beginning, and finally its last bytes.
struct Kept {
    /// Remaining bytes of the beginning; `None`: no limit.
    left: Option<u64>,
    /// Bytes in neither part.
    dropped: u64,
    last: VecDeque<u8>,
}

/// Size of the retained end, in bytes: what users look for after a failure.
const LAST: usize = 64 << 10;

impl Kept {
    fn new(most: u64) -> Self {
        Self { left: (most > 0).then_some(most), dropped: 0, last: VecDeque::new() }
    }

    /// Returns the part to write now.
    fn push<'a>(&mut self, text: &'a [u8]) -> (&'a [u8], Option<&'static str>) {
        let Some(left) = &mut self.left else { return (text, None) };
        let fits = usize::try_from(*left).unwrap_or(usize::MAX).min(text.len());
        let (begin, rest) = text.split_at(fits);
        *left -= fits as u64;
        let is_full = !rest.is_empty() && self.last.is_empty() && self.dropped == 0;
        self.last.extend(rest);
        let over = self.last.len().saturating_sub(LAST);
        self.last.drain(..over);
        self.dropped += over as u64;
        (
            begin,
            is_full
                .then_some("\n[cubeloom: the log is full; its last part follows when the task has ended]\n"),
        )
    }

    /// Returns the part to write once the stream has ended.
    fn finish(&mut self) -> Vec<u8> {
        let mut rest = match self.dropped {
            0 => Vec::new(),
            dropped => format!("[cubeloom: {dropped} bytes are omitted]\n").into_bytes(),
        };
        rest.extend(self.last.drain(..));
        rest
    }
}

impl Streams {
    /// Opens the files, and creates pipes if needed.
    pub(super) fn open(order: &ShimSpec) -> io::Result<Self> {
        if let Some(terminal) = &order.terminal {
            let device = open_terminal(&terminal.device)?;
            let stdio = [device.try_clone()?, device.try_clone()?, device];
            return Ok(Self { stdio, pipes: None });
        }
        let stdin = own::open("/dev/null")?;
        let (stdout, stderr) = (append(order, spec::STDOUT)?, append(order, spec::STDERR)?);
        let (stdout, output) = Stream::make(order, stdout)?;
        let (stderr, error) = Stream::make(order, stderr)?;
        let pipes = Pipes { streams: [output, error], signals: signal_descriptor()? };
        Ok(Self { stdio: [stdin, stdout, stderr], pipes: Some(pipes) })
    }

    pub(super) fn stdio(&self) -> &[File; 3] {
        &self.stdio
    }

    /// Writes a message to the terminal's user.
    pub(super) fn say(&mut self, sentence: &str) {
        if self.pipes.is_none() {
            let _ = write!(self.stdio[1], "{sentence}\r\n");
        }
    }

    /// Whether the terminal's other end is closed.
    pub(super) fn hung_up(&self) -> bool {
        let mut device = [PollFd::new(&self.stdio[0], PollFlags::empty())];
        self.pipes.is_none()
            && poll(&mut device, Some(&Timespec::default())).is_ok()
            && device[0].revents().contains(PollFlags::HUP)
    }

    /// Forwards the worker's output until a signal arrives, at most for `pause`. Returns `false` at a
    /// terminal, which needs no forwarding: the caller must wait for signals itself.
    pub(super) fn pass_on(&mut self, pause: Duration) -> bool {
        let Some(pipes) = &mut self.pipes else { return false };
        let until = std::time::Instant::now() + pause;
        loop {
            let left = until.saturating_duration_since(std::time::Instant::now());
            let (signal, [stdout, stderr]) = pipes.wait(left);
            if stdout {
                pipes.streams[0].pass_on_once();
            }
            if stderr {
                pipes.streams[1].pass_on_once();
            }
            if signal || left.is_zero() {
                return true;
            }
        }
    }

    /// Forwards the remaining output, once nothing of the worker runs any more.
    pub(super) fn finish(&mut self) {
        for stream in self.pipes.iter_mut().flat_map(|pipes| &mut pipes.streams) {
            while stream.pass_on_once() {}
            let rest = stream.masker.finish();
            stream.keep(&rest);
            let _ = stream.file.write_all(&stream.kept.finish());
        }
    }
}

impl Pipes {
    /// Whether a signal is pending, and which pipes are readable.
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
        let kept = Kept::new(order.limits.log);
        Ok((write.into(), Self { pipe: read, file, masker: Masker::new(&order.masks), kept }))
    }

    fn keep(&mut self, text: &[u8]) {
        let (now, sentence) = self.kept.push(text);
        let _ = self.file.write_all(now);
        let _ = sentence.map(|sentence| self.file.write_all(sentence.as_bytes()));
    }

    /// Forwards one chunk; `false` when there is none. Output that the disk refuses is lost, as without a
    /// pipe.
    fn pass_on_once(&mut self) -> bool {
        let mut buffer = [0; PIECE];
        loop {
            match rustix::io::read(self.pipe.as_fd(), &mut buffer) {
                Ok(0) => return false,
                Ok(count) => {
                    let text = self.masker.push(&buffer[..count]);
                    self.keep(&text);
                    return true;
                }
                Err(Errno::INTR) => {}
                Err(_) => return false,
            }
        }
    }
}

/// Opens a terminal that does not become this process's controlling terminal.
fn open_terminal(device: &Path) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(device, flags, Mode::empty())?.into())
}

fn append(order: &ShimSpec, name: &str) -> io::Result<File> {
    own::open_with(OpenOptions::new().create(true).append(true).mode(0o640), order.folder.join(name))
}

/// Readable while one of the awaited signals is pending. Reading leaves the signal for the waiter.
fn signal_descriptor() -> io::Result<OwnedFd> {
    // SAFETY: the set is initialised; the descriptor is new and exclusive.
    #[allow(unsafe_code)]
    unsafe {
        match libc::signalfd(-1, &signals(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) {
            -1 => Err(io::Error::last_os_error()),
            descriptor => Ok(OwnedFd::from_raw_fd(descriptor)),
        }
    }
}

/// Masks a worker's report file before the server reads it for good.
pub(super) fn mask_outputs(path: &Path, masks: &[String]) -> io::Result<()> {
    if masks.is_empty() {
        return Ok(());
    }
    let mut text = Vec::new();
    match own::open(path) {
        Ok(file) => file.take(OUTPUTS + 1).read_to_end(&mut text)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let mut masker = Masker::new(masks);
    let mut masked = masker.push(&text);
    masked.extend(masker.finish());
    if masked == text { Ok(()) } else { own::write(path, masked) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(most: u64, pieces: &[&[u8]]) -> Vec<u8> {
        let mut kept = Kept::new(most);
        let mut file = Vec::new();
        for piece in pieces {
            let (now, sentence) = kept.push(piece);
            file.extend_from_slice(now);
            file.extend_from_slice(sentence.unwrap_or_default().as_bytes());
        }
        file.extend(kept.finish());
        file
    }

    #[test]
    fn a_log_has_its_beginning_and_its_end() {
        assert_eq!(written(0, &[b"all", b" of it"]), b"all of it");
        assert_eq!(written(9, &[b"all", b" of it"]), b"all of it");
        let full = "\n[cubeloom: the log is full; its last part follows when the task has ended]\n";
        assert_eq!(written(3, &[b"begin", b" and end"]), format!("beg{full}in and end").into_bytes());
        let long = vec![b'x'; 3 * LAST];
        let text = String::from_utf8(written(10, &[&long, &long, b"the last line"])).unwrap();
        let dropped = 6 * LAST + 13 - 10 - LAST;
        assert!(text.starts_with(&format!("xxxxxxxxxx{full}[cubeloom: {dropped} bytes are omitted]\nxxx")));
        assert!(text.ends_with("xxthe last line"));
        assert!(text.len() < LAST + 200);
    }
}
