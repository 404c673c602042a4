//! Results that are printed while they are made.

use std::io::{self, BufWriter, Error, StdoutLock, Write};

use serde::Serialize;

/// Output is written in pieces of this size: the lines of a terminal are not waited for.
const PIECE: usize = 64 << 10;

/// Prints a document for programs as it is made.
pub fn json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut out = BufWriter::with_capacity(PIECE, io::stdout().lock());
    match serde_json::to_writer_pretty(&mut out, value) {
        Ok(()) => {
            let _ = out.write_all(b"\n").and_then(|()| out.flush());
            Ok(())
        }
        // A reader that has gone away (`| head`) is no error.
        Err(error) if error.is_io() => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// A text that is printed as it is made, without the blanks and lines at its end.
pub struct Stream<W: Write = BufWriter<StdoutLock<'static>>> {
    out: W,
    /// What ends the text, unless more of it follows.
    blank: String,
}

impl Stream {
    /// On the standard output.
    pub fn stdout() -> Self {
        Self::new(BufWriter::with_capacity(PIECE, io::stdout().lock()))
    }
}

impl<W: Write> Stream<W> {
    fn new(out: W) -> Self {
        Self { out, blank: String::new() }
    }

    /// Adds to the text.
    ///
    /// # Errors
    /// The reader has gone away.
    pub fn push(&mut self, text: &str) -> Result<(), Error> {
        let kept = text.trim_end();
        if !kept.is_empty() {
            self.out.write_all(self.blank.as_bytes())?;
            self.out.write_all(kept.as_bytes())?;
            self.blank.clear();
        }
        self.blank.push_str(&text[kept.len()..]);
        Ok(())
    }

    /// Ends the last line.
    ///
    /// # Errors
    /// The reader has gone away.
    pub fn end(mut self) -> Result<(), Error> {
        self.out.write_all(b"\n")?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_its_text_without_the_end() {
        for pieces in [&["a\n", "\n", "", " b \n", "\n\n"][..], &["one line"], &[" ", "\n"], &[]] {
            let mut out = Vec::new();
            let mut stream = Stream::new(&mut out);
            pieces.iter().for_each(|piece| stream.push(piece).unwrap());
            stream.end().unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), format!("{}\n", pieces.concat().trim_end()));
        }
    }
}
