//! How much memory the allocator keeps beyond what is in use.

#![allow(unsafe_code, reason = "glibc has no other way to set its allocator")]

/// Threads share two heaps instead of up to eight per core: what one of them frees, the others use.
pub fn share_heaps() {
    // SAFETY: no other thread exists yet, and both arguments are plain numbers.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 2);
    }
}

/// Returns free memory to the kernel. Start-up frees a lot: the tree of the OpenAPI document alone takes 16 MB.
pub fn release() {
    // SAFETY: it takes the allocator's own locks and touches no memory that is in use.
    #[cfg(target_env = "gnu")]
    unsafe {
        libc::malloc_trim(0);
    }
}
