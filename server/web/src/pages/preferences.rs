//! `POST /preferences`: language and theme, stored in cookies so that the server renders the page correctly
//! at once.

use axum::Form;
use axum::response::Redirect;
use axum_extra::extract::CookieJar;
use axum_extra::extract::cookie::{Cookie, SameSite};
use serde::Deserialize;

use crate::texts::Lang;

/// Chosen preferences. Absent ones stay unchanged.
#[derive(Debug, Deserialize)]
pub(crate) struct Preferences {
    lang: Option<Lang>,
    theme: Option<Theme>,
    /// Path to return to.
    back: Option<String>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Theme {
    Light,
    Dark,
    Auto,
}

pub(crate) async fn set(jar: CookieJar, Form(chosen): Form<Preferences>) -> (CookieJar, Redirect) {
    let mut jar = jar;
    if let Some(lang) = chosen.lang {
        jar = jar.add(kept("lang", lang.as_str()));
    }
    if let Some(theme) = chosen.theme {
        let word = match theme {
            Theme::Light => "light",
            Theme::Dark => "dark",
            Theme::Auto => "auto",
        };
        jar = jar.add(kept("theme", word));
    }
    (jar, Redirect::to(local(chosen.back.as_deref().unwrap_or("/"))))
}

fn kept(name: &'static str, value: &'static str) -> Cookie<'static> {
    Cookie::build((name, value)).path("/").same_site(SameSite::Lax).permanent().build()
}

/// Restricts redirects to paths of this server: no open redirects.
pub(crate) fn local(path: &str) -> &str {
    // Browsers treat a backslash as a slash, and drop tabs and line breaks before parsing.
    let odd = |character: char| character == '\\' || character.is_control();
    let plain = path.starts_with('/') && !path.starts_with("//") && !path.contains(odd);
    if plain { path } else { "/" }
}

#[cfg(test)]
mod tests {
    use super::local;

    #[test]
    fn nobody_is_sent_to_another_server() {
        for path in ["/", "/runs/1?tab=logs", "/projects/a/pipelines?q=%09//b"] {
            assert_eq!(local(path), path);
        }
        for path in [
            "",
            "runs",
            "//evil.example",
            "/\\evil.example",
            "/\t/evil.example",
            "/\r\n/evil.example",
            "https://evil.example",
        ] {
            assert_eq!(local(path), "/", "{path:?}");
        }
    }
}
