//! Parses a command that begins with `spark-submit`.

use std::collections::BTreeMap;

use serde_json::Value;

/// The content of a `spark-submit` command.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Submission {
    /// The program's file.
    pub file: String,
    pub arguments: Vec<String>,
    pub class: Option<String>,
    pub properties: BTreeMap<String, String>,
    /// Files that it needs, by the application's keys for them.
    pub dependencies: BTreeMap<&'static str, Vec<String>>,
}

/// Options that are comma-separated lists, and their keys in an application. Packages are not supported: the
/// operator would resolve them itself, and load their content.
const LISTS: [(&str, &str); 4] =
    [("--jars", "jars"), ("--py-files", "pyFiles"), ("--files", "files"), ("--archives", "archives")];

impl Submission {
    /// Parses a command. `None` if it is not a `spark-submit`, or has an option that an application does not
    /// have or may not set. Resources, the master and the mode are such options: they follow from the task's
    /// resources and target cluster.
    pub fn read(words: &[String]) -> Option<Self> {
        let (program, rest) = words.split_first()?;
        // A template's own `spark-submit` is run by an interpreter, as all of its files are.
        let (program, rest) = if program == "python3" { rest.split_first()? } else { (program, rest) };
        if program.rsplit('/').next() != Some("spark-submit") {
            return None;
        }
        let mut found = Self::default();
        let mut rest = rest.iter();
        while let Some(word) = rest.next() {
            if !word.starts_with('-') {
                found.file = word.clone();
                found.arguments = rest.cloned().collect();
                return Some(found);
            }
            let (option, value) = match word.split_once('=') {
                Some((option, value)) => (option, value.to_owned()),
                None => (word.as_str(), rest.next()?.clone()),
            };
            found.option(option, value)?;
        }
        None
    }

    fn option(&mut self, option: &str, value: String) -> Option<()> {
        if let Some((_, key)) = LISTS.iter().find(|(name, _)| *name == option) {
            self.dependencies.insert(*key, value.split(',').map(ToOwned::to_owned).collect());
            return Some(());
        }
        match option {
            "--class" => self.class = Some(value),
            "--conf" | "-c" => {
                let (name, value) = value.split_once('=').filter(|(name, _)| is_applications(name))?;
                self.properties.insert(name.to_owned(), value.to_owned());
            }
            // The application has the job's name.
            "--name" => {}
            _ => return None,
        }
        Some(())
    }

    /// The application's `type`.
    pub fn language(&self) -> &'static str {
        match self.file.rsplit('.').next() {
            Some("py" | "zip" | "egg") => "Python",
            Some("R" | "r") => "R",
            _ => "Java",
        }
    }
}

/// Properties that affect the operator's own `spark-submit`, which has the operator's account and files. They
/// decide which pods it creates, where and as whom, and what it uploads, loads or authenticates with.
const OPERATORS: [&str; 8] = [
    "spark.archives",
    "spark.files",
    "spark.jars",
    "spark.kerberos",
    "spark.kubernetes",
    "spark.master",
    "spark.submit",
    "spark.yarn",
];

/// Whether only the driver and the executors use a property.
fn is_applications(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    let below = |prefix: &&str| {
        name.strip_prefix(*prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    name.chars().all(plain) && !OPERATORS.iter().any(below)
}

/// The variables of a container with constant values.
pub fn constants(container: &Value) -> BTreeMap<String, String> {
    let all = container["env"].as_array().into_iter().flatten();
    let fixed = |entry: &Value| {
        let value = entry["value"].as_str().filter(|value| !value.contains('$'))?;
        Some((entry["name"].as_str()?.to_owned(), value.to_owned()))
    };
    all.filter_map(fixed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Submission> {
        Submission::read(&text.split(' ').map(ToOwned::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_command_is_taken_apart() {
        let found = read(
            "/opt/spark/bin/spark-submit --class a.B --conf x.y=1=2 --conf=z=3 --jars a.jar,b.jar --name n app.jar --conf 7",
        );
        let found = found.unwrap();
        assert_eq!((found.file.as_str(), found.language()), ("app.jar", "Java"));
        assert_eq!(found.arguments, ["--conf", "7"]);
        assert_eq!(found.class.as_deref(), Some("a.B"));
        assert_eq!(found.properties, [("x.y".into(), "1=2".into()), ("z".into(), "3".into())].into());
        assert_eq!(found.dependencies["jars"], ["a.jar", "b.jar"]);
    }

    #[test]
    fn what_an_application_cannot_say_is_none() {
        for text in [
            "python3 main.py",
            "spark-submit",
            "spark-submit --master yarn main.py",
            "spark-submit --conf x main.py",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
        for (option, value) in [
            ("--conf", "spark.kubernetes.namespace=bob"),
            ("--conf", "spark.kubernetes.driver.volumes.hostPath.root.mount.path=/host"),
            ("--conf", "spark.kubernetes.authenticate.driver.serviceAccountName=admin"),
            ("-c", "spark.kubernetes.file.upload.path=s3a://mine/"),
            ("--conf", "spark.jars.packages=a:b:1"),
            ("--conf", "spark.jars=file:///etc/passwd"),
            ("--conf", "spark.submit.deployMode=client"),
            ("--conf", "spark.master=local"),
            ("--conf", " spark.master=local"),
            ("--packages", "a:b:1"),
            ("--repositories", "https://example.org"),
        ] {
            for words in [vec![option.to_owned(), value.to_owned()], vec![format!("{option}={value}")]] {
                let words = [vec!["spark-submit".to_owned()], words, vec!["main.py".to_owned()]].concat();
                assert_eq!(Submission::read(&words), None, "{words:?}");
            }
        }
        assert!(read("spark-submit --conf spark.jarsome=1 main.py").is_some());
        assert_eq!(read("spark-submit main.py").unwrap().language(), "Python");
        assert_eq!(read("python3 /t/spark-submit main.py"), read("spark-submit main.py"));
        assert!(read("python3 main.py").is_none());
    }
}
