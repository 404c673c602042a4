//! Terminals: an optional capability of executors.
//!
//! A terminal shows the environment in which a worker of an attempt has failed. It has the same template,
//! image, inputs and variables, with a shell instead of the program. A terminal is two plain byte streams.
//! Permissions and time limits are enforced elsewhere.

use std::io;
use std::sync::Arc;

use crate::executor::BoxFuture;
use crate::job::Job;
use crate::lowered::{Bindings, Lowered};
use crate::outcome::Failure;

/// Lowers a job, with the bindings that its executor has chosen for a terminal.
pub type Lower = dyn Fn(&Job, &Bindings) -> Result<Lowered, Failure> + Send + Sync;

/// A requested terminal.
#[derive(Clone)]
pub struct TerminalOrder {
    /// Its id: lower-case letters and digits, unique.
    pub id: String,
    /// The job of the attempt. Its `user` is the terminal's user, whose own secrets it may use.
    pub job: Arc<Job>,
    /// The rank of the worker that it replaces.
    pub rank: u32,
    /// Initial size.
    pub size: TerminalSize,
    /// The first line that it shows.
    pub greeting: String,
    pub lower: Arc<Lower>,
}

/// The size of a terminal, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalSize {
    /// Characters per line.
    pub columns: u16,
    pub rows: u16,
}

pub trait Terminals: Send + Sync {
    /// Starts a shell as the worker was started, in a scratch folder of its own. All its processes end with
    /// the terminal, and with the server.
    ///
    /// # Errors
    /// A failure of kind `CouldNotStart`: something that the attempt had no longer exists.
    fn open(&self, order: TerminalOrder) -> BoxFuture<'_, Result<Arc<dyn Terminal>, Failure>>;
}

pub trait Terminal: Send + Sync {
    /// The next output, as soon as there is any; empty when its shell has ended. A program whose output is
    /// not read blocks. Cancel safe: no output is lost when the future is dropped.
    fn read(&self) -> BoxFuture<'_, io::Result<Vec<u8>>>;

    /// Writes input, and waits until the shell has accepted it.
    ///
    /// # Errors
    /// The terminal has ended.
    fn write<'a>(&'a self, typed: &'a [u8]) -> BoxFuture<'a, io::Result<()>>;

    /// Resizes the terminal, and notifies the program that runs in it.
    ///
    /// # Errors
    /// The terminal has ended.
    fn resize(&self, size: TerminalSize) -> BoxFuture<'_, io::Result<()>>;

    /// Ends the shell and all its processes, and removes the scratch folder. Completes when nothing is left.
    fn end(&self) -> BoxFuture<'_, ()>;
}
