//! Waiting for file descriptors.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Registers a descriptor with the runtime, to wait until it is readable.
///
/// # Errors
/// The kernel cannot watch it, or watches too many.
pub(crate) fn readable(descriptor: &Arc<OwnedFd>) -> io::Result<AsyncFd<Arc<OwnedFd>>> {
    registered(descriptor, Interest::READABLE)
}

/// # Errors
/// The kernel cannot watch it, or watches too many.
pub(crate) fn registered(descriptor: &Arc<OwnedFd>, interest: Interest) -> io::Result<AsyncFd<Arc<OwnedFd>>> {
    // SAFETY: the shared descriptor is neither closed nor replaced while the registration holds it.
    #[allow(unsafe_code)]
    let registered = unsafe { AsyncFd::register_with_interest(Arc::clone(descriptor), interest) };
    registered.map_err(Into::into)
}
