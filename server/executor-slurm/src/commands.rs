//! Slurm's commands: only this module knows their arguments and output, so differences between versions stay
//! here.
//!
//! Arguments are passed as words, never through a shell; every call has a timeout. Output formats are
//! requested field by field (`-o`, `-O`, `scontrol -o`), which have been stable since Slurm 20. Unknown parts
//! of an output are ignored.

use std::io;
use std::process::Stdio;
use std::time::Duration;

use cubeloom_domain::slurm::SlurmCalls;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::WRITE_ARG;
use crate::parcel::Packed;

/// The `sh` script that runs `test` with its arguments.
const ANSWER: &str = "if test \"$@\"; then echo yes; else echo no; fi";

/// Timeout of a call. `sbatch` itself waits while the controller accepts no jobs.
pub const LIMIT: Duration = Duration::from_secs(40);

/// Minimum rate of input sent with a call, in bytes per second.
const SLOWEST: u64 = 1 << 20;

/// The standard input of a command.
enum Input<'a> {
    Text(&'a [u8]),
    Parcel(&'a Packed),
}

/// Parts of error messages when the cluster is unreachable, at least for now. Then the result of the request
/// is unknown: a job may have been accepted nevertheless.
const AWAY: [&str; 17] = [
    "Unable to contact slurm controller",
    "Unable to contact slurm",
    "Unable to connect to database",
    "Connection refused",
    "Connection timed out",
    "Socket timed out",
    "Zero Bytes were transmitted",
    "Transport endpoint is not connected",
    "Unexpected message received",
    "Unexpected missing socket error",
    "Protocol authentication error",
    "Munge",
    "munge",
    "temporarily unable to accept job",
    "Resource temporarily unavailable",
    "SubmitJob",
    "in standby mode",
];

/// Whether an error message says that the cluster is unreachable.
pub fn is_away(said: &str) -> bool {
    AWAY.iter().any(|part| said.contains(part))
}

/// Output of a failing `sacctmgr` when there is nothing to change.
const UNCHANGED: [&str; 2] = ["Nothing new added", "Nothing modified"];

/// With this text as well, something is wrong: then it is a refusal.
const WRONG: [&str; 3] = ["doesn't exist", "non-existent", "denied"];

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// The cluster is unreachable; the sentence says why.
    Away(String),
    /// Slurm refused, in its own words.
    Refused(String),
}

/// Slurm's commands on this machine.
#[derive(Clone, Debug)]
pub struct Commands {
    calls: SlurmCalls,
}

impl Commands {
    /// With these settings.
    pub fn new(calls: SlurmCalls) -> Self {
        Self { calls }
    }

    /// All jobs that the controller knows, including recently ended ones: one per line, for
    /// [`crate::seen::listed`].
    pub async fn squeue(&self) -> Result<String, Trouble> {
        self.own(&["squeue", "--all", "--noheader", "--states=all", "--format=%i|%U|%T|%r|%N|%j"]).await
    }

    /// Accounting's records of jobs, by `--name=...` or `--jobs=...`: one per line, for
    /// [`crate::seen::accounted`].
    pub async fn sacct(&self, by: &str) -> Result<String, Trouble> {
        let fields = "--format=JobID,UID,State,NodeList,JobName";
        let since = "--starttime=now-30days";
        self.own(&["sacct", "--allusers", "--noheader", "--parsable2", "--allocations", since, fields, by])
            .await
    }

    /// The nodes, one per line, for [`crate::nodes::read`].
    pub async fn nodes(&self) -> Result<String, Trouble> {
        self.own(&["scontrol", "--oneliner", "--all", "show", "nodes"]).await
    }

    /// The version, as `slurm 22.05.8`.
    pub async fn version(&self) -> Result<String, Trouble> {
        self.own(&["sinfo", "--version"]).await.map(|said| said.trim().to_owned())
    }

    /// The cluster's name in accounting.
    pub async fn cluster_name(&self) -> Result<String, Trouble> {
        let said = self.own(&["scontrol", "show", "config"]).await?;
        let line = said.lines().find_map(|line| line.strip_prefix("ClusterName"));
        let name = line.and_then(|rest| rest.split_once('=')).map(|(_, name)| name.trim().to_owned());
        name.ok_or_else(|| Trouble::Refused("scontrol: the configuration has no ClusterName".into()))
    }

    /// Queries or changes accounting. A change that is already in place succeeds.
    pub async fn sacctmgr(&self, words: &[&str]) -> Result<String, Trouble> {
        let all: Vec<&str> = ["sacctmgr", "--noheader", "--parsable2", "--immediate"]
            .into_iter()
            .chain(words.iter().copied())
            .collect();
        match self.own(&all).await {
            Err(Trouble::Refused(said)) if is_unchanged(&said) => Ok(String::new()),
            done => done,
        }
    }

    /// The uid of an account.
    pub async fn uid(&self, account: &str) -> Result<u32, Trouble> {
        let said = self.own(&["id", "-u", "--", account]).await?;
        let uid = said.trim().parse();
        uid.map_err(|_| Trouble::Refused(format!("id: `{}` is not a uid", said.trim())))
    }

    /// Submits a script as an account; `options` override the script's. Returns the job's id.
    pub async fn sbatch(&self, account: &str, options: &[String], script: &str) -> Result<String, Trouble> {
        let mut words = vec!["sbatch", "--parsable"];
        words.extend(options.iter().map(String::as_str));
        words.push(script);
        let said = self.as_account(account, &words, Vec::new()).await?;
        // The id, and in a federation the cluster.
        Ok(said.trim().split(';').next().unwrap_or_default().to_owned())
    }

    /// Cancels jobs as their account, by id or `--name=...`: TERM, then KILL after Slurm's `KillWait`; or
    /// KILL at once. Jobs that no longer exist count as ended.
    pub async fn scancel(&self, account: &str, jobs: &[String], kill: bool) -> Result<(), Trouble> {
        let mut words = vec!["scancel"];
        if kill {
            words.extend(["--full", "--signal=KILL"]);
        }
        let own = format!("--user={account}");
        if jobs.iter().any(|job| job.starts_with('-')) {
            // A Slurm operator's account could cancel other users' jobs of that name.
            words.push(&own);
        }
        words.extend(jobs.iter().map(String::as_str));
        match self.as_account(account, &words, Vec::new()).await {
            Err(Trouble::Refused(said)) if said.contains("Invalid job id") => Ok(()),
            done => done.map(|_| ()),
        }
    }

    /// Runs this program as an account, with `input` on standard input.
    pub async fn program(
        &self,
        account: &str,
        program: &str,
        words: &[&str],
        input: Vec<u8>,
    ) -> Result<(), Trouble> {
        let all: Vec<&str> = std::iter::once(program).chain(words.iter().copied()).collect();
        self.as_account(account, &all, input).await.map(|_| ())
    }

    /// Runs a no-op as an account, to test the switch to it.
    pub async fn nothing(&self, account: &str) -> Result<(), Trouble> {
        self.as_account(account, &["true"], Vec::new()).await.map(|_| ())
    }

    /// Tests a file as an account, with arguments of `test`.
    pub async fn holds(&self, account: &str, words: &[&str]) -> Result<bool, Trouble> {
        // The switch to the account may fail, or print warnings: the answer is a single word.
        let all: Vec<&str> = ["sh", "-c", ANSWER, "sh"].into_iter().chain(words.iter().copied()).collect();
        match self.as_account(account, &all, Vec::new()).await?.trim() {
            "yes" => Ok(true),
            "no" => Ok(false),
            said => Err(Trouble::Refused(format!("sh: `{said}` is not an answer"))),
        }
    }

    /// Has this program write a job bundle as an account.
    pub async fn parcel(&self, account: &str, program: &str, parcel: &Packed) -> Result<(), Trouble> {
        let words = self.led(account, &[program, WRITE_ARG]);
        let limit = LIMIT + Duration::from_secs(parcel.len() / SLOWEST);
        self.call(words, Input::Parcel(parcel), limit).await.map(|_| ())
    }

    async fn own(&self, words: &[&str]) -> Result<String, Trouble> {
        self.call(words.iter().map(|word| (*word).to_owned()).collect(), Input::Text(&[]), LIMIT).await
    }

    async fn as_account(&self, account: &str, words: &[&str], input: Vec<u8>) -> Result<String, Trouble> {
        self.call(self.led(account, words), Input::Text(&input), LIMIT).await
    }

    /// The prefix for another account. sudo removes variables: they are set after it. With slurmrestd instead
    /// of Slurm's commands, only the `cubeloom` program runs as an account, which needs none. So sudo may be
    /// restricted to that program.
    fn led(&self, account: &str, words: &[&str]) -> Vec<String> {
        let mut all: Vec<String> =
            self.calls.become_account.iter().map(|word| word.replace("{account}", account)).collect();
        if self.calls.slurmrestd.is_none() {
            all.push("/usr/bin/env".into());
            all.extend(self.variables().map(|(name, value)| format!("{name}={value}")));
        }
        all.extend(words.iter().map(|word| (*word).to_owned()));
        all
    }

    /// Variables for the commands, and for submitted scripts.
    pub fn variables(&self) -> impl Iterator<Item = (&'static str, String)> {
        let conf = self.calls.conf.clone().map(|conf| ("SLURM_CONF", conf));
        // Slurm's output is parsed, so fix the language.
        [("PATH", self.calls.path.clone()), ("LC_ALL", "C".to_owned())].into_iter().chain(conf)
    }

    async fn call(&self, words: Vec<String>, input: Input<'_>, limit: Duration) -> Result<String, Trouble> {
        let Some((program, arguments)) = words.split_first() else {
            return Err(Trouble::Refused("there is no command".into()));
        };
        let what = words.iter().find(|word| is_named(word)).unwrap_or(program).clone();
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(self.variables()).current_dir("/");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let talk = async {
            let mut child = command.spawn()?;
            let stdin = child.stdin.take();
            // Read and write concurrently: otherwise both sides may block on full pipes.
            let give = async {
                if let Some(mut stdin) = stdin {
                    // A process that ends without reading reports the reason itself.
                    let _ = match input {
                        Input::Text(text) => stdin.write_all(text).await,
                        Input::Parcel(parcel) => parcel.send(&mut stdin).await,
                    };
                }
            };
            let (done, ()) = tokio::join!(child.wait_with_output(), give);
            done
        };
        match tokio::time::timeout(limit, talk).await {
            Err(_) => Err(Trouble::Away(format!("{what} did not end within {} seconds", limit.as_secs()))),
            Ok(Err(error)) => Err(not_started(program, &error)),
            Ok(Ok(done)) if done.status.success() => Ok(String::from_utf8_lossy(&done.stdout).into_owned()),
            Ok(Ok(done)) => {
                let mut said = String::from_utf8_lossy(&done.stderr).into_owned();
                let more = String::from_utf8_lossy(&done.stdout);
                // On standard output, sacctmgr says that there was nothing to do, along with any warnings. It
                // also lists the intended changes there, which are no reason.
                if said.is_empty() || UNCHANGED.iter().any(|part| more.contains(part)) {
                    said.push('\n');
                    said.push_str(&more);
                }
                Err(trouble(&what, &said))
            }
        }
    }
}

/// Why a command did not start. Lack of processes, memory or file descriptors is temporary.
fn not_started(program: &str, error: &io::Error) -> Trouble {
    let sentence = format!("{program} cannot be started: {error}");
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => Trouble::Refused(sentence),
        _ => Trouble::Away(sentence),
    }
}

/// Whether `sacctmgr` failed only because there was nothing to do.
fn is_unchanged(said: &str) -> bool {
    let says = |parts: &[&str]| parts.iter().any(|part| said.contains(part));
    says(&UNCHANGED) && !says(&WRONG)
}

/// Whether a word is the command itself, not a part of its prefix.
fn is_named(word: &str) -> bool {
    ["squeue", "sacct", "sacctmgr", "scontrol", "sinfo", "sbatch", "scancel"].contains(&word)
        || word.starts_with("__slurm-")
}

/// The error of a failed command.
fn trouble(what: &str, said: &str) -> Trouble {
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let sentence = match lines[..] {
        [] => format!("{what} failed without a message"),
        _ => format!("{what}: {}", lines.join("; ")),
    };
    if is_away(said) { Trouble::Away(sentence) } else { Trouble::Refused(sentence) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(become_account: &[&str]) -> Commands {
        Commands::new(SlurmCalls {
            become_account: become_account.iter().map(|word| (*word).to_owned()).collect(),
            conf: Some("/etc/x.conf".into()),
            path: "/usr/bin:/bin".into(),
            slurmrestd: None,
            every: 1,
        })
    }

    #[tokio::test]
    async fn another_account_gets_the_variables_behind_what_leads_to_it() {
        let commands = commands(&["/usr/bin/env", "-i", "WHO={account}"]);
        let said = commands.as_account("ann", &["env"], Vec::new()).await.unwrap();
        let mut lines: Vec<&str> = said.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["LC_ALL=C", "PATH=/usr/bin:/bin", "SLURM_CONF=/etc/x.conf", "WHO=ann"]);
    }

    #[tokio::test]
    async fn no_word_is_a_shells_and_much_can_be_read() {
        let commands = commands(&[]);
        let said = commands.as_account("a", &["echo", "$(id); *"], Vec::new()).await.unwrap();
        assert_eq!(said, "$(id); *\n");
        let input = vec![b'x'; 1 << 20];
        assert_eq!(commands.as_account("a", &["cat"], input).await.unwrap().len(), 1 << 20);
        let refused = commands.as_account("a", &["ls", "/no/such"], Vec::new()).await.unwrap_err();
        assert!(matches!(&refused, Trouble::Refused(said) if said.contains("/no/such")), "{refused:?}");
    }

    #[tokio::test]
    async fn what_does_not_hold_is_told_from_what_does_not_lead_to_the_account() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().to_str().unwrap();
        let commands = commands(&[]);
        assert_eq!(commands.holds("a", &["-d", path, "-a", "-w", path]).await, Ok(true));
        assert_eq!(commands.holds("a", &["-e", &format!("{path}/none")]).await, Ok(false));
        let warns =
            self::commands(&["sh", "-c", "echo 'sudo: unable to resolve host n1' >&2; exec \"$@\"", "sh"]);
        assert_eq!(warns.holds("a", &["-e", &format!("{path}/none")]).await, Ok(false));
        assert_eq!(warns.holds("a", &["-e", path]).await, Ok(true));
        let nobody = self::commands(&["sh", "-c", "echo 'sudo: a password is required' >&2; exit 1"]);
        let refused = nobody.holds("a", &["-d", path]).await.unwrap_err();
        assert!(matches!(&refused, Trouble::Refused(said) if said.contains("a password")), "{refused:?}");
        assert_eq!(nobody.nothing("a").await, Err(refused));
        assert_eq!(commands.nothing("a").await, Ok(()));
    }

    #[tokio::test]
    async fn a_program_that_is_not_there_is_told_from_a_machine_that_has_nothing_left() {
        let refused = commands(&["/no/such"]).as_account("a", &[], Vec::new()).await.unwrap_err();
        assert!(matches!(&refused, Trouble::Refused(said) if said.contains("/no/such")), "{refused:?}");
        // EAGAIN, ENOMEM, EMFILE.
        for code in [11, 12, 24] {
            let trouble = not_started("sbatch", &io::Error::from_raw_os_error(code));
            assert!(matches!(trouble, Trouble::Away(_)), "{trouble:?}");
        }
        let forbidden = not_started("sbatch", &io::Error::from_raw_os_error(13));
        assert!(matches!(forbidden, Trouble::Refused(_)), "{forbidden:?}");
    }

    #[tokio::test]
    async fn accounting_that_has_nothing_to_do_has_done_it_whatever_it_warns_of() {
        let folder = tempfile::tempdir().unwrap();
        let calls = |said: &str| {
            let text = format!("#!/bin/sh\necho \"$0: {said}\" >&2; echo ' Nothing new added.'; exit 1\n");
            crate::executor::tests::program(folder.path(), "sacctmgr", &text);
            let path = format!("{}:/usr/bin:/bin", folder.path().display());
            Commands::new(SlurmCalls {
                become_account: Vec::new(),
                conf: None,
                path,
                slurmrestd: None,
                every: 1,
            })
        };
        assert_eq!(calls("warning: something old").sacctmgr(&["add"]).await, Ok(String::new()));
        let refused = calls("This account 'a' doesn't exist.").sacctmgr(&["add"]).await.unwrap_err();
        assert!(matches!(&refused, Trouble::Refused(said) if said.contains("'a'")), "{refused:?}");
    }

    #[test]
    fn an_absent_controller_is_told_from_a_refusal() {
        let away = "sbatch: error: Batch job submission failed: Unable to contact slurm controller (connect failure)";
        assert!(matches!(trouble("sbatch", away), Trouble::Away(said) if said.contains("connect failure")));
        // The message when munge hangs.
        let hangs = "squeue: error: slurm_msg_sendto: address:port=127.0.0.1:6817 msg_type=2003: Unexpected missing socket error";
        assert!(matches!(trouble("squeue", hangs), Trouble::Away(_)));
        let account = "sbatch: error: Batch job submission failed: Invalid account or account/partition combination specified";
        assert!(matches!(trouble("sbatch", account), Trouble::Refused(_)));
        let full = "sbatch: error: AssocMaxSubmitJobLimit\nsbatch: error: Batch job submission failed: Job violates accounting/QOS policy";
        assert!(matches!(trouble("sbatch", full), Trouble::Away(_)), "others end, and there is room again");
    }
}
