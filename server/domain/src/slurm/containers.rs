//! How a cluster's nodes run a program in an image.

use serde::{Deserialize, Serialize};

use super::{is_path, is_word};

/// The container program of a cluster's nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlurmContainers {
    pub by: ContainerProgram,
    /// Its path on every node. `None` means its default.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub program: Option<String>,
    /// The folder with images that an administrator has put there, named as in [`SlurmContainers::file`].
    /// `{project}` is replaced by the project's name.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub images: Option<String>,
    /// The folder in the workspace with images that jobs have pulled. Empty means `.images`.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub pulled: String,
}

/// A container program, by its name in the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ContainerProgram {
    /// Apptainer, or Singularity 3.7 and later: images are SIF files.
    Apptainer,
    /// NVIDIA's enroot, without pyxis: images are squashfs files.
    Enroot,
    /// Charliecloud's `ch-run`: images are folders.
    Charliecloud,
}

impl ContainerProgram {
    /// The default path of the program.
    #[must_use]
    pub fn usual_place(self) -> &'static str {
        match self {
            Self::Apptainer => "/usr/bin/apptainer",
            Self::Enroot => "/usr/bin/enroot",
            Self::Charliecloud => "/usr/bin/ch-run",
        }
    }

    /// The file extension of its images.
    fn ending(self) -> &'static str {
        match self {
            Self::Apptainer => ".sif",
            Self::Enroot => ".sqsh",
            Self::Charliecloud => "",
        }
    }
}

impl SlurmContainers {
    /// The path of the program.
    #[must_use]
    pub fn program(&self) -> &str {
        self.program.as_deref().unwrap_or_else(|| self.by.usual_place())
    }

    /// The file name of an image: `/` becomes `+`, `:` becomes `++`, `@` becomes `+++`. Two images never have
    /// the same name, because a reference contains neither `+` nor two such characters in a row.
    #[must_use]
    pub fn file(&self, image: &str) -> String {
        let name = image.replace('/', "+").replace(':', "++").replace('@', "+++");
        format!("{name}{}", self.by.ending())
    }

    /// The folder in the workspace with pulled images.
    #[must_use]
    pub fn pulled_above(&self) -> &str {
        if self.pulled.is_empty() { ".images" } else { &self.pulled }
    }

    /// Settings that cannot be written into a script, one sentence each that begins with the field.
    pub(super) fn mistakes(&self) -> Vec<String> {
        let mut found = Vec::new();
        let paths = [("program", self.program.as_deref()), ("images", self.images.as_deref())];
        for (field, path) in paths {
            if path.is_some_and(|path| !is_path(&path.replace("{project}", "p"))) {
                found.push(format!(
                    "containers.{field}: write an absolute path of letters, digits and `/._-+`, the same on every node"
                ));
            }
        }
        if !(self.pulled.is_empty() || self.pulled.split('/').all(is_name)) {
            found.push(
                "containers.pulled: write a folder's name of letters, digits and `/._-+`, below the workspace"
                    .into(),
            );
        }
        found
    }
}

/// Whether a text is a plain file name.
fn is_name(text: &str) -> bool {
    is_word(text) && text != "." && text != ".."
}

/// Whether a text is an image reference or a path, and one word for a shell between quotes.
#[must_use]
pub fn is_image(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-+/:@".contains(&byte);
    let is_reference = text.starts_with(|first: char| first.is_ascii_alphanumeric()) && !text.contains("//");
    text.bytes().all(plain) && (is_path(text) || (is_reference && !text.contains('+')))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(by: ContainerProgram) -> SlurmContainers {
        SlurmContainers { by, program: None, images: None, pulled: String::new() }
    }

    #[test]
    fn images_have_files_of_their_own() {
        let of = |image: &str| by(ContainerProgram::Apptainer).file(image);
        assert_eq!(of("ghcr.io/cubeloom/command:1.0.0"), "ghcr.io+cubeloom+command++1.0.0.sif");
        assert_ne!(of("host:80/a"), of("host/80:a"));
        assert_eq!(by(ContainerProgram::Charliecloud).file("a@sha256:0f"), "a+++sha256++0f");
        assert_eq!(by(ContainerProgram::Enroot).file("a"), "a.sqsh");
    }

    #[test]
    fn an_image_is_no_text_of_a_shell() {
        for image in ["debian", "ghcr.io/a/b:1", "host:80/a@sha256:0f", "/shared/a.sif"] {
            assert!(is_image(image), "{image}");
        }
        for wrong in ["", "a b", "$(id)", "a'", "-x", "a//b", "/a/../b", "a+b", "docker://a", "a\nb"] {
            assert!(!is_image(wrong), "{wrong}");
        }
    }

    #[test]
    fn what_cannot_stand_in_a_script_is_named() {
        let wrong = SlurmContainers {
            program: Some("apptainer".into()),
            images: Some("/a b".into()),
            pulled: "../x".into(),
            ..by(ContainerProgram::Apptainer)
        };
        let fields: Vec<String> =
            wrong.mistakes().iter().map(|text| text.split(": ").next().unwrap().to_owned()).collect();
        assert_eq!(fields, ["containers.program", "containers.images", "containers.pulled"]);
        let right = SlurmContainers {
            images: Some("/shared/{project}".into()),
            pulled: ".images/more".into(),
            ..by(ContainerProgram::Enroot)
        };
        assert_eq!(right.mistakes(), Vec::<String>::new());
    }
}
