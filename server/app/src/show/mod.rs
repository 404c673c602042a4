//! What the program says: tables for people, JSON for programs, and a screen that can be drawn over.

mod amounts;
mod screen;
mod stream;
mod style;
mod table;

use std::io::{self, Write};

pub use amounts::{bytes, cpu_time, duration, moment};
pub use screen::{Above, Screen};
pub use stream::{Stream, json};
pub use style::{Style, Styles};
pub use table::{Align, Cell, Table};

/// How results are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Output {
    /// For people.
    #[default]
    Human,
    /// For programs.
    Json,
}

/// Prints a line. A reader that has gone away (`| head`) is no error.
pub fn line(text: impl AsRef<str>) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_ref().as_bytes());
    let _ = out.write_all(b"\n");
}

/// Prints a line for people beside the results.
pub fn note(text: impl AsRef<str>) {
    let mut err = io::stderr().lock();
    let _ = err.write_all(text.as_ref().as_bytes());
    let _ = err.write_all(b"\n");
}
