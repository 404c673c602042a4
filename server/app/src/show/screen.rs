//! A block of lines at the bottom of a terminal that is redrawn repeatedly; other output goes above it.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::tame;

/// The block on the screen, which messages must not break up.
static BLOCK: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn block() -> MutexGuard<'static, Vec<String>> {
    BLOCK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The terminal on standard output. On drop the block stays.
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

    /// Redraws the block. No line may be wider than the screen.
    pub fn draw(&self, lines: Vec<String>) {
        let mut shown = block();
        if *shown != lines {
            put(&format!("{}{}{BELOW}", up(shown.len()), joined(&lines)));
            *shown = lines;
        }
    }

    /// Removes the block.
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

/// Erases everything below the cursor.
const BELOW: &str = "\x1b[J";

/// Moves up to the first of the last lines.
fn up(lines: usize) -> String {
    if lines == 0 { String::new() } else { format!("\x1b[{lines}F") }
}

/// The lines, each written over the previous content: without an erase there is no flicker.
fn joined(lines: &[String]) -> String {
    lines.iter().flat_map(|line| [tame(line), "\x1b[K\n".into()]).collect()
}

fn put(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes());
    let _ = out.flush();
}
