//! The allocator, and how much unused memory it keeps.
//!
//! jemalloc takes half the CPU time of glibc's allocator in a run of 100,000 tasks, and less memory
//! (docs/BENCHMARKS.md). A task's records are allocated by one thread and freed by another. It replaces
//! `malloc` in the C libraries, too.

#![allow(unsafe_code, reason = "allocators are set up by symbols and C functions")]

#[cfg(target_env = "gnu")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// All threads share one arena: each reuses memory freed by others. Memory free for a second returns to the
/// kernel. jemalloc(3), "TUNING".
// SAFETY: jemalloc reads a pointer to a C string at this symbol; a slice begins with its pointer.
#[cfg(target_env = "gnu")]
#[unsafe(export_name = "malloc_conf")]
pub static SETTINGS: &[u8] = b"narenas:1,dirty_decay_ms:1000,muzzy_decay_ms:0\0";

/// Returns memory to the kernel that only the start needed: free memory of the allocator, and the pages of
/// the program read so far. The tree of the OpenAPI document alone takes 16 MB. The pages stay in the page
/// cache, and are mapped again on access.
pub fn release() {
    #[cfg(target_env = "gnu")]
    // SAFETY: the name is a C string, 4096 means all arenas, and no value is read or written.
    // `dl_iterate_phdr` calls `unmap_program` before it returns.
    unsafe {
        let nothing = std::ptr::null_mut();
        tikv_jemalloc_sys::mallctl(c"arena.4096.purge".as_ptr(), nothing, nothing.cast(), nothing, 0);
        libc::dl_iterate_phdr(Some(unmap_program), std::ptr::null_mut());
    }
}

/// Drops the mapped pages of the program's read-only segments, which equal the file's content. Relocations
/// are in a segment that was writable. The linker's list begins with the program; 1 ends the iteration.
#[cfg(target_env = "gnu")]
unsafe extern "C" fn unmap_program(
    object: *mut libc::dl_phdr_info,
    _: usize,
    _: *mut libc::c_void,
) -> libc::c_int {
    // SAFETY: glibc passes a valid object, whose headers live as long as it is loaded.
    let (object, headers) = unsafe {
        let object = &*object;
        (object, std::slice::from_raw_parts(object.dlpi_phdr, usize::from(object.dlpi_phnum)))
    };
    // SAFETY: it only reads a number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64;
    for header in
        headers.iter().filter(|header| header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W == 0)
    {
        // Whole pages inside the segment: neighbours may share its edges.
        let begin = (object.dlpi_addr + header.p_vaddr).next_multiple_of(page);
        let end = (object.dlpi_addr + header.p_vaddr + header.p_memsz) / page * page;
        if begin < end {
            // SAFETY: the range is a private, unmodified mapping of the program's file, so the next access
            // reads the same bytes.
            unsafe { libc::madvise(begin as *mut libc::c_void, (end - begin) as usize, libc::MADV_DONTNEED) };
        }
    }
    1
}
