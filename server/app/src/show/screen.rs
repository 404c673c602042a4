//! A block of lines at the bottom of a terminal that is drawn again and again; other output goes above it.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::tame;

/// What is on the screen: lines of the block, which messages must not tear.
static BLOCK: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn block() -> MutexGuard<'static, Vec<String>> {
    BLOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The terminal on standard output. When it is dropped the block stays as it is.
#[derive(Debug)]
pub struct Screen;

impl Screen {
    /// The screen, if standard output is a terminal that can move its cursor.
    pub fn detect() -> Option<Self> {
        let able = std::env::var("TERM").is_ok_and(|term| !term.is_empty() && term != "dumb");
        (able && io::stdout().is_terminal()).then_some(Self)
    }

    /// Columns and rows.
    pub fn size(&self) -> (usize, usize) {
        match rustix::termios::tcgetwinsize(io::stdout()) {
            Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col.into(), size.ws_row.into()),
            _ => (80, 24),
        }
    }

    /// Draws the block over the one before. No line may be wider than the screen.
    pub fn draw(&self, lines: Vec<String>) {
        let mut shown = block();
        if *shown != lines {
            put(&format!("{}{}{BELOW}", up(shown.len()), joined(&lines)));
            *shown = lines;
        }
    }

    /// Takes the block away.
    pub fn clear(&self) {
        self.draw(Vec::new());
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        block().clear();
    }
}

/// Standard error, for messages while the block is on the screen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Above;

impl Write for Above {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let shown = block();
        if !shown.is_empty() {
            put(&format!("{}{BELOW}", up(shown.len())));
        }
        io::stderr().lock().write_all(bytes)?;
        if !shown.is_empty() {
            put(&joined(&shown));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// Erases what is below the cursor.
const BELOW: &str = "\x1b[J";

/// Moves to the first of the last lines.
fn up(lines: usize) -> String {
    if lines == 0 { String::new() } else { format!("\x1b[{lines}F") }
}

/// The lines, each written over what was there: nothing is erased first, so nothing flickers.
fn joined(lines: &[String]) -> String {
    lines.iter().flat_map(|line| [tame(line), "\x1b[K\n".into()]).collect()
}

fn put(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}
