//! Task templates, installed as documents or folders. A folder can document a template: README, example, and
//! a program before and after it was made distributed.

mod files;
mod folder;
mod install;
mod markdown;

pub use files::{FolderError, TemplateFolder};
pub use install::{Taken, install, read, taken};

pub(crate) use files::LIMITS;
pub(crate) use folder::{BeforeAfter, Beside, Example, beside};
pub(crate) use markdown::html;
