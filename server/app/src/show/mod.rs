//! The program's output: tables for people, JSON for programs, and a redrawable screen.

mod amounts;
mod screen;
mod stream;
mod style;
mod table;
mod tame;

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

pub use amounts::{bytes, cpu_time, duration, moment};
pub use screen::{Above, Screen};
pub use stream::{Stream, json};
pub use style::{Style, Styles};
pub use table::{Align, Cell, Table};
pub use tame::{Tame, tame};

/// The output formats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Output {
    /// Tables and text
    #[default]
    Human,
    /// JSON, for programs
    Json,
}

/// Prints a line. A closed pipe (`| head`) is no error.
pub fn line(text: impl AsRef<str>) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(fit(out.is_terminal(), text.as_ref()).as_bytes());
    let _ = out.write_all(b"\n");
}

/// Prints a line for people next to the results.
pub fn note(text: impl AsRef<str>) {
    let mut err = io::stderr().lock();
    let _ = err.write_all(fit(err.is_terminal(), text.as_ref()).as_bytes());
    let _ = err.write_all(b"\n");
}

/// Lines contain text from workers: the reason why a task failed, and its name.
fn fit(on_terminal: bool, text: &str) -> Cow<'_, str> {
    if on_terminal { tame(text).into() } else { text.into() }
}
