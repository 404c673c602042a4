//! Arguments of `cubeloom user`.

use clap::{Args, Subcommand, ValueEnum};
use cubeloom_domain::identity::Role;

/// `user`
#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// Create a user
    ///
    /// Without --password-stdin, prints a one-time link for setting the password.
    Add(UserAdd),
    /// List users
    List,
    /// Print a one-time link for resetting a password
    Link {
        /// User name
        name: String,
    },
    /// Print a one-time invitation link for creating an account
    Invite {
        /// Make the user an administrator
        #[arg(long)]
        admin: bool,
        #[command(flatten)]
        place: Place,
        /// Note, e.g. the recipient
        #[arg(long, value_name = "TEXT")]
        note: Option<String>,
    },
}

/// `user add`
#[derive(Debug, Args)]
pub struct UserAdd {
    /// User name for signing in
    pub name: String,
    /// Display name [default: the user name]
    #[arg(long, value_name = "TEXT")]
    pub display_name: Option<String>,
    /// Email address
    #[arg(long, value_name = "ADDRESS")]
    pub email: Option<String>,
    /// Make the user an administrator
    #[arg(long)]
    pub admin: bool,
    /// Read the password from standard input
    #[arg(long)]
    pub password_stdin: bool,
    #[command(flatten)]
    pub place: Place,
}

/// Membership of a project.
#[derive(Debug, Args)]
pub struct Place {
    /// Add the user to this project
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,
    /// Role in the project [default: editor]
    #[arg(long, value_enum, requires = "project")]
    pub role: Option<RoleWord>,
}

/// The roles of members.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum RoleWord {
    /// Read everything except secrets
    Viewer,
    /// Also start runs and change pipelines
    Editor,
    /// Also change the project, its members and its secrets
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
