//! Lists of files with checksums: the lines of `sha256sum`, or YAML or JSON.

use saphyr_parser::{Event, Parser};
use serde_json::{Map, Value};

use super::Source;
use super::error::TransferError;
use super::sums;

/// Maximum nesting of a manifest; deeper text is refused.
const DEEPEST: usize = 8;

/// One file of a manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// An address, or a name relative to the manifest's folder.
    pub name: String,
    /// Its checksum, in lower case.
    pub sha256: String,
}

/// Parses a manifest in any of its forms:
/// - lines `SUM  name` or `SHA256 (name) = SUM`
/// - a map from name to sum
/// - a list of maps with `sha256` and `url` or `path`
pub fn parse(text: &str) -> Result<Vec<Entry>, TransferError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let first = text.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with('#'));
    let Some(first) = first else { return Err(bad("the manifest is empty")) };
    if sum_line(first).is_some() {
        return sum_lines(text);
    }
    entries(value(text)?)
}

/// The sources in `entries`. Relative names are resolved in `folder`, which must then be given.
pub(crate) fn sources(entries: Vec<Entry>, folder: Option<&str>) -> Result<Vec<Source>, TransferError> {
    let mut found = Vec::with_capacity(entries.len());
    for entry in entries {
        let sha256 = Some(entry.sha256);
        if entry.name.contains("://") || entry.name.starts_with('/') {
            found.push(Source { url: entry.name, sha256, ..Source::default() });
            continue;
        }
        let name = entry.name.strip_prefix("./").unwrap_or(&entry.name).to_owned();
        super::location::check_name(&name)?;
        let folder = folder.filter(|folder| folder.ends_with('/')).ok_or_else(|| {
            bad(&format!("{name:?} is relative; set its folder as the only source, ending with `/`"))
        })?;
        let base = super::Location::parse(folder, "/".as_ref())?;
        let url = match base.join(&name)? {
            super::Location::Http(url) => url.to_string(),
            _ => format!("{folder}{name}"),
        };
        found.push(Source { url, name: Some(name), sha256, ..Source::default() });
    }
    Ok(found)
}

fn bad(why: &str) -> TransferError {
    TransferError::Manifest(format!("manifest: {why}"))
}

fn sum_lines(text: &str) -> Result<Vec<Entry>, TransferError> {
    let lines =
        text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let read = |(number, line): (usize, &str)| {
        sum_line(line).ok_or_else(|| bad(&format!("line {} is not `SHA256SUM  NAME`", number + 1)))
    };
    lines.map(read).collect()
}

/// `SUM  name`, `SUM *name`, `\SUM  escaped\nname`, or `SHA256 (name) = SUM`.
fn sum_line(line: &str) -> Option<Entry> {
    if let Some(rest) = line.strip_prefix("SHA256 (") {
        let (name, sum) = rest.rsplit_once(") = ")?;
        return Some(Entry { name: name.to_owned(), sha256: sums::check(sum).ok()? });
    }
    let (escaped, line) = match line.strip_prefix('\\') {
        Some(line) => (true, line),
        None => (false, line),
    };
    let (sum, name) = line.split_once(' ')?;
    let name = name.strip_prefix([' ', '*'])?;
    let name = if escaped { unescape(name) } else { name.to_owned() };
    let sha256 = sums::check(sum).ok()?;
    (!name.is_empty()).then_some(Entry { name, sha256 })
}

fn unescape(name: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    let mut chars = name.chars();
    while let Some(char) = chars.next() {
        plain.push(match char {
            '\\' => match chars.next() {
                Some('n') => '\n',
                Some('r') => '\r',
                other => other.unwrap_or('\\'),
            },
            other => other,
        });
    }
    plain
}

fn entries(value: Value) -> Result<Vec<Entry>, TransferError> {
    match value {
        Value::Object(map) => map.into_iter().map(|(name, sum)| entry(&name, &sum)).collect(),
        Value::Array(items) => {
            items.iter().enumerate().map(|(index, item)| item_entry(index, item)).collect()
        }
        _ => Err(bad(
            "it must be lines of `SHA256SUM  NAME`, a map from name to sum, or a list of {sha256, url}",
        )),
    }
}

fn item_entry(index: usize, item: &Value) -> Result<Entry, TransferError> {
    let name = item.get("url").or_else(|| item.get("path")).and_then(Value::as_str);
    match (name, item.get("sha256")) {
        (Some(name), Some(sum)) => entry(name, sum),
        _ => Err(bad(&format!("entry {} needs `sha256`, and `url` or `path`", index + 1))),
    }
}

fn entry(name: &str, sum: &Value) -> Result<Entry, TransferError> {
    let sum = sum
        .as_str()
        .ok_or_else(|| bad(&format!("the sum of {name:?} must be text of 64 hexadecimal digits")))?;
    let sha256 = sums::check(sum).map_err(|error| bad(&format!("{name:?}: {error}")))?;
    Ok(Entry { name: name.to_owned(), sha256 })
}

/// Parses YAML, a superset of JSON. Scalars stay text: a checksum of digits only must not become a number.
fn value(text: &str) -> Result<Value, TransferError> {
    let mut open: Vec<(Value, Option<String>)> = Vec::new();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| bad(&error.to_string()))?;
        let finished = match event {
            Event::MappingStart(..) | Event::SequenceStart(..) if open.len() >= DEEPEST => {
                return Err(bad(&format!("line {}: nested too deeply", span.start.line())));
            }
            Event::MappingStart(..) => {
                open.push((Value::Object(Map::new()), None));
                continue;
            }
            Event::SequenceStart(..) => {
                open.push((Value::Array(Vec::new()), None));
                continue;
            }
            Event::Scalar(text, ..) => Value::String(text.into_owned()),
            Event::MappingEnd | Event::SequenceEnd => open.pop().map(|(value, _)| value).unwrap_or_default(),
            Event::Alias(_) => {
                return Err(bad(&format!("line {}: aliases are not supported here", span.start.line())));
            }
            _ => continue,
        };
        match open.last_mut() {
            None => return Ok(finished),
            Some((Value::Object(map), key)) => match (key.take(), finished) {
                (Some(name), value) => _ = map.insert(name, value),
                (None, Value::String(name)) => *key = Some(name),
                (None, _) => return Err(bad(&format!("line {}: a key must be text", span.start.line()))),
            },
            Some((Value::Array(items), _)) => items.push(finished),
            Some(_) => {}
        }
    }
    Err(bad("the manifest is empty"))
}

#[cfg(test)]
mod tests {
    use super::{Entry, parse, sources};

    const SUM: &str = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

    fn entry(name: &str) -> Entry {
        Entry { name: name.into(), sha256: SUM.into() }
    }

    #[test]
    fn reads_what_sha256sum_writes() {
        let text = format!("# data\n{SUM}  a b.csv\n{SUM} *x/数据.bin\n\\{SUM}  new\\nline\n");
        assert_eq!(parse(&text).unwrap(), [entry("a b.csv"), entry("x/数据.bin"), entry("new\nline")]);
        assert_eq!(parse(&format!("SHA256 (a (1).csv) = {SUM}")).unwrap(), [entry("a (1).csv")]);
    }

    #[test]
    fn reads_lists_and_maps() {
        let list = format!("- {{url: \"https://h/a\", sha256: {SUM}}}\n- path: b c\n  sha256: {SUM}\n");
        assert_eq!(parse(&list).unwrap(), [entry("https://h/a"), entry("b c")]);
        assert_eq!(parse(&format!("{{\"a\": \"{SUM}\"}}")).unwrap(), [entry("a")]);
        let digits = "1".repeat(64);
        assert_eq!(parse(&format!("a: {digits}\n")).unwrap()[0].sha256, digits);
    }

    #[test]
    fn says_what_is_wrong() {
        let line = parse(&format!("{SUM}  a\nrubbish\n")).unwrap_err().to_string();
        assert!(line.contains("line 2"), "{line}");
        assert!(parse("- {url: a}").unwrap_err().to_string().contains("entry 1"));
        assert!(parse("a: b").unwrap_err().to_string().contains("64"));
        assert!(parse(&"[".repeat(100_000)).is_err());
        assert!(parse("").is_err());
    }

    #[test]
    fn relative_names_need_their_folder_and_stay_in_it() {
        let found = sources(vec![entry("x/a b")], Some("https://h/data/")).unwrap();
        assert_eq!(
            (found[0].url.as_str(), found[0].name.as_deref()),
            ("https://h/data/x/a%20b", Some("x/a b"))
        );
        assert!(sources(vec![entry("a")], None).is_err());
        assert!(sources(vec![entry("../a")], Some("https://h/data/")).is_err());
    }
}
