//! Requirements of Python environments: the part of PEP 508 that names packages.
//!
//! An installer accepts more: options, local folders and files, repositories (whose tools it starts), and
//! environment variables in URLs. None of these are accepted here.

/// Whether a requirement may be passed to an installer.
///
/// # Errors
/// A sentence that quotes it and says what is wrong.
pub fn check(text: &str) -> Result<(), String> {
    let wrong = |why: &str| Err(format!("the Python requirement `{}` {why}", text.escape_debug()));
    if text.chars().any(char::is_control) {
        return wrong("has more than one line");
    }
    let trimmed = text.trim();
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let end = trimmed.find(|c| !is_name(c)).unwrap_or(trimmed.len());
    let (name, mut rest) = trimmed.split_at(end);
    let at_edges = [name.chars().next(), name.chars().next_back()];
    if !at_edges.iter().all(|edge| edge.is_some_and(|c| c.is_ascii_alphanumeric())) {
        return wrong("does not begin with the name of a package: write it like `name==1.0`");
    }
    let lower = name.to_ascii_lowercase();
    if FILES.iter().any(|ending| lower.ends_with(ending)) {
        return wrong("is a file name: only packages of the index and wheels at `https://` can be installed");
    }
    rest = rest.trim_start();
    if let Some(extras) = rest.strip_prefix('[') {
        let Some((names, after)) = extras.split_once(']') else { return wrong("has a `[` without its `]`") };
        if !names.chars().all(|c| is_name(c) || ", ".contains(c)) {
            return wrong("has invalid extras");
        }
        rest = after.trim_start();
    }
    match rest.strip_prefix('@') {
        Some(place) => {
            let place = place.trim_start();
            let is_web = ["https://", "http://"]
                .iter()
                .any(|start| place.get(..start.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(start)));
            if !is_web {
                return wrong("must come from `https://`, not from a file or a repository");
            }
            if place.contains('$') {
                return wrong("must not have a variable in its address");
            }
            Ok(())
        }
        // No version and no marker contains the characters of paths, URLs and variables.
        None if rest.contains(['@', '/', '\\', '$']) => wrong("has a path after its name"),
        None if rest.is_empty() || rest.starts_with(['=', '<', '>', '!', '~', '(', ';']) => Ok(()),
        None => wrong("is not a name with versions: write it like `name==1.0`"),
    }
}

/// The package that a requirement names, and whether it has a source of its own instead of the package index.
#[must_use]
pub fn package(text: &str) -> (&str, bool) {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c)).unwrap_or(text.len());
    (&text[..end], text.contains('@'))
}

/// Whether two names denote the same package:
/// <https://packaging.python.org/en/latest/specifications/name-normalization/>
#[must_use]
pub fn is_same_package(one: &str, other: &str) -> bool {
    let parts = |name: &str| {
        let lower = name.to_ascii_lowercase();
        lower.split(['-', '_', '.']).filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    parts(one) == parts(other)
}

/// What installers treat as a file in their folder.
const FILES: [&str; 9] =
    [".whl", ".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar.zst", ".txt"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_versions_extras_markers_and_wheels_on_the_web_are_requirements() {
        for text in [
            "numpy",
            "numpy==2.4.6",
            "ray[default,tune]==2.60.0",
            "ray [default, tune] >=2,<3",
            "a.b-c_d~=1.0",
            "six (>=1.0)",
            "pika==1.4.4 ; python_version < '3.13'",
            "torch @ https://download.example/torch-2.9.0-cp312-cp312-linux_x86_64.whl",
            "torch@HTTPS://download.example/torch.whl#sha256=00",
        ] {
            assert_eq!(check(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn what_else_an_installer_reads_is_refused_by_name() {
        for text in [
            "",
            " ",
            "-r other.txt",
            "--index-url=https://evil.example",
            "-e .",
            ".",
            "./package",
            "../package",
            "/etc",
            "~/package",
            "package/",
            "C:\\package",
            "evil.whl",
            "evil.tar.gz",
            "requirements.txt",
            "file:///data/code/x",
            "evil @ file:///data/code/x",
            "evil @ FILE:///data/code/x",
            "evil@/data/code/x",
            "evil @ ./x",
            "evil[a] @ file:///x",
            "evil @ git+https://example.org/x",
            "evil @ git+ssh://example.org/x",
            "git+https://example.org/x",
            "hg+http://example.org/x",
            "https://example.org/evil-1.0-py3-none-any.whl",
            "evil @ https://example.org/$UV_INDEX_PASSWORD/x.whl",
            "evil @ https://example.org/${HOME}/x.whl",
            "evil @ ${PLACE}",
            "evil[a",
            "evil[../x]",
            "a==1\n-r /etc/passwd",
            "a b",
            "a #b",
        ] {
            let said = check(text).expect_err(text);
            assert!(said.contains(&text.escape_debug().to_string()), "{said}");
        }
    }

    #[test]
    fn a_package_has_one_name_however_it_is_written() {
        assert_eq!(package(" ray[default]==2 "), ("ray", false));
        assert_eq!(package("pyspark @ https://example.org/x.tar.gz"), ("pyspark", true));
        assert_eq!(package("pyspark"), ("pyspark", false));
        assert!(is_same_package("Torch_RecHub", "torch-rechub"));
        assert!(is_same_package("a.b", "a--b"));
        assert!(!is_same_package("ab", "a-b"));
    }

    proptest::proptest! {
        #[test]
        fn what_is_let_in_names_no_file_no_option_and_no_variable(text in "[a-zA-Z0-9@:/.$+=<>\\[\\] ~-]{0,40}") {
            if check(&text).is_ok() {
                let text = text.trim();
                proptest::prop_assert!(text.starts_with(|c: char| c.is_ascii_alphanumeric()));
                match text.split_once('@').map(|(_, place)| place.trim().to_ascii_lowercase()) {
                    Some(place) => proptest::prop_assert!(place.starts_with("http") && !place.contains('$')),
                    None => proptest::prop_assert!(!text.contains(['/', '$'])),
                }
            }
        }
    }
}
