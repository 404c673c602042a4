//! State shared by the parts of one pipeline's import.

use super::jinja;
use super::ledger::At;
use super::volumes::Mounts;
use crate::import::Fate;

/// A pipeline, and the mounts of one of its tasks.
pub struct Context<'m> {
    pub pipeline: &'m str,
    pub mounts: &'m Mounts,
}

impl Context<'_> {
    /// A text of the input, with our expressions and paths. Marks it as used.
    pub fn text(&self, at: &At<'_>) -> String {
        let text = at.text().unwrap_or_default();
        self.convert(&text, at)
    }

    /// The same for a text read before; `at` is its origin.
    pub fn convert(&self, text: &str, at: &At<'_>) -> String {
        let (text, unknown) = jinja::convert(text, self.pipeline);
        for variable in unknown {
            at.note(Fate::Problem, format!("`{{{{ {variable} }}}}` is not supported here and stays as text"));
        }
        self.mounts.moved(&text)
    }
}
