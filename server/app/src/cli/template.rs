//! Arguments of `cubeloom template`.

use std::path::PathBuf;

use clap::Subcommand;

/// `template`
#[derive(Debug, Subcommand)]
pub enum Template {
    /// Validate templates and list their problems
    Check {
        /// Template folders, or folders with several templates [default: the folder in use]
        paths: Vec<PathBuf>,
    },
    /// Install templates for all projects
    Install {
        /// Template folders with their programs, or single documents (YAML or JSON)
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// List templates
    List,
    /// Show the help, arguments and roles of a template
    Show {
        /// Template name, or `name@version`
        name: String,
    },
}
