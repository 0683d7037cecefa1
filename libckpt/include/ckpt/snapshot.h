/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * snapshot.h - how a stopped process describes itself.
 *
 * A stopped rank fills one struct ckpt_snapshot in its own memory and gives the address to the
 * node agent. The agent copies the structure, and the memory that it describes, into the image.
 * The restart program reads the same structures back from the image. Layout rules: fixed
 * widths, no padding, asserted sizes. A change of layout needs a new CKPT_SNAPSHOT_VERSION
 * (docs/format.md).
 */
#ifndef CKPT_SNAPSHOT_H
#define CKPT_SNAPSHOT_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#define CKPT_SNAPSHOT_MAGIC   0x31504b43u /* "CKP1", little endian */
#define CKPT_SNAPSHOT_VERSION 4u
/* This version has the same layout; its code does not know lazy restarts (docs/lazy.md). */
#define CKPT_SNAPSHOT_OLDEST 3u

/* Index into the snapshot's string table; 0 is the empty string. */
typedef uint32_t ckpt_string_t;

struct ckpt_range {
    uint64_t start; /* first byte */
    uint64_t end;   /* one past the last byte */
};

/* The kind of a memory region, which decides how a restart restores it. */
enum ckpt_region_kind {
    CKPT_REGION_ANONYMOUS = 1, /* private memory, content in the image */
    CKPT_REGION_STACK = 2,     /* as ANONYMOUS; grows downwards */
    CKPT_REGION_HEAP = 3,      /* as ANONYMOUS; ends at the program break */
    /* private file mapping: by reference; as content if a page was written or the file no longer
     * exists (device 0) */
    CKPT_REGION_FILE = 4,
    CKPT_REGION_FILE_SHARED = 5,      /* read-only shared file mapping: by reference */
    CKPT_REGION_SHARED = 6,           /* shared mapping; of a file if inode != 0: content */
    CKPT_REGION_VDSO = 7,             /* the vDSO this process was started with */
    CKPT_REGION_SHARED_ELSEWHERE = 8, /* as SHARED, of a file: another rank of the node has the
                                         content */
    CKPT_REGION_FILE_CONTENT = 9,     /* content of an open file, or a hole in it (protection 0):
                                         the payload of the file, not memory of the program */
};

/* In the mode of a FILE region of device 0: no process can change the file. It never had a name,
 * and no process has it open. */
#define CKPT_REGION_UNCHANGEABLE 1u

/* In the inode of a shared region: System V memory; the lower bits are its id. */
#define CKPT_REGION_SYSTEM_V ((uint64_t)1 << 32)

struct ckpt_region {
    uint64_t start;
    uint64_t end;
    uint64_t file_offset; /* bytes; file kinds only */
    uint64_t device;      /* st_dev; SHARED: size in bytes of a file that has a name */
    uint64_t inode;
    uint32_t protection; /* PROT_READ | PROT_WRITE | PROT_EXEC */
    uint32_t kind;       /* enum ckpt_region_kind */
    ckpt_string_t path;  /* file kinds: absolute path; else name or 0 */
    uint16_t mode;       /* SHARED: permissions of a file that has a name, or of
                            System V memory (with SHM_DEST); FILE: CKPT_REGION_UNCHANGEABLE, or 0 */
    uint16_t sharers;    /* number of ranks of the node that have the file, if it is shared
                            memory of several ranks; the agent fills this in */
};

/* A thread other than the leader. Its registers, mask and alternate stack are in the signal
 * frame at `context`, in saved memory; rt_sigreturn restores them. */
struct ckpt_thread {
    uint64_t context; /* address of its ucontext_t on its own or its alternate stack */
    uint64_t thread_pointer;
    uint64_t clear_child_tid; /* address that the kernel clears at thread exit */
    uint64_t robust_list;
    uint64_t robust_list_size;
    uint64_t rseq; /* address, or 0 if none was registered */
    uint32_t rseq_size;
    uint32_t rseq_signature;
    int32_t tid; /* thread id at the checkpoint; information only */
    uint32_t reserved;
    char name[16];
};

enum ckpt_file_kind {
    CKPT_FILE_STREAM = 1,  /* standard stream: taken from the new launcher */
    CKPT_FILE_REGULAR = 2, /* path, offset, flags */
    CKPT_FILE_PIPE = 3,    /* also with a name; buffered bytes are saved */
    CKPT_FILE_EVENTFD = 4,
    CKPT_FILE_DEVICE = 5, /* a node under /dev */
    CKPT_FILE_DIRECTORY = 6,
    CKPT_FILE_UNNAMED = 7,  /* a deleted file: content saved */
    CKPT_FILE_MEMFD = 8,    /* content saved */
    CKPT_FILE_EPOLL = 9,    /* payload: struct ckpt_epoll_watch[] */
    CKPT_FILE_SOCKET = 10,  /* payload: struct ckpt_socket, its options,
                               its packets */
    CKPT_FILE_INOTIFY = 11, /* payload: struct ckpt_inotify_watch, paths */
    CKPT_FILE_SIGNALFD = 12,
    CKPT_FILE_TIMERFD = 13, /* payload: struct ckpt_timerfd */
    CKPT_FILE_PROCESS = 14, /* a file below /proc/self, or a namespace */
};

/* A descriptor that an epoll descriptor watches. */
struct ckpt_epoll_watch {
    uint64_t data;   /* the program's epoll_data */
    uint32_t events; /* EPOLL* flags */
    int32_t descriptor;
};

/* A watch of an inotify descriptor. The path follows, then one to eight NULs up to a multiple
 * of 8 bytes. */
struct ckpt_inotify_watch {
    int32_t watch; /* watch descriptor */
    uint32_t mask; /* IN_* */
    uint32_t size; /* bytes of this structure and the path */
    uint32_t reserved;
};

/* A timerfd. `seconds` and `nanoseconds` are the time to its next expiration: relative, or with
 * TFD_TIMER_ABSTIME absolute; 0: disarmed. */
struct ckpt_timerfd {
    uint64_t ticks; /* expirations not yet read */
    uint64_t seconds, nanoseconds;
    uint64_t interval_seconds, interval_nanoseconds;
};

/* One open file descriptor of the application. */
struct ckpt_file {
    uint64_t offset;       /* bytes: position of the open file */
    uint64_t size;         /* bytes: size of a regular file at the checkpoint; socket or pipe
                              between ranks: size of its payload, if this rank restores it; the
                              agent fills this in */
    uint64_t device;       /* st_dev, st_ino: identity at the checkpoint */
    uint64_t inode;        /* eventfd: eventfd-id, 0 if unknown */
    uint64_t value;        /* eventfd: counter; pipe: CKPT_PIPE_*; inotify: last watch
                              descriptor assigned; signalfd: bit (signal - 1) for each;
                              timerfd: CLOCK_*; socket: inode of the other end, or 0; stream:
                              CKPT_INPUT_* (input.h), or 0; file of a process:
                              CKPT_PROCESS_FILE_*; regular: CKPT_REGULAR_* */
    uint64_t payload;      /* address of the saved bytes in the process, or 0 */
    uint64_t payload_size; /* bytes */
    int32_t descriptor;
    uint32_t kind;             /* enum ckpt_file_kind */
    uint32_t descriptor_flags; /* FD_CLOEXEC */
    uint32_t status_flags;     /* O_* as F_GETFL returns them */
    int32_t same_as;           /* lower-numbered descriptor that shares the open
                                  file description, or -1 */
    uint32_t detail;           /* depends on the kind: eventfd EFD_SEMAPHORE; stream 0, 1, 2;
                                  unnamed: mode; memfd: seals; timerfd: TFD_*; socket: SOCK_* */
    ckpt_string_t path;
    uint32_t sharers; /* as in struct ckpt_region; socket, pipe: number of ranks with an end */
};

/* Flags of a process file: it belongs to a process that has ended; it is a directory; or the
 * thread or descriptor that it describes exists only later in a restart. */
#define CKPT_PROCESS_FILE_GONE      ((uint64_t)1)
#define CKPT_PROCESS_FILE_DIRECTORY ((uint64_t)2)
#define CKPT_PROCESS_FILE_LATE      ((uint64_t)4)

/* The permissions of a regular file, and its owner's user id. */
#define CKPT_REGULAR_MODE        ((uint64_t)07777)
#define CKPT_REGULAR_HAS_MODE    ((uint64_t)1 << 31)
#define CKPT_REGULAR_OWNER_SHIFT 32

/* The permissions of a named pipe; and a flag: no process has its other end. */
#define CKPT_PIPE_MODE  ((uint64_t)07777)
#define CKPT_PIPE_ALONE ((uint64_t)1 << 32)

enum ckpt_socket_state {
    CKPT_SOCKET_UNCONNECTED = 0, /* possibly bound */
    CKPT_SOCKET_LISTENING = 1,
    CKPT_SOCKET_CONNECTED = 2,
};

/* A socket. struct ckpt_socket_option[option_count] follow, then the received packets, each
 * padded to a multiple of 8 bytes. */
struct ckpt_socket {
    uint64_t peer;  /* inode of the other end; 0: the peer has closed */
    int32_t domain; /* AF_* */
    int32_t type;   /* SOCK_* */
    int32_t protocol;
    uint32_t state;    /* enum ckpt_socket_state */
    uint32_t shutdown; /* bit 0: shut down for reading; bit 1: for writing */
    int32_t backlog;
    uint32_t option_count;
    uint32_t packet_count;
    uint32_t local_size; /* bytes of the local address; remote_size: of the remote one */
    uint32_t remote_size;
    uint8_t local[128];
    uint8_t remote[128];
};

struct ckpt_socket_option {
    int32_t level;
    int32_t name;
    uint32_t size; /* bytes of value */
    uint32_t reserved;
    uint8_t value[16];
};

/* A received packet, or all received bytes of a stream. The bytes follow. */
struct ckpt_socket_packet {
    uint32_t size;        /* bytes */
    uint32_t source_size; /* bytes of the sender's address; 0: unknown */
    uint8_t source[128];
};

/* Memory layout of the process, in the form of prctl(PR_SET_MM_MAP). */
struct ckpt_process_layout {
    uint64_t start_code, end_code, start_data, end_data;
    uint64_t start_brk, brk, start_stack;
    uint64_t arg_start, arg_end, env_start, env_end;
    uint64_t auxv;                 /* address of a copy of /proc/self/auxv in saved memory */
    uint64_t auxv_size;            /* bytes */
    uint64_t vdso_start, vdso_end; /* the vDSO that the saved code points into */
};

#define CKPT_CPU_FEATURE_WORDS 8

/* The XSAVE area, by component of XCR0 from 2 on (CPUID leaf 0xD). Size 0: not enabled. Bit i
 * stands for component i. */
#define CKPT_XSAVE_COMPONENTS 32
struct ckpt_xsave {
    /* components that a process may use only with a permission */
    uint32_t dynamic;
    uint32_t permitted;                     /* components for which this process has one */
    uint32_t offset[CKPT_XSAVE_COMPONENTS]; /* bytes, from the start of the area */
    uint32_t size[CKPT_XSAVE_COMPONENTS];   /* bytes */
};

struct ckpt_snapshot {
    uint32_t magic;
    uint32_t version;
    /* Where the saved code continues: the restorer sets the thread pointer and the stack and
     * calls resume(struct ckpt_resume_info *). */
    uint64_t resume_entry;
    uint64_t resume_stack; /* top, 16-byte aligned */
    uint64_t resume_thread_pointer;
    struct ckpt_process_layout layout;
    uint64_t regions; /* address of struct ckpt_region[region_count] */
    uint64_t threads; /* address of struct ckpt_thread[thread_count] */
    uint64_t files;   /* address of struct ckpt_file[file_count] */
    uint64_t strings; /* address of strings_size bytes, NUL-terminated each */
    uint64_t strings_size;
    uint64_t summary; /* address of a NUL-terminated JSON text about the MPI
                         objects and the message log, for `ckpt inspect` */
    uint64_t summary_size;
    uint32_t region_count;
    uint32_t thread_count;
    uint32_t file_count;
    int32_t pid;
    int32_t rank; /* -1: not an MPI process */
    int32_t rank_count;
    uint32_t umask;
    ckpt_string_t working_directory;
    ckpt_string_t executable;
    ckpt_string_t excluded; /* private memory that is not saved and is zero after a restart:
                               hexadecimal `start-end`, whole pages, by rising address,
                               separated by spaces */
    /* CPUID words 1.ecx 1.edx 7.ebx 7.ecx 7.edx 7.1.eax d.1.eax xcr0 */
    uint32_t cpu_features[CKPT_CPU_FEATURE_WORDS];
    struct ckpt_xsave xsave;
};

/* Argument of resume(), made by the restorer. It lies in memory that is never saved. */
struct ckpt_resume_info {
    uint64_t environment;      /* address of char *[], the new launcher's environment */
    uint64_t vdso;             /* address of this kernel's vDSO */
    uint64_t retained_start;   /* memory of the restorer that resume() may */
    uint64_t retained_end;     /*   unmap when it no longer needs this struct */
    uint64_t restart_started;  /* when the restart program began: CLOCK_REALTIME, ns */
    uint64_t message_log;      /* address of the image's message log, which resume() unmaps:
                                  struct ckpt_logged_message each, in wire.h; 0: none */
    uint64_t message_log_size; /* bytes */
    char checkpoint[256];      /* name of the checkpoint, for messages */
    /* Descriptors, or -1: memory/lazy_pages.h. */
    int32_t lazy_faults; /* userfaultfd of the pages that are not there yet */
    int32_t page_server; /* socket of the process that fills them */
};

static_assert(sizeof(struct ckpt_region) == 56, "layout of ckpt_region");
static_assert(sizeof(struct ckpt_thread) == 80, "layout of ckpt_thread");
static_assert(sizeof(struct ckpt_socket) == 304, "layout of ckpt_socket");
static_assert(sizeof(struct ckpt_socket_option) == 32, "layout");
static_assert(sizeof(struct ckpt_socket_packet) == 136, "layout");
static_assert(sizeof(struct ckpt_epoll_watch) == 16, "layout of the watch");
static_assert(sizeof(struct ckpt_inotify_watch) == 16, "layout of the watch");
static_assert(sizeof(struct ckpt_timerfd) == 40, "layout of the timer");
static_assert(sizeof(struct ckpt_file) == 88, "layout of ckpt_file");
static_assert(sizeof(struct ckpt_xsave) == 264, "layout of ckpt_xsave");
static_assert(sizeof(struct ckpt_process_layout) == 120, "layout");
static_assert(sizeof(struct ckpt_snapshot) == 544, "layout of ckpt_snapshot");
static_assert(offsetof(struct ckpt_region, protection) == 40 &&
                  offsetof(struct ckpt_region, mode) == 52,
              "layout of ckpt_region");
static_assert(offsetof(struct ckpt_thread, tid) == 56 && offsetof(struct ckpt_thread, name) == 64,
              "layout of ckpt_thread");
static_assert(offsetof(struct ckpt_file, payload) == 40 &&
                  offsetof(struct ckpt_file, descriptor) == 56 &&
                  offsetof(struct ckpt_file, sharers) == 84,
              "layout of ckpt_file");
static_assert(offsetof(struct ckpt_socket, local) == 48 &&
                  offsetof(struct ckpt_socket, remote) == 176,
              "layout of ckpt_socket");
static_assert(offsetof(struct ckpt_snapshot, layout) == 32 &&
                  offsetof(struct ckpt_snapshot, regions) == 152 &&
                  offsetof(struct ckpt_snapshot, region_count) == 208 &&
                  offsetof(struct ckpt_snapshot, cpu_features) == 248 &&
                  offsetof(struct ckpt_snapshot, xsave) == 280,
              "layout of ckpt_snapshot");
static_assert(sizeof(struct ckpt_resume_info) == 320, "layout of ckpt_resume_info");

#endif
