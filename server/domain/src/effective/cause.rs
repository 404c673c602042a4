//! The cause of an attempt's failure, classified by the failure's kind and, if that is not enough, by its
//! last log lines.

use serde::{Deserialize, Serialize};

use crate::outcome::{Failure, FailureKind};

/// Cause of lost time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Its own program.
    Program,
    /// It ran out of memory, on the node or on a GPU.
    OutOfMemory,
    /// A GPU was lost or is broken.
    Gpu,
    /// The network between its workers, or to other hosts.
    Network,
    /// Storage is full, unreachable or broken.
    Storage,
    /// It was preempted.
    Preempted,
    /// Its node or its workers were lost.
    NodeLost,
    Hang,
}

impl Cause {
    /// The public name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Program => "program",
            Self::OutOfMemory => "out_of_memory",
            Self::Gpu => "gpu",
            Self::Network => "network",
            Self::Storage => "storage",
            Self::Preempted => "preempted",
            Self::NodeLost => "node_lost",
            Self::Hang => "hang",
        }
    }

    /// The cause of a failure.
    #[must_use]
    pub fn of(failure: &Failure) -> Self {
        match failure.kind {
            FailureKind::OutOfMemory => Self::OutOfMemory,
            FailureKind::Preempted => Self::Preempted,
            FailureKind::Lost | FailureKind::Preflight => Self::NodeLost,
            FailureKind::Hung => Self::Hang,
            FailureKind::Exit | FailureKind::Signal | FailureKind::SetupFailed | FailureKind::Timeout => {
                said(&failure.last_lines).unwrap_or(Self::Program)
            }
            FailureKind::CouldNotStart
            | FailureKind::DiskLimit
            | FailureKind::MissingOutput
            | FailureKind::Expression
            | FailureKind::Rejected
            | FailureKind::Run => Self::Program,
        }
    }
}

/// Log messages of libraries about causes outside the program. The first cause with a match in the last lines
/// counts: a lost GPU causes NCCL errors, and never the other way round.
///
/// Sources: the descriptions of `cudaError_t` and of XID 79 (NVIDIA), `torch.OutOfMemoryError`, the
/// allocators of TensorFlow and XLA, `ncclResult_t` and the watchdog of PyTorch's `ProcessGroupNCCL`, gloo's
/// transport, and `strerror` of glibc. `ncclInvalidArgument`, `ncclInvalidUsage` and illegal accesses are
/// program errors, and are not listed.
const SIGNS: [(Cause, &[&str]); 4] = [
    (
        Cause::Gpu,
        &[
            "uncorrectable ECC error encountered",
            "uncorrectable NVLink error detected",
            "no CUDA-capable device is detected",
            "CUDA-capable device(s) is/are busy or unavailable",
            "GPU has fallen off the bus",
            "GPU is lost",
            "GPU access blocked by the operating system",
        ],
    ),
    (
        Cause::OutOfMemory,
        &[
            "CUDA out of memory",
            "CUDA error: out of memory",
            "CUDA_ERROR_OUT_OF_MEMORY",
            "OOM when allocating tensor",
            "RESOURCE_EXHAUSTED: Out of memory",
            "std::bad_alloc",
            "MemoryError",
            "Cannot allocate memory",
        ],
    ),
    (
        Cause::Storage,
        &[
            "No space left on device",
            "Input/output error",
            "Remote I/O error",
            "Stale file handle",
            "Read-only file system",
            "Disk quota exceeded",
            "Transport endpoint is not connected",
        ],
    ),
    (
        Cause::Network,
        &[
            "ncclSystemError",
            "ncclRemoteError",
            "ncclInProgress",
            "Watchdog caught collective operation timeout",
            "Connection reset by peer",
            "Connection closed by peer",
            "Connection refused",
            "Connection timed out",
            "No route to host",
            "Network is unreachable",
            "Name or service not known",
            "Temporary failure in name resolution",
        ],
    ),
];

/// The cause in a program's last lines.
fn said(lines: &[String]) -> Option<Cause> {
    let says = |words: &[&str]| lines.iter().any(|line| words.iter().any(|word| line.contains(word)));
    SIGNS.iter().find(|(_, words)| says(words)).map(|(cause, _)| *cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages as the libraries print them.
    const MESSAGES: [(&str, Cause); 16] = [
        (
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.10 GiB of which 1.12 GiB is free.",
            Cause::OutOfMemory,
        ),
        (
            "tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor with shape[256,4096] and type float on /job:localhost/replica:0/task:0/device:GPU:0",
            Cause::OutOfMemory,
        ),
        ("terminate called after throwing an instance of 'std::bad_alloc'", Cause::OutOfMemory),
        ("OSError: [Errno 12] Cannot allocate memory", Cause::OutOfMemory),
        ("RuntimeError: CUDA error: uncorrectable ECC error encountered", Cause::Gpu),
        ("RuntimeError: CUDA error: uncorrectable NVLink error detected during the execution", Cause::Gpu),
        (
            "Unable to determine the device handle for GPU 0000:3B:00.0: GPU is lost.  Reboot the system to recover this GPU",
            Cause::Gpu,
        ),
        ("RuntimeError: No CUDA GPUs are available, no CUDA-capable device is detected", Cause::Gpu),
        (
            "ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error.",
            Cause::Network,
        ),
        (
            "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.",
            Cause::Network,
        ),
        (
            "[rank1]:[E ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=12, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600009 milliseconds before timing out.",
            Cause::Network,
        ),
        (
            "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.0.0.7]:34512",
            Cause::Network,
        ),
        ("ConnectionResetError: [Errno 104] Connection reset by peer", Cause::Network),
        ("OSError: [Errno 28] No space left on device: '/workspace/checkpoints/7.pt'", Cause::Storage),
        ("OSError: [Errno 116] Stale file handle", Cause::Storage),
        ("RuntimeError: CUDA error: an illegal memory access was encountered", Cause::Program),
    ];

    fn failed(kind: FailureKind, lines: &[&str]) -> Failure {
        let last_lines = lines.iter().map(|line| (*line).to_owned()).collect();
        Failure { last_lines, ..Failure::new(kind, "worker-1 ended with exit code 1") }
    }

    #[test]
    fn messages_of_libraries_name_the_cause() {
        for (line, cause) in MESSAGES {
            let lines = ["Traceback (most recent call last):", line];
            assert_eq!(Cause::of(&failed(FailureKind::Exit, &lines)), cause, "{line}");
        }
    }

    #[test]
    fn a_mistake_in_the_use_of_nccl_is_the_programs() {
        let line = "ncclInvalidUsage: This usually reflects invalid usage of NCCL library.";
        assert_eq!(Cause::of(&failed(FailureKind::Exit, &[line])), Cause::Program);
    }

    #[test]
    fn a_lost_card_explains_the_network_that_fails_after_it() {
        let lines = [MESSAGES[9].0, MESSAGES[4].0];
        assert_eq!(Cause::of(&failed(FailureKind::Signal, &lines)), Cause::Gpu);
    }

    #[test]
    fn what_the_cluster_knows_is_not_guessed_from_lines() {
        let lines = [MESSAGES[8].0];
        let of = |kind| Cause::of(&failed(kind, &lines));
        assert_eq!(of(FailureKind::OutOfMemory), Cause::OutOfMemory);
        assert_eq!(of(FailureKind::Preempted), Cause::Preempted);
        assert_eq!(of(FailureKind::Lost), Cause::NodeLost);
    }
}
