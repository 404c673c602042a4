//! Patterns for names with slashes: `*` and `?` within a component, `**` across components.

/// Whether `text` contains a pattern character.
pub(crate) fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// The prefix of every match.
pub(crate) fn literal(pattern: &str) -> &str {
    pattern.split(['*', '?']).next().unwrap_or_default()
}

/// Splits a pattern into the folder of all its matches (with its slash, or empty) and the rest.
pub(crate) fn split(pattern: &str) -> (&str, &str) {
    pattern.split_at(literal(pattern).rfind('/').map_or(0, |slash| slash + 1))
}

/// Whether `pattern` matches all of `name`. Runs in time proportional to the product of their components.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let parts: Vec<&str> = name.split('/').collect();
    // `reached[i]`: the pattern so far can match exactly the first i components.
    let mut reached = vec![false; parts.len() + 1];
    reached[0] = true;
    for (position, segment) in pattern.split('/').enumerate() {
        let last = pattern.split('/').count() == position + 1;
        reached =
            if segment == "**" { any_parts(&reached, last) } else { one_part(&reached, segment, &parts) };
    }
    reached[parts.len()]
}

/// `**` matches any number of folders; at the end of a pattern it matches at least the file itself.
fn any_parts(reached: &[bool], last: bool) -> Vec<bool> {
    let mut open = false;
    let mut next = Vec::with_capacity(reached.len());
    for &here in reached {
        next.push(if last { open } else { open || here });
        open |= here;
    }
    next
}

fn one_part(reached: &[bool], segment: &str, parts: &[&str]) -> Vec<bool> {
    let pattern: Vec<char> = segment.chars().collect();
    let mut next = vec![false; reached.len()];
    for (index, part) in parts.iter().enumerate() {
        next[index + 1] = reached[index] && fits(&pattern, &part.chars().collect::<Vec<_>>());
    }
    next
}

/// The usual two-pointer match: on a mismatch, the last star takes one more character.
fn fits(pattern: &[char], text: &[char]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(&wanted) if wanted == '?' || wanted == text[t] => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    p = at + 1;
                    t = taken + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|rest| *rest == '*')
}

#[cfg(test)]
mod tests {
    use super::{matches, split};

    #[test]
    fn a_star_stays_within_its_part() {
        assert!(matches("*.csv", "a b.csv"));
        assert!(!matches("*.csv", "sub/a.csv"));
        assert!(matches("part-??/*", "part-07/数据.bin"));
        assert!(!matches("part-??/*", "part-7/x"));
    }

    #[test]
    fn two_stars_cross_folders() {
        for name in ["a.csv", "x/a.csv", "x/y/a.csv"] {
            assert!(matches("**/*.csv", name), "{name}");
        }
        assert!(matches("x/**", "x/y/z"));
        assert!(!matches("x/**", "x"));
        assert!(matches("**/b/**/c", "a/b/c"));
        assert!(!matches("**/b/**/c", "a/c"));
    }

    #[test]
    fn many_stars_do_not_take_long() {
        let name = "a".repeat(200);
        assert!(!matches(&format!("{}b", "*a".repeat(60)), &name));
        assert!(!matches(&format!("{}b", "**/".repeat(60)), &format!("{}a", "a/".repeat(200))));
    }

    #[test]
    fn the_fixed_folder_comes_first() {
        assert_eq!(split("data/2024-*/x.csv"), ("data/", "2024-*/x.csv"));
        assert_eq!(split("*.csv"), ("", "*.csv"));
    }
}
