//! Results printed while they are created.

use std::io::{self, BufWriter, Error, StdoutLock, Write};

use serde::Serialize;

/// The size of output writes: a write per line would wait for the terminal.
const PIECE: usize = 64 << 10;

/// Prints JSON for programs as it is created.
pub fn json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut out = BufWriter::with_capacity(PIECE, io::stdout().lock());
    match serde_json::to_writer_pretty(&mut out, value) {
        Ok(()) => {
            let _ = out.write_all(b"\n").and_then(|()| out.flush());
            Ok(())
        }
        // A closed pipe (`| head`) is no error.
        Err(error) if error.is_io() => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// A text printed as it is created, without trailing blanks and line ends.
pub struct Stream<W: Write = BufWriter<StdoutLock<'static>>> {
    out: W,
    /// Blanks and line ends at the end so far, printed only if more text follows.
    blank: String,
}

impl Stream {
    /// To standard output.
    pub fn stdout() -> Self {
        Self::new(BufWriter::with_capacity(PIECE, io::stdout().lock()))
    }
}

impl<W: Write> Stream<W> {
    fn new(out: W) -> Self {
        Self { out, blank: String::new() }
    }

    /// # Errors
    /// The reader has closed the pipe.
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
    /// The reader has closed the pipe.
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
