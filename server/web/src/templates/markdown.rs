//! Renders template authors' Markdown as safe HTML.

use std::collections::HashSet;
use std::sync::LazyLock;

use ammonia::{Builder, UrlRelative};
use pulldown_cmark::{Options, Parser};

static CLEAN: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut builder = Builder::default();
    // Files of the folder are not served, and external images are not loaded.
    builder
        .url_relative(UrlRelative::Deny)
        .rm_tags(["img"])
        .url_schemes(HashSet::from(["http", "https", "mailto"]));
    builder.add_allowed_classes("code", ["language-yaml", "language-python", "language-sh", "language-diff"]);
    // Long lines can be scrolled with the keyboard.
    builder.set_tag_attribute_value("pre", "tabindex", "0");
    builder
});

/// Renders Markdown without scripts, styles and images.
pub(crate) fn html(markdown: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_FOOTNOTES;
    let mut raw = String::with_capacity(markdown.len() * 2);
    pulldown_cmark::html::push_html(&mut raw, Parser::new_ext(markdown, options));
    CLEAN.clean(&raw).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_becomes_html_and_nothing_that_runs() {
        let shown = html("# Title\n\n| a | b |\n|---|---|\n| `x` | [y](https://example.org) |\n");
        assert!(shown.contains("<h1>Title</h1>") && shown.contains("<table>"), "{shown}");
        assert!(shown.contains("href=\"https://example.org\"") && shown.contains("noopener"), "{shown}");
        let shown = html(
            "<script>alert(1)</script>\n\n<img src=x onerror=alert(1)>\n\n[a](javascript:alert(1)) ![p](https://example.org/p)\n\n\
             <b style=\"x\" onclick=y>b</b> [file](../secret.txt)\n",
        );
        for bad in ["<script", "onerror", "onclick", "style", "<img", "javascript:", "secret"] {
            assert!(!shown.contains(bad), "{bad} in {shown}");
        }
    }
}
