//! Embedded scripts, styles and images. Their names contain a content digest, so that browsers cache them
//! forever.

#![allow(clippy::disallowed_methods, reason = "rust-embed reads our own files")]

use std::collections::HashMap;
use std::sync::LazyLock;

use axum::extract::Path;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use rust_embed::RustEmbed;
use serde::Deserialize;

use crate::error::ApiError;

#[derive(RustEmbed)]
#[folder = "../../frontend/dist"]
struct Files;

/// Entry of Vite's manifest.
#[derive(Clone, Debug, Default, Deserialize)]
struct Entry {
    file: String,
    #[serde(default)]
    css: Vec<String>,
    /// Entries that must be loaded before this one.
    #[serde(default)]
    imports: Vec<String>,
}

static MANIFEST: LazyLock<HashMap<String, Entry>> = LazyLock::new(|| {
    let file = Files::get(".vite/manifest.json");
    file.and_then(|file| serde_json::from_slice(&file.data).ok()).unwrap_or_default()
});

/// Whether the front end is embedded.
#[must_use]
pub fn are_there() -> bool {
    !MANIFEST.is_empty()
}

/// URL of an entry's script, for example of `src/main.ts`.
#[must_use]
pub fn script(entry: &str) -> String {
    MANIFEST.get(entry).map(|entry| format!("/assets/{}", entry.file)).unwrap_or_default()
}

/// URLs of an entry's style sheets.
#[must_use]
pub fn styles(entry: &str) -> Vec<String> {
    let css = MANIFEST.get(entry).map(|entry| entry.css.clone()).unwrap_or_default();
    css.into_iter().map(|file| format!("/assets/{file}")).collect()
}

/// What a page's module needs in addition to the entry of all pages, for preloading.
#[derive(Debug, Default)]
pub struct Ahead {
    /// URLs of scripts: the module and its imports.
    pub scripts: Vec<String>,
    /// URLs of style sheets.
    pub styles: Vec<String>,
}

/// Everything that `entry` imports, including itself.
#[must_use]
pub fn ahead(entry: &str) -> Ahead {
    let mut names = vec![entry];
    let mut at = 0;
    while let Some(name) = names.get(at).copied() {
        let imports = MANIFEST.get(name).map(|entry| entry.imports.as_slice()).unwrap_or_default();
        for import in imports.iter().filter(|import| *import != "src/main.ts") {
            if !names.contains(&import.as_str()) {
                names.push(import);
            }
        }
        at += 1;
    }
    let scripts = names.iter().map(|name| script(name)).filter(|url| !url.is_empty()).collect();
    Ahead { scripts, styles: names.iter().flat_map(|name| styles(name)).collect() }
}

/// `GET /assets/{path}`
pub(crate) async fn get(Path(path): Path<String>) -> Result<Response, ApiError> {
    let file = Files::get(&path).ok_or_else(|| ApiError::not_found("file", &path))?;
    let kind = mime_guess::from_path(&path).first_or_octet_stream();
    let headers = [
        (header::CONTENT_TYPE, kind.essence_str().to_owned()),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable".to_owned()),
    ];
    Ok((headers, file.data.into_owned()).into_response())
}
