//! What `cubeloom token` is called with.

use clap::{Args, Subcommand, ValueEnum};
use cubeloom_domain::Span;
use cubeloom_domain::identity::Scope;

/// `token`
#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Make a token, and print it: it is shown only once
    Create(TokenCreate),
    /// List the tokens
    List,
    /// End a token at once
    Revoke {
        /// Its id, the part between `clt_` and the next `_`
        id: String,
    },
}

/// `token create`
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  cubeloom token create --user ada --name nightly --scope run --expires 30d"
)]
pub struct TokenCreate {
    /// Whose [default: the administrator's, when there is one only]
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// What it is for
    #[arg(long, value_name = "TEXT", default_value = "command line")]
    pub name: String,
    /// What it may be used for
    #[arg(long, value_enum, default_value = "write")]
    pub scope: ScopeWord,
    /// Only in this project
    #[arg(long, value_name = "PROJECT")]
    pub project: Option<String>,
    /// For how long, e.g. 30d [default: for ever]
    #[arg(long, value_name = "TIME")]
    pub expires: Option<Span>,
}

/// What a token may be used for.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ScopeWord {
    /// Only look
    Read,
    /// Look, start and stop runs
    Run,
    /// Everything that its person may do in projects
    Write,
    /// Everything that its person may do
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
