//! Virtual environments, made once for each content: interpreter, requirements, flag.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use cubeloom_domain::failpoint::hit;
use cubeloom_domain::job::PythonEnvironment;
use rustix::fs::FlockOperation;
use sha2::{Digest, Sha256};

use super::{Interpreter, Pythons};
use crate::error::reason;
use crate::folders::{OPEN, give, make, make_owned};

impl Pythons {
    /// The environment's folder; made if it is not there, by one maker at a time on this machine.
    pub(super) async fn venv(
        &self,
        wanted: &PythonEnvironment,
        interpreter: &Interpreter,
        tell: impl Fn(String),
    ) -> Result<PathBuf, String> {
        let name = name(wanted, interpreter);
        let venv = self.data.join("venvs").join(&name);
        if venv.exists() {
            return Ok(venv);
        }
        tell(format!("Python environment with {}", wanted.requirements.join(", ")));
        let lock = self.data.join("venvs").join(format!("{name}.lock"));
        let lock = tokio::task::spawn_blocking(move || take_lock(&lock))
            .await
            .map_err(|error| error.to_string())?
            .map_err(|error| format!("the Python environment cannot be locked: {}", reason(&error)))?;
        if venv.exists() {
            return Ok(venv);
        }
        let staging = self.data.join("venvs").join(format!("{name}.new"));
        self.make(wanted, interpreter, &staging, &lock).await?;
        hit("local.venv.before");
        fs::rename(&staging, &venv)
            .map_err(|error| format!("{} cannot be made: {}", venv.display(), reason(&error)))?;
        hit("local.venv.after");
        Ok(venv)
    }

    async fn make(
        &self,
        wanted: &PythonEnvironment,
        interpreter: &Interpreter,
        staging: &Path,
        lock: &File,
    ) -> Result<(), String> {
        let uv = self.uv().await?;
        let _ = fs::remove_dir_all(staging);
        make_owned(staging, self.builder)
            .and_then(|()| fs::set_permissions(staging, fs::Permissions::from_mode(OPEN)))
            .map_err(|error| format!("{} cannot be made: {}", staging.display(), reason(&error)))?;
        let mut arguments: Vec<String> =
            ["venv", "--allow-existing", "--relocatable", "--python"].map(Into::into).into();
        arguments.push(interpreter.path.display().to_string());
        if wanted.system_site_packages {
            arguments.push("--system-site-packages".into());
        }
        arguments.push(staging.display().to_string());
        self.run_uv(&uv, &arguments, lock).await?;
        let python = staging.join("bin/python").display().to_string();
        let mut arguments: Vec<String> = ["pip", "install", "--python", &python].map(Into::into).into();
        if !wanted.provided.is_empty() {
            let overrides = staging.join("provided.txt");
            fs::write(&overrides, provided(wanted))
                .map_err(|error| format!("{} cannot be written: {}", overrides.display(), reason(&error)))?;
            arguments.extend(["--overrides".into(), overrides.display().to_string()]);
        }
        arguments.push("--".into());
        arguments.extend(wanted.requirements.iter().cloned());
        self.run_uv(&uv, &arguments, lock).await
    }

    /// The folder of uv's own cache and home.
    pub(super) fn cache(&self) -> Result<PathBuf, String> {
        let cache = self.data.join("cache").join("uv");
        make(&cache, OPEN)
            .and_then(|_| give(&cache, self.builder))
            .map_err(|error| format!("{} cannot be made: {}", cache.display(), reason(&error)))?;
        Ok(cache)
    }
}

/// Overrides for uv, which does not look at what the system has: what is provided is required on no platform, unless the
/// requirements name it themselves.
/// <https://docs.astral.sh/uv/pip/dependencies/#overriding-dependency-versions>
fn provided(wanted: &PythonEnvironment) -> String {
    let named = |name: &&String| {
        let is_name = |byte: char| byte.is_ascii_alphanumeric() || "-_.".contains(byte);
        let mut names =
            wanted.requirements.iter().map(|one| one.split(|c| !is_name(c)).next().unwrap_or(one));
        names.any(|one| one.eq_ignore_ascii_case(name))
    };
    let provided = wanted.provided.iter().filter(|name| !named(name));
    provided.map(|name| format!("{name} ; sys_platform == 'never'\n")).collect()
}

/// The name that the content gives.
fn name(wanted: &PythonEnvironment, interpreter: &Interpreter) -> String {
    let mut hash = Sha256::new();
    let path = interpreter.path.display().to_string();
    for part in [&path, &interpreter.version].into_iter().chain(&wanted.requirements) {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    hash.update([u8::from(wanted.system_site_packages)]);
    for part in &wanted.provided {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn take_lock(path: &Path) -> std::io::Result<File> {
    let lock = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)?;
    rustix::fs::flock(&lock, FlockOperation::LockExclusive)?;
    Ok(lock)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_provided_is_not_required_of_others() {
        let wanted = |requirements: &[&str]| PythonEnvironment {
            interpreter: "python3".into(),
            requirements: requirements.iter().map(|word| (*word).into()).collect(),
            system_site_packages: true,
            provided: vec!["torch".into(), "numpy".into()],
        };
        let both = "torch ; sys_platform == 'never'\nnumpy ; sys_platform == 'never'\n";
        assert_eq!(provided(&wanted(&["torch-rechub==0.9.0", "torchvision==0.1"])), both);
        assert_eq!(provided(&wanted(&["Torch==2.9.0", "a==1"])), "numpy ; sys_platform == 'never'\n");
        assert_eq!(provided(&wanted(&["numpy @ file:///n.whl", "torch[all]>=2"])), "");
    }

    #[test]
    fn another_content_is_another_environment() {
        let interpreter = Interpreter { path: "/usr/bin/python3".into(), version: "cpython 3.11.2".into() };
        let wanted = |requirements: &[&str], system_site_packages| PythonEnvironment {
            interpreter: "python3".into(),
            requirements: requirements.iter().map(|word| (*word).into()).collect(),
            system_site_packages,
            provided: Vec::new(),
        };
        let plain = name(&wanted(&["a==1", "b==2"], false), &interpreter);
        assert_eq!(plain, name(&wanted(&["a==1", "b==2"], false), &interpreter));
        for other in
            [wanted(&["a==1", "b==2"], true), wanted(&["a==1b", "==2"], false), wanted(&["a==1"], false)]
        {
            assert_ne!(plain, name(&other, &interpreter));
        }
        let without = PythonEnvironment { provided: vec!["a".into()], ..wanted(&["a==1", "b==2"], false) };
        assert_ne!(plain, name(&without, &interpreter));
        let newer = Interpreter { version: "cpython 3.12.1".into(), ..interpreter };
        assert_ne!(plain, name(&wanted(&["a==1", "b==2"], false), &newer));
    }
}
