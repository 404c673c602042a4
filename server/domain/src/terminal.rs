//! Terminals: an optional capability of executors.
//!
//! A person looks around where a worker of an attempt has failed: the same template, image, inputs and variables, and a
//! shell instead of its program. A terminal is two streams of plain bytes; who may have one, and for how long, is for
//! others to say.

use std::io;
use std::sync::Arc;

use crate::executor::BoxFuture;
use crate::job::Job;
use crate::lowered::{Bindings, Lowered};
use crate::outcome::Failure;

/// Makes of a job what a cluster takes, with the bindings that its executor has chosen for a terminal.
pub type Lower = dyn Fn(&Job, &Bindings) -> Result<Lowered, Failure> + Send + Sync;

/// The terminal that somebody wants.
#[derive(Clone)]
pub struct TerminalOrder {
    /// What it is called: lower-case letters and digits, of which no two terminals have the same.
    pub id: String,
    /// The job of the attempt. Its `user` is who the terminal is for: whose own secrets it may use.
    pub job: Arc<Job>,
    /// The worker that it stands for, by its rank.
    pub rank: u32,
    /// How large it is at first.
    pub size: TerminalSize,
    /// What it says first, a line.
    pub greeting: String,
    /// How the job is lowered.
    pub lower: Arc<Lower>,
}

/// How much text a terminal shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TerminalSize {
    /// Characters in a line.
    pub columns: u16,
    /// Lines.
    pub rows: u16,
}

/// Opens terminals.
pub trait Terminals: Send + Sync {
    /// Starts a shell the way the worker was started, in a scratch folder of its own. Everything that it runs ends with
    /// the terminal, and with the server.
    ///
    /// # Errors
    /// A failure of kind `CouldNotStart`: something that the attempt had is not there any more.
    fn open(&self, order: TerminalOrder) -> BoxFuture<'_, Result<Arc<dyn Terminal>, Failure>>;
}

/// An open terminal.
pub trait Terminal: Send + Sync {
    /// What it shows next, as soon as there is something; empty when its shell has ended. A program that shows more than
    /// is read waits. Nothing is lost when the future is dropped.
    ///
    /// # Errors
    /// It cannot be read any more.
    fn read(&self) -> BoxFuture<'_, io::Result<Vec<u8>>>;

    /// Types. Waits until the shell has taken it.
    ///
    /// # Errors
    /// It has ended.
    fn write<'a>(&'a self, typed: &'a [u8]) -> BoxFuture<'a, io::Result<()>>;

    /// Changes its size, of which what runs in it is told.
    ///
    /// # Errors
    /// It has ended.
    fn resize(&self, size: TerminalSize) -> BoxFuture<'_, io::Result<()>>;

    /// Ends the shell and everything that it has started, and removes the scratch folder. Done when nothing is left.
    fn end(&self) -> BoxFuture<'_, ()>;
}
