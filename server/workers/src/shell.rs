//! The shell of a terminal: its command line and its startup file.

use std::fmt::Write;

/// Maximum length of the command in the greeting, in characters; `type again` shows all of it.
const SHOWN: usize = 400;

/// Executes an interactive shell, bash if available, which reads the file `$0` first.
const CHOOSE: &str =
    "command -v bash >/dev/null && exec bash --noprofile --rcfile \"$0\" -i; ENV=\"$0\" exec sh -i";

/// Waits for a line, so that nothing is printed before the user is connected, and writes the file `$0`. It
/// contains `$1` and the command, both for display (`$2`) and for execution: the remaining words, quoted. The
/// first `$3` of them are the setup's.
const WRITE: &str = r#"stty -echo 2>/dev/null; read -r _; stty echo 2>/dev/null
printf '%s' "$1" >"$0"; printf '%s\n' "$2" >"$0.shown"; setup=$3; shift 3
{ count=0
  for word; do
    [ "$count" -gt 0 ] && [ "$count" = "$setup" ] && printf '&& '
    printf '%s\n' "$word" | sed "s/'/'\\\\''/g; 1s/^/'/; \$s/\$/' \\\\/"
    count=$((count + 1))
  done
  echo
} >"$0.again"
"#;

/// The command line of an interactive shell, bash if available, which reads `file` first.
#[must_use]
pub fn words(file: &str) -> Vec<String> {
    ["/bin/sh", "-c", CHOOSE, file].map(Into::into).into()
}

/// The same if the worker's words are known only where it starts, such as those of a container with
/// variables. The shell starts and prints its greeting when a line is typed, and writes the file itself.
#[must_use]
pub fn late_words(file: &str, greeting: &str, setup: &[String], argv: &[String]) -> Vec<String> {
    let again = quoted(&format!("{file}.again"));
    let greet = format!("printf '%s\\n' {}; cat {}", quoted(greeting), quoted(&format!("{file}.shown")));
    let text = reading(&format!("(. {again})"), &greet);
    let start = ["/bin/sh", "-c", &format!("{WRITE}{CHOOSE}"), file].map(ToOwned::to_owned);
    let told = [text, shown(&steps(setup, argv)), setup.len().to_string()];
    start.into_iter().chain(told).chain(setup.iter().chain(argv).cloned()).collect()
}

/// The shell's startup file: the greeting, and the command `again`, which runs the worker's program. It is
/// portable across shells.
#[must_use]
pub fn first(greeting: &str, setup: &[String], argv: &[String]) -> String {
    let steps = steps(setup, argv);
    let greet = format!("printf '%s\\n' {} {}", quoted(greeting), quoted(&shown(&steps)));
    reading(&steps.join(" && \\\n  "), &greet)
}

/// The setup and the program, as shell commands.
fn steps(setup: &[String], argv: &[String]) -> Vec<String> {
    [setup, argv].into_iter().filter(|words| !words.is_empty()).map(line).collect()
}

fn reading(again: &str, greet: &str) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "again() {{");
    let _ = writeln!(text, "  {again}");
    let _ = writeln!(text, "  set -- $?");
    let _ = writeln!(text, "  printf '[exit code %s]\\n' \"$1\"");
    let _ = writeln!(text, "  return \"$1\"");
    let _ = writeln!(text, "}}");
    let _ = writeln!(text, "PS1='$ '");
    // Only bash supports the folder's name in its prompt; it is checked first, because other shells print the
    // sequence as is.
    let _ = writeln!(text, "if [ -n \"$BASH_VERSION\" ]; then PS1='\\W\\$ '; fi");
    let _ = writeln!(text, "{greet}");
    text
}

/// The command for the greeting: one line of limited length.
fn shown(steps: &[String]) -> String {
    let whole = format!("again: {}", steps.join(" && ").replace(|c: char| c.is_control(), " "));
    match whole.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}...", &whole[..end]),
        None => whole,
    }
}

fn line(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// A word in shell quotes.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-./:=,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.into();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::process::{Command, Stdio};

    use super::*;

    fn words_of(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    /// The output of a shell that reads `first` and then the input `typed`.
    fn said(shell: &str, first: &str, typed: &str) -> String {
        let mut child = Command::new(shell)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{shell}: {error}"));
        child.stdin.take().unwrap().write_all(format!("{first}{typed}\n").as_bytes()).unwrap();
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
    }

    #[test]
    fn again_runs_exactly_the_words() {
        let nasty = "it's \"$HOME\" `x` \\ * \n new";
        let first = first("Hello, it's me", &[], &words_of(&["printf", "<%s>", nasty, ""]));
        for shell in ["sh", "bash"] {
            let said = said(shell, &first, "again; echo =$?");
            assert!(said.starts_with("Hello, it's me\nagain: printf"), "{shell}: {said}");
            assert!(said.ends_with(&format!("<{nasty}><>[exit code 0]\n=0\n")), "{shell}: {said}");
        }
    }

    #[test]
    fn the_setup_comes_first_and_its_failure_is_the_end() {
        let first =
            first("", &words_of(&["sh", "-c", "echo made; exit $made"]), &words_of(&["sh", "-c", "exit 3"]));
        for shell in ["sh", "bash"] {
            assert!(said(shell, &first, "export made=0; again").ends_with("made\n[exit code 3]\n"));
            assert!(said(shell, &first, "export made=7; again").ends_with("made\n[exit code 7]\n"));
        }
    }

    /// The output of a shell started by `words`, for the input `typed` after the line that it waits for.
    fn started(words: &[String], typed: &str) -> String {
        let mut child = Command::new(&words[0])
            .args(&words[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(format!("\n{typed}\nexit\n").as_bytes()).unwrap();
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
    }

    #[test]
    fn words_that_are_known_late_are_run_as_exactly() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("it's").to_string_lossy().into_owned();
        let nasty = "it's \"$HOME\" `x` \\ * \n\n new\n";
        let words =
            late_words(&file, "Hello, it's me", &[], &words_of(&["printf", "<%s>", nasty, "", "a b"]));
        let said = started(&words, "again; echo =$?");
        assert!(said.starts_with("Hello, it's me\nagain: printf"), "{said}");
        assert!(said.contains(&format!("<{nasty}><><a b>[exit code 0]\n=0\n")), "{said}");
        let setup = words_of(&["sh", "-c", "echo made; exit $made"]);
        let words = late_words(&file, "", &setup, &words_of(&["sh", "-c", "exit 3"]));
        assert!(started(&words, "export made=0; again").contains("made\n[exit code 3]\n"));
        assert!(started(&words, "export made=7; again").contains("made\n[exit code 7]\n"));
    }

    #[test]
    fn a_long_command_is_shown_in_part() {
        let first = first("", &[], &words_of(&["echo", &"ü".repeat(10_000)]));
        let greeting = said("sh", &first, "");
        assert_eq!(greeting.trim().chars().count(), SHOWN + 3);
        assert!(said("sh", &first, "again").contains(&"ü".repeat(10_000)));
    }
}
