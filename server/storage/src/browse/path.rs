//! Paths in user input.

use super::BrowseError;

/// Linux's maximum length of a path, in bytes.
const LONGEST: usize = 4095;
const LONGEST_NAME: usize = 255;

/// Normalizes a path below a folder: its components joined by single slashes; empty for the folder itself. It
/// refuses whatever could lead elsewhere, although [`super::Folder`] would not follow it.
///
/// # Errors
/// It is absolute, contains `.`, `..` or a NUL byte, or is too long.
pub fn clean(path: &str) -> Result<String, BrowseError> {
    let bad = |why| BrowseError::BadPath { path: path.replace('\0', "\\0"), why };
    if path.starts_with('/') {
        return Err(bad("begins with a slash: write a path relative to this folder"));
    }
    if path.contains('\0') {
        return Err(bad("contains a zero byte"));
    }
    if path.len() > LONGEST {
        return Err(bad("is longer than 4095 bytes"));
    }
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    for part in &parts {
        match *part {
            "." | ".." => return Err(bad("contains `.` or `..`: write the path without them")),
            long if long.len() > LONGEST_NAME => return Err(bad("contains a name longer than 255 bytes")),
            _ => {}
        }
    }
    Ok(parts.join("/"))
}

/// The parent folder of a path, and its name there.
///
/// # Errors
/// It is the folder itself, which has no name here.
pub(super) fn split(path: &str) -> Result<(&str, &str), BrowseError> {
    if path.is_empty() {
        let why = "is empty: write a file or a folder";
        return Err(BrowseError::BadPath { path: String::new(), why });
    }
    Ok(path.rsplit_once('/').unwrap_or(("", path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_joined_by_single_slashes() {
        assert_eq!(clean("").unwrap(), "");
        assert_eq!(clean("a//b/").unwrap(), "a/b");
        assert_eq!(clean("..a/b..").unwrap(), "..a/b..");
        assert_eq!(split("a/b").unwrap(), ("a", "b"));
        assert_eq!(split("b").unwrap(), ("", "b"));
    }

    #[test]
    fn what_leads_elsewhere_is_refused() {
        for path in
            ["/etc/passwd", "..", "a/../b", "a/./b", "./a", "a\0b", &"n".repeat(256), &"a/".repeat(2048)]
        {
            assert!(matches!(clean(path), Err(BrowseError::BadPath { .. })), "{path}");
        }
        assert!(split("").is_err());
    }
}
