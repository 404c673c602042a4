//! What `cubeloom user` is called with.

use clap::{Args, Subcommand, ValueEnum};
use cubeloom_domain::identity::Role;

/// `user`
#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// Make an account
    ///
    /// Without a password it prints a one-time link with which the person sets one.
    Add(UserAdd),
    /// List the accounts
    List,
    /// Print a one-time link with which somebody sets a new password
    Link {
        /// Who
        name: String,
    },
    /// Print a one-time link with which somebody makes an account
    Invite {
        /// They will administer the platform
        #[arg(long)]
        admin: bool,
        #[command(flatten)]
        place: Place,
        /// Whom it is for
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
    },
}

/// `user add`
#[derive(Debug, Args)]
pub struct UserAdd {
    /// What they sign in with
    pub name: String,
    /// What they are called [default: the name]
    #[arg(long, value_name = "TEXT")]
    pub display_name: Option<String>,
    /// Where they can be reached
    #[arg(long, value_name = "ADDRESS")]
    pub email: Option<String>,
    /// They administer the platform
    #[arg(long)]
    pub admin: bool,
    /// Read the password from the standard input
    #[arg(long)]
    pub password_stdin: bool,
    #[command(flatten)]
    pub place: Place,
}

/// A place in a project.
#[derive(Debug, Args)]
pub struct Place {
    /// They become a member of this project
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,
    /// What they may do there [default: editor]
    #[arg(long, value_enum, requires = "project")]
    pub role: Option<RoleWord>,
}

/// What a member may do.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum RoleWord {
    /// Look at everything but secrets
    Viewer,
    /// Start runs, change pipelines
    Editor,
    /// Change the project, its members and its secrets
    Owner,
}

impl From<RoleWord> for Role {
    fn from(word: RoleWord) -> Self {
        match word {
            RoleWord::Viewer => Self::Viewer,
            RoleWord::Editor => Self::Editor,
            RoleWord::Owner => Self::Owner,
        }
    }
}
