//! Colors, if the terminal supports them.

use std::io::IsTerminal;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    #[default]
    Plain,
    /// Most important.
    Bold,
    /// Least important.
    Dim,
    /// Success.
    Good,
    /// Failure.
    Bad,
    /// In progress.
    Busy,
    /// Needs attention.
    Warn,
}

/// Whether styles are written.
#[derive(Clone, Copy, Debug)]
pub struct Styles {
    on: bool,
}

impl Styles {
    /// Styles for standard output, if it is a terminal and `NO_COLOR` is not set.
    pub fn detect() -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Self { on: wanted && std::io::stdout().is_terminal() }
    }

    pub fn plain() -> Self {
        Self { on: false }
    }

    pub fn paint(self, style: Style, text: &str) -> String {
        let code = match style {
            Style::Plain => "",
            Style::Bold => "1",
            Style::Dim => "2",
            Style::Good => "32",
            Style::Bad => "31",
            Style::Busy => "36",
            Style::Warn => "33",
        };
        if self.on && !code.is_empty() && !text.is_empty() {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.into()
        }
    }
}
