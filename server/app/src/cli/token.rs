//! Arguments of `cubeloom token`.

use clap::{Args, Subcommand, ValueEnum};
use cubeloom_domain::Span;
use cubeloom_domain::identity::Scope;

/// `token`
#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Create a token and print it; it is shown only once
    Create(TokenCreate),
    /// List tokens
    List,
    /// Revoke a token
    Revoke {
        /// Token id: the part between `clt_` and the next `_`
        id: String,
    },
}

/// `token create`
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  cubeloom token create --user ada --name nightly --scope run --expires 30d"
)]
pub struct TokenCreate {
    /// Owner of the token [default: the administrator, if there is only one]
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// Name of the token
    #[arg(long, value_name = "TEXT", default_value = "command line")]
    pub name: String,
    /// Scope of the token
    #[arg(long, value_enum, default_value = "write")]
    pub scope: ScopeWord,
    /// Restrict the token to this project
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,
    /// Lifetime, e.g. 30d or 12h [default: never expires]
    #[arg(long, value_name = "DURATION")]
    pub expires: Option<Span>,
}

/// The scopes of tokens.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ScopeWord {
    /// Read only
    Read,
    /// Read, start and stop runs
    Run,
    /// All project permissions of the owner
    Write,
    /// All permissions of the owner
    Admin,
}

impl From<ScopeWord> for Scope {
    fn from(word: ScopeWord) -> Self {
        match word {
            ScopeWord::Read => Self::Read,
            ScopeWord::Run => Self::Run,
            ScopeWord::Write => Self::Write,
            ScopeWord::Admin => Self::Admin,
        }
    }
}
