//! A terminal's output, without the secrets that its shell knows.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::mask::Masker;

/// How long a possible beginning of a secret is buffered: consecutive writes of a program arrive sooner.
const HELD: Duration = Duration::from_millis(30);

/// Masks secrets in a terminal's output.
#[derive(Debug)]
pub struct Screen(Mutex<Masker>);

impl Screen {
    /// Masks these texts, from [`forms`](crate::mask::forms).
    #[must_use]
    pub fn new(forms: &[String]) -> Self {
        Self(Mutex::new(Masker::new(forms)))
    }

    /// The next output, empty at the end. `read` returns the next bytes, empty at their end. Cancel safe:
    /// nothing is lost when either future is dropped.
    ///
    /// # Errors
    /// Those of `read`.
    pub async fn next<F>(&self, read: impl Fn() -> F) -> io::Result<Vec<u8>>
    where
        F: Future<Output = io::Result<Vec<u8>>>,
    {
        loop {
            let come = match self.holds_back() {
                false => read().await?,
                true => match tokio::time::timeout(HELD, read()).await {
                    Ok(come) => come?,
                    Err(_) => return Ok(self.masked(Masker::finish)),
                },
            };
            if come.is_empty() {
                return Ok(self.masked(Masker::finish));
            }
            let text = self.masked(|masker| masker.push(&come));
            if !text.is_empty() {
                return Ok(text);
            }
        }
    }

    fn masked(&self, work: impl FnOnce(&mut Masker) -> Vec<u8>) -> Vec<u8> {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn holds_back(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).held() > 0
    }
}
