//! Virtual environments, created once per content: interpreter, requirements, flag.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use cubeloom_domain::failpoint::hit;
use cubeloom_domain::job::PythonEnvironment;
use cubeloom_domain::requirement;
use cubeloom_files::own;
use rustix::fs::{FlockOperation, OFlags};
use sha2::{Digest, Sha256};

use super::uv::Uv;
use super::{Interpreter, Pythons};
use crate::error::reason;
use crate::folders::{OPEN, make_owned, open_below};
use crate::spec::Limits;

impl Pythons {
    /// The environment's folder, created if missing, by one builder at a time on this machine.
    pub(super) async fn venv(
        &self,
        wanted: &PythonEnvironment,
        interpreter: &Interpreter,
        user: Option<u32>,
        limits: Limits,
        tell: impl Fn(String),
    ) -> Result<PathBuf, String> {
        wanted.requirements.iter().try_for_each(|requirement| requirement::check(requirement))?;
        let built = built(wanted);
        let maker = self.maker(interpreter, !built.is_empty(), user)?;
        let name = name(wanted, interpreter);
        let venv = maker.venvs.join(&name);
        if venv.exists() {
            return Ok(venv);
        }
        tell(format!("Python environment with {}", wanted.requirements.join(", ")));
        let lock = maker.venvs.join(format!("{name}.lock"));
        let lock = tokio::task::spawn_blocking(move || take_lock(&lock))
            .await
            .map_err(|error| error.to_string())?
            .map_err(|error| format!("the Python environment cannot be locked: {}", reason(&error)))?;
        if venv.exists() {
            return Ok(venv);
        }
        let staging = maker.venvs.join(format!("{name}.new"));
        let uv = Uv { program: self.uv().await?, maker: &maker, limits, lock: &lock };
        self.make(wanted, interpreter, &staging, &uv).await?;
        hit("local.venv.before");
        own::rename(&staging, &venv)
            .map_err(|error| format!("{} cannot be created: {}", venv.display(), reason(&error)))?;
        hit("local.venv.after");
        Ok(venv)
    }

    async fn make(
        &self,
        wanted: &PythonEnvironment,
        interpreter: &Interpreter,
        staging: &Path,
        uv: &Uv<'_>,
    ) -> Result<(), String> {
        let maker = uv.maker;
        let _ = own::remove_dir_all(staging);
        make_owned(staging, maker.user)
            .and_then(|()| own::set_permissions(staging, fs::Permissions::from_mode(OPEN)))
            .map_err(|error| format!("{} cannot be created: {}", staging.display(), reason(&error)))?;
        let mut arguments: Vec<String> =
            ["venv", "--allow-existing", "--relocatable", "--python"].map(Into::into).into();
        arguments.push(interpreter.path.display().to_string());
        if wanted.system_site_packages {
            arguments.push("--system-site-packages".into());
        }
        arguments.push(staging.display().to_string());
        self.run_uv(uv, &arguments).await?;
        let python = staging.join("bin/python").display().to_string();
        let mut arguments: Vec<String> = ["pip", "install", "--python", &python].map(Into::into).into();
        if !wanted.provided.is_empty() {
            let overrides = staging.join("provided.txt");
            // The folder belongs to the builder, which runs package code: it may have put a symlink there.
            open_below(staging, &overrides, OFlags::EXCL, maker.user)
                .and_then(|mut file| file.write_all(provided(wanted).as_bytes()))
                .map_err(|error| format!("{} cannot be written: {}", overrides.display(), reason(&error)))?;
            arguments.extend(["--overrides".into(), overrides.display().to_string()]);
        }
        let built = built(wanted);
        if !built.is_empty() && !maker.sources {
            // First and separately: uv then finds them installed, and builds nothing else.
            let alone = arguments.iter().map(String::as_str).chain(["--no-deps", "--"]).chain(built);
            self.run_uv(uv, &alone.map(Into::into).collect::<Vec<_>>()).await?;
        }
        if !maker.sources {
            arguments.push("--no-build".into());
        }
        arguments.push("--".into());
        arguments.extend(wanted.requirements.iter().cloned());
        self.run_uv(uv, &arguments).await.map_err(|error| {
            let hint = if !maker.sources && error.contains(NO_WHEEL) { WHEELS_ONLY } else { "" };
            error + hint
        })
    }
}

/// Requirements that the template allows to be built from source.
fn built(wanted: &PythonEnvironment) -> Vec<&str> {
    let may_be = |text: &&str| {
        let (name, elsewhere) = requirement::package(text);
        !elsewhere && wanted.builds.iter().any(|one| requirement::is_same_package(one, name))
    };
    wanted.requirements.iter().map(String::as_str).filter(may_be).collect()
}

/// uv's message about a package that it would have to build.
const NO_WHEEL: &str = "building from source is disabled";
/// The hint added to that message.
const WHEELS_ONLY: &str = "\nOnly packages with a wheel for this machine are installed, because building a package runs its code. The server's operator can allow builds with `python_sources` in `[local]`.";

/// Overrides for uv, which ignores the system's packages: provided packages are required on no platform,
/// unless the requirements name them.
/// <https://docs.astral.sh/uv/pip/dependencies/#overriding-dependency-versions>
fn provided(wanted: &PythonEnvironment) -> String {
    let named = |name: &&String| {
        let mut names = wanted.requirements.iter().map(|one| requirement::package(one).0);
        names.any(|one| requirement::is_same_package(one, name))
    };
    let provided = wanted.provided.iter().filter(|name| !named(name));
    provided.map(|name| format!("{name} ; sys_platform == 'never'\n")).collect()
}

/// The name derived from the content.
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
    for part in &wanted.builds {
        hash.update([1]);
        hash.update(part.as_bytes());
    }
    hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn take_lock(path: &Path) -> std::io::Result<File> {
    let lock = own::open_with(OpenOptions::new().create(true).truncate(false).write(true).mode(0o600), path)?;
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
            builds: Vec::new(),
        };
        let both = "torch ; sys_platform == 'never'\nnumpy ; sys_platform == 'never'\n";
        assert_eq!(provided(&wanted(&["torch-rechub==0.9.0", "torchvision==0.1"])), both);
        assert_eq!(provided(&wanted(&["Torch==2.9.0", "a==1"])), "numpy ; sys_platform == 'never'\n");
        assert_eq!(provided(&wanted(&["numpy @ file:///n.whl", "torch[all]>=2"])), "");
    }

    #[test]
    fn what_a_template_lets_be_built_comes_from_the_index() {
        let wanted = PythonEnvironment {
            interpreter: "python3".into(),
            requirements: ["pyspark==4.3.0", "PySpark @ https://example.org/pyspark.tar.gz", "numpy==2.4.6"]
                .map(Into::into)
                .into(),
            system_site_packages: false,
            provided: Vec::new(),
            builds: vec!["pyspark".into()],
        };
        assert_eq!(built(&wanted), ["pyspark==4.3.0"]);
    }

    #[test]
    fn another_content_is_another_environment() {
        let interpreter = Interpreter { path: "/usr/bin/python3".into(), version: "cpython 3.11.2".into() };
        let wanted = |requirements: &[&str], system_site_packages| PythonEnvironment {
            interpreter: "python3".into(),
            requirements: requirements.iter().map(|word| (*word).into()).collect(),
            system_site_packages,
            provided: Vec::new(),
            builds: Vec::new(),
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
