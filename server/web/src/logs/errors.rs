//! Which lines look like errors: a fixed rule, so that a search for the first error needs no expression.
//!
//! Some texts are always errors. Others are only probable: they also occur in lines of a lower level, in the
//! names of metrics, and in source code.

use regex::bytes::{Regex, RegexBuilder};

/// Texts that are written for errors only.
const CERTAIN: &[&str] = &[
    r"Traceback \(most recent call last\)",
    r"\bpanicked at\b",
    r"\bFatal Python error\b",
    r"(?i:\bcuda (?:runtime |driver )?(?:error|failure)\b)|\bcudaError[A-Z]",
    r"\bCU(?:BLAS|DNN|FFT|SOLVER|SPARSE)_STATUS_\w*(?:ALLOC|ERROR|FAIL|INVALID|MISMATCH|NOT)",
    r"(?i:\bnccl error\b)|\bnccl[A-Z]\w*Error\b",
    r"\bNCCL WARN\b.*(?i:abort|clos|error|fail|refused|tim(?:ed |e)out|unreachable)",
    r"\bWatchdog caught\b",
    r"\bOOM[ -]?[Kk]ill|\boom-kill",
    r"(?i:\bsegmentation fault\b|\bcore dumped\b|\bbus error\b|\billegal instruction\b)",
    r"\bterminate called\b",
    r"\bException in thread\b|(?i:\bunhandled exception\b)",
];

/// Texts that are errors, unless the line is [`HARMLESS`] or of a lower level.
const PROBABLE: &[&str] = &[
    // Levels, in words and of glog.
    r#"(?:^|[\s\[(<|"':])(?:CRITICAL|ERROR|FATAL|PANIC|SEVERE)(?:[\s\])>|"',:]|$)"#,
    r"[\[(<](?i:critical|err|error|fatal|panic)[\])>]",
    r#"(?i:(?:^|[\s{,"])(?:level|lvl|severity)"?\s*[=:]\s*"?(?:critical|error|fatal|panic)\b)"#,
    r"^[EF]\d{4} \d\d:\d\d:\d\d",
    // A message, which does not begin with a number as the value of a metric does.
    r"(?i:\berror(?:\[\w+\])?:)\s*(?:[^\s\d.+-]|$)",
    r"^(?i:fatal|panic): ",
    // Exceptions, with a message or alone.
    r"\b(?:[A-Z]\w*Error|[A-Z]?\w*Exception)(?::|\s*$)|\bKeyboardInterrupt\s*$",
    // Programs that cannot be started, and what ended them.
    r"(?i:\bcommand not found\b)|: not found$|\bcan't open file\b|\[Errno \d+\]",
    r"(?:^|:\s*\d+ )Killed\b",
    r"(?i:\bassertion\b.*\bfailed\b)|\bCheck failed: ",
    r"(?i:\bout of memory\b)",
];

/// Lines that have such a text and are no errors.
const HARMLESS: &[&str] = &[
    r"(?i:\b(?:0|no|without|ignor\w+) (?:errors?|exceptions?)\b)",
    r"(?i:\berror: ?(?:false|none|null|nil)\b)",
    // Options: `--log-level ERROR`.
    r#"(?i:[-_]level[ =:]+["']?(?:critical|error|fatal))"#,
    // Metrics: `MeanSquaredError: 0.12`.
    r"(?i:(?:absolute|mean|percentage|squared)[ _]?error\W*\d)",
    r"(?i:\b(?:test|train(?:ing)?|val(?:idation)?)[ _]error\W*\d)",
    // Source code.
    r"^\s*(?:class|except|from|import|raise)\b",
    // TensorFlow writes this at each start.
    r"Unable to register cu(?:BLAS|DNN|FFT) factory",
];

/// The first level that a line names.
const LEVEL: &str =
    r"\b(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|CRITICAL|ERROR|FATAL|PANIC|SEVERE)\b|^[IWEF]\d{4} \d\d:";
/// Where a level ends at the latest, in bytes: a word in a message is none.
const HEAD: usize = 80;

/// The rule.
pub(crate) struct Errors {
    certain: Regex,
    probable: Regex,
    harmless: Regex,
    level: Regex,
}

impl Errors {
    pub(super) fn new() -> Result<Self, regex::Error> {
        let any = |texts: &[&str]| built(&texts.join("|"));
        Ok(Self {
            certain: any(CERTAIN)?,
            probable: any(PROBABLE)?,
            harmless: any(HARMLESS)?,
            level: built(LEVEL)?,
        })
    }

    /// Whether a readable line looks like an error.
    pub(super) fn is_match(&self, line: &[u8]) -> bool {
        self.certain.is_match(line)
            || (self.probable.is_match(line) && !self.is_lower(line) && !self.harmless.is_match(line))
    }

    /// Whether a line is of a lower level.
    fn is_lower(&self, line: &[u8]) -> bool {
        let level = self.level.find(line).filter(|found| found.end() <= HEAD);
        level.is_some_and(|found| matches!(found.as_bytes(), [b'T' | b'D' | b'I' | b'N' | b'W', ..]))
    }
}

fn built(expression: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(expression).unicode(false).build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_look_like_errors() {
        let errors = Errors::new().unwrap();
        for line in [
            "Traceback (most recent call last):",
            "[rank0]: Traceback (most recent call last):",
            "ValueError: 3 is too few",
            "[rank3]: KeyError: 0",
            "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB",
            "AssertionError",
            "KeyboardInterrupt",
            "Caused by: java.lang.NullPointerException",
            "Exception in thread \"main\" java.lang.IllegalStateException: x",
            "RuntimeError: CUDA error: device-side assert triggered",
            "CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`",
            "gpu-1:12:34 [0] NCCL WARN Cuda failure 'out of memory'",
            "ncclSystemError: System call (e.g. socket, malloc) or external library call failed.",
            "[Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=7)",
            "thread 'main' panicked at src/main.rs:2:5:",
            "panic: runtime error: index out of range [3]",
            "fatal: not a git repository",
            "Error: no such file",
            "error[E0382]: borrow of moved value",
            "main.c:1:2: error: expected ';'",
            "srun: error: node-1: task 0: Exited with exit code 1",
            "2026-01-31 12:00:00,123 ERROR trainer: the loss is NaN",
            "2026-01-31 12:00:00 [ERROR] no INFO about the model",
            "ERROR:root:no data",
            "[error] worker left",
            "time=12:00 level=error msg=\"no route\"",
            "{\"ts\":1,\"level\":\"error\",\"msg\":\"x\"}",
            "E0131 12:00:00.000001 12 service.cc:66] Failed to start",
            "F0131 12:00:00.000001 12 main.cc:9] Check failed: n > 0",
            "sh: 1: trian: not found",
            "bash: line 1: trian: command not found",
            "python3: can't open file '/code/x.py': [Errno 2] No such file or directory",
            "/bin/sh: line 3:   123 Killed                  python train.py",
            "Segmentation fault (core dumped)",
            "slurmstepd: error: Detected 1 oom_kill event in StepId=3.0",
            "train: a.cpp:3: int main(): Assertion `x' failed.",
        ] {
            assert!(errors.is_match(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn lines_that_only_name_errors() {
        let errors = Errors::new().unwrap();
        for line in [
            "",
            "epoch 3: loss 0.5, error: 0.25",
            "validation error: -1.5e-3",
            "mean_squared_error: 0.12",
            "MeanSquaredError: 0.12",
            "Test Error 3.1 %",
            "done: 0 errors, 2 warnings",
            "finished without errors",
            "error: none",
            "NCCL_ASYNC_ERROR_HANDLING=1",
            "+ python train.py --log-level ERROR",
            "gpu-1:12:34 [0] NCCL INFO Connected all rings",
            "gpu-1:12:34 [0] NCCL WARN Missing \"iommu=pt\" from the kernel command line",
            "2026-01-31 12:00:00 INFO retry after ConnectionError: reset by peer",
            "WARNING:root:Error: the cache is cold",
            "level=info msg=\"no such error: x\" INFO",
            "I0131 12:00:00.000001 12 a.cc:1] error: none so far",
            "    raise ValueError(text)",
            "except ValueError:",
            "from torch import OutOfMemoryError",
            "E0000 00:00:17.1 12 cuda_dnn.cc:8310] Unable to register cuDNN factory",
            "test_error.py::test_one PASSED",
            "set raise_error=True",
        ] {
            assert!(!errors.is_match(line.as_bytes()), "{line}");
        }
    }
}
