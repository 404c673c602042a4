//! What `cubeloom template` is called with.

use std::path::PathBuf;

use clap::Subcommand;

/// `template`
#[derive(Debug, Subcommand)]
pub enum Template {
    /// Say everything that is wrong with templates
    Check {
        /// Folders of templates, or of one [default: the folder in use]
        paths: Vec<PathBuf>,
    },
    /// Install templates for every project
    Install {
        /// Their folders, with the programs that they run, or documents by themselves, YAML or JSON
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// List the templates
    List,
    /// Show one template: its help, its arguments, its roles
    Show {
        /// Its name, or `name@version`
        name: String,
    },
}
