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

/// Returns to the kernel what only the start needed: free memory of the allocator (the tree of the OpenAPI document alone takes
/// 16 MB), and the pages of the program that have been read so far. They stay in the page cache, and what is used again is
/// mapped again.
pub fn release() {
    #[cfg(target_env = "gnu")]
    // SAFETY: `malloc_trim` takes the allocator's own locks and touches no memory that is in use. `dl_iterate_phdr` calls
    // `unmap_program` before it returns.
    unsafe {
        libc::malloc_trim(0);
        libc::dl_iterate_phdr(Some(unmap_program), std::ptr::null_mut());
    }
}

/// Drops the mapped pages of the program's segments that cannot be written to: they are what the file holds. Relocations lie in
/// a segment that was writable. The linker's list begins with the program; 1 ends it.
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
    // SAFETY: it only asks for a number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64;
    for header in
        headers.iter().filter(|header| header.p_type == libc::PT_LOAD && header.p_flags & libc::PF_W == 0)
    {
        // Whole pages inside the segment: its edges may be mapped by its neighbours.
        let begin = (object.dlpi_addr + header.p_vaddr).next_multiple_of(page);
        let end = (object.dlpi_addr + header.p_vaddr + header.p_memsz) / page * page;
        if begin < end {
            // SAFETY: the range is a private mapping of the program's file without changes of its own, so the next access
            // reads the same bytes.
            unsafe { libc::madvise(begin as *mut libc::c_void, (end - begin) as usize, libc::MADV_DONTNEED) };
        }
    }
    1
}
