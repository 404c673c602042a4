//! What a task template's folder holds beside its recipe, for people: explanations, an example, a program before and
//! after it was made distributed.

mod folder;
mod markdown;

pub(crate) use folder::{BeforeAfter, Beside, Example, beside};
pub(crate) use markdown::html;
