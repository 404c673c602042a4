//! Blocks connections between workers of different projects, on the loopback interface and on the machine's
//! own addresses.
//!
//! Two BPF programs are attached to the group that contains all workers. One marks each packet that leaves a
//! worker through the loopback interface with the sender's uid, after routing and netfilter. The other drops
//! a packet with a mark whose uid is not the receiving socket's. Everything else passes: other machines,
//! listeners on this machine that are no workers, the server's own connections to workers.
//! docs/decisions/0041-connections-between-local-workers.md; bpf(2), include/uapi/linux/bpf.h of Linux.

#![allow(
    unsafe_code,
    reason = "no maintained crate loads programs without an object file: bpf(2) is called directly"
)]

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;

use cubeloom_files::own;

use super::Hierarchy;

/// The lower half of a mark; the upper half is the uid's. Kubernetes' own marks use bits 14 and 15.
const TAG: i32 = 0x0c1b;
/// Interface index of loopback.
const LOOPBACK: i32 = 1;
/// The kernel's uid of a socket without an owner (`fs.overflowuid`).
const OVERFLOW_UID: i32 = 65534;

// bpf(2): commands, a program type, the flag that permits programs in child groups, and a helper function.
const LOAD: libc::c_int = 5;
const ATTACH: libc::c_int = 8;
const CGROUP_SKB: u32 = 8;
const ALLOW_OVERRIDE: u32 = 1;
const GET_SOCKET_UID: i32 = 47;

// Fields of `struct __sk_buff`.
const MARK: i16 = 8;
const IFINDEX: i16 = 40;

/// The direction of packets that a program sees; the values are the kernel's.
#[derive(Clone, Copy)]
enum Way {
    In = 0,
    Out = 1,
}

const WAYS: [Way; 2] = [Way::In, Way::Out];

/// `struct bpf_insn`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Instruction {
    code: u8,
    registers: u8,
    offset: i16,
    immediate: i32,
}

/// The members of `union bpf_attr` for loading.
#[repr(C)]
struct Loading {
    kind: u32,
    count: u32,
    instructions: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
    name: [u8; 16],
    interface: u32,
    way: u32,
}

/// The members for attaching.
#[repr(C)]
struct Attaching {
    group: u32,
    program: u32,
    way: u32,
    flags: u32,
}

/// Checks whether the kernel accepts the programs, and there is a group for them.
///
/// # Errors
/// A sentence why not.
pub(crate) fn try_it(hierarchy: &Hierarchy) -> Result<(), String> {
    hierarchy.sockets().ok_or("control groups version 2, which network isolation needs, are not mounted")?;
    WAYS.into_iter()
        .try_for_each(|way| load(way).map(drop))
        .map_err(|error| format!("the kernel refuses the programs for network isolation: {error}"))
}

/// Isolates the connections of workers in the hierarchy's groups from now on. Replaces the identical programs
/// of an earlier or another server.
pub(crate) fn keep_apart(hierarchy: &Hierarchy) -> io::Result<()> {
    let Some(folder) = hierarchy.sockets() else { return Ok(()) };
    WAYS.into_iter().try_for_each(|way| attach(folder, way))
}

fn attach(folder: &Path, way: Way) -> io::Result<()> {
    let (group, program) = (own::open(folder)?, load(way)?);
    let (group, program) = (group.as_raw_fd().cast_unsigned(), program.as_raw_fd().cast_unsigned());
    bpf(ATTACH, &Attaching { group, program, way: way as u32, flags: ALLOW_OVERRIDE }).map(drop)
}

fn load(way: Way) -> io::Result<OwnedFd> {
    let program = program(way);
    let mut name = [0; 16];
    name[..8].copy_from_slice(b"cubeloom");
    let descriptor = bpf(
        LOAD,
        &Loading {
            kind: CGROUP_SKB,
            count: u32::try_from(program.len()).map_err(io::Error::other)?,
            instructions: program.as_ptr() as u64,
            license: c"Apache-2.0".as_ptr() as u64,
            log_level: 0,
            log_size: 0,
            log: 0,
            kernel_version: 0,
            flags: 0,
            name,
            interface: 0,
            way: way as u32,
        },
    )?;
    // SAFETY: the kernel has just created it for this call alone.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

fn bpf<T>(command: libc::c_int, attributes: &T) -> io::Result<libc::c_int> {
    // SAFETY: `attributes` has the stated size, without padding, and the data that it points to outlives the
    // call.
    let done =
        unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_ref(attributes), size_of::<T>()) };
    match libc::c_int::try_from(done) {
        Ok(done) if done >= 0 => Ok(done),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The program for a direction. Register 1 has the packet at the start, and 6 to 9 survive calls. Register 0
/// is the result: 1 accepts the packet, as the last two instructions do. Forward jumps end there.
fn program(way: Way) -> Vec<Instruction> {
    let mut code = vec![copy(6, 1)];
    match way {
        // Not through loopback, or from a socket of root or without an owner: no mark.
        Way::Out => code.extend([
            read(0, 6, IFINDEX),
            unless_equal(0, LOOPBACK, 6),
            call(GET_SOCKET_UID),
            if_equal(0, 0, 4),
            if_equal(0, OVERFLOW_UID, 3),
            shift_left(0, 16),
            or(0, TAG),
            write(6, MARK, 0),
        ]),
        // Accept a packet without a mark, to a socket of root or without an owner, or with the mark of the
        // receiver's own uid.
        Way::In => code.extend([
            read(7, 6, MARK),
            copy(8, 7),
            and(8, 0xffff),
            unless_equal(8, TAG, 8),
            call(GET_SOCKET_UID),
            if_equal(0, 0, 6),
            if_equal(0, OVERFLOW_UID, 5),
            shift_left(0, 16),
            or(0, TAG),
            if_same(0, 7, 2),
            set(0, 0),
            END,
        ]),
    }
    code.extend([set(0, 1), END]);
    code
}

const END: Instruction = Instruction { code: 0x95, registers: 0, offset: 0, immediate: 0 };

fn instruction(code: u8, to: u8, from: u8, offset: i16, immediate: i32) -> Instruction {
    Instruction { code, registers: to | (from << 4), offset, immediate }
}

fn copy(to: u8, from: u8) -> Instruction {
    instruction(0xbf, to, from, 0, 0)
}

fn set(to: u8, value: i32) -> Instruction {
    instruction(0xb7, to, 0, 0, value)
}

/// 32 bits, like the following ones: bits shifted out are lost.
fn shift_left(to: u8, bits: i32) -> Instruction {
    instruction(0x64, to, 0, 0, bits)
}

fn or(to: u8, bits: i32) -> Instruction {
    instruction(0x44, to, 0, 0, bits)
}

fn and(to: u8, bits: i32) -> Instruction {
    instruction(0x54, to, 0, 0, bits)
}

fn read(to: u8, from: u8, field: i16) -> Instruction {
    instruction(0x61, to, from, field, 0)
}

fn write(to: u8, field: i16, from: u8) -> Instruction {
    instruction(0x63, to, from, field, 0)
}

fn call(function: i32) -> Instruction {
    instruction(0x85, 0, 0, 0, function)
}

/// Skips `forward` instructions.
fn if_equal(register: u8, value: i32, forward: i16) -> Instruction {
    instruction(0x15, register, 0, forward, value)
}

fn unless_equal(register: u8, value: i32, forward: i16) -> Instruction {
    instruction(0x55, register, 0, forward, value)
}

fn if_same(register: u8, other: u8, forward: i16) -> Instruction {
    instruction(0x1d, register, other, forward, 0)
}
