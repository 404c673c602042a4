//! What the parts of one pipeline's import share.

use super::jinja;
use super::ledger::At;
use super::volumes::Mounts;
use crate::import::Fate;

/// A pipeline, and what one of its tasks mounts.
pub struct Context<'m> {
    /// Name of the pipeline.
    pub pipeline: &'m str,
    /// The task's mounts.
    pub mounts: &'m Mounts,
}

impl Context<'_> {
    /// A text of the input, with our expressions and places. It is used.
    pub fn text(&self, at: &At<'_>) -> String {
        let text = at.text().unwrap_or_default();
        self.convert(&text, at)
    }

    /// The same of a text that was read already; `at` is where it came from.
    pub fn convert(&self, text: &str, at: &At<'_>) -> String {
        let (text, unknown) = jinja::convert(text, self.pipeline);
        for variable in unknown {
            at.note(Fate::Problem, format!("`{{{{ {variable} }}}}` is not known here and stays as text"));
        }
        self.mounts.moved(&text)
    }
}
