/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * refusals.h - the one table of the reasons for which a checkpoint, a restart or another request
 * is refused or given up: number, identifier, name, meaning, and what the user can do. The plugin,
 * the agents, the commands and the manual page ckpt-errors(7) take them from here.
 *
 * Messages carry the number, also between a restarted program and a newer agent: a number is never
 * changed or used again. A new reason gets the next free number. docs/make-errors-page makes the
 * manual page again.
 */
#ifndef CKPT_REFUSALS_H
#define CKPT_REFUSALS_H

/* X(number, identifier, name, meaning, remedy) */

/* What a process is, has or does. */
#define CKPT_REFUSALS_OF_PROGRAMS(X)                                                              \
    X(3, LIVING_CHILD, "living-child",                                                            \
      "The program has started a process that still runs. It would be missing after a restart.",  \
      "Request the checkpoint when the process has ended and the program has waited for it.")     \
    X(4, ENDED_CHILD, "ended-child",                                                              \
      "A process that the program has started has ended, and the program has not waited for it.", \
      "The program must call waitpid, or ignore SIGCHLD.")                                        \
    X(5, UNSAVABLE_OBJECT, "unsavable-object",                                                    \
      "The program holds an MPI object that cannot be saved yet, such as the communicator of "    \
      "spawned processes.",                                                                       \
      "Request the checkpoint when the program has freed it. The message says which call of "     \
      "the program has made it.")                                                                 \
    X(6, THREAD_NOT_STOPPED, "thread-not-stopped",                                                \
      "A thread has not stopped for the checkpoint, because it waits in the kernel.",             \
      "Try again. The message names the thread. A file system that hangs can be the cause.")      \
    X(7, SIGNAL_BLOCKED, "signal-blocked",                                                        \
      "A thread blocks or handles the signal by which it is asked for a checkpoint.",             \
      "Name another signal that the program does not use, with CKPT_SIGNAL.")                     \
    X(8, PRIORITY_MUTEX, "priority-mutex",                                                        \
      "A thread waits for a mutex with priority inheritance.", "Try again.")                      \
    X(9, OTHER_CREDENTIALS, "other-credentials",                                                  \
      "A thread has other credentials than the others, or a filter of system calls (seccomp) "    \
      "has been set. A restart could not set it again.",                                          \
      "Set filters before the program begins, or not at all.")                                    \
    X(10, UNSAVABLE_REGISTERS, "unsavable-registers",                                             \
      "A thread has used registers of the CPU that cannot be saved.",                             \
      "Run the program without the feature that the message names.")                              \
    X(11, UNSAVABLE_TIMER, "unsavable-timer",                                                     \
      "A timer belongs to a thread that has ended, or measures another process.",                 \
      "The program must delete the timer first.")                                                 \
    X(12, UNSAVABLE_DESCRIPTOR, "unsavable-descriptor",                                           \
      "An open descriptor is of a kind, or in a state, that a restart could not make again, "     \
      "such as a file with a lease.",                                                             \
      "The program must close it before a checkpoint. The message has its number and path.")      \
    X(13, LARGE_FILE, "large-file",                                                               \
      "The content of an open file belongs into the checkpoint, and is larger than allowed.",     \
      "Start the job with a larger CKPT_FILE_LIMIT.")                                             \
    X(14, UNREADABLE_FILE, "unreadable-file",                                                     \
      "The content of an open file belongs into the checkpoint, and cannot be read.",             \
      "Give the user the right to read the file.")                                                \
    X(16, OUTSIDE_CONNECTION, "outside-connection",                                               \
      "A socket or pipe leads to a process that is not part of the job.",                         \
      "The program must close the connection before a checkpoint.")                               \
    X(17, SHARED_DESCRIPTOR, "shared-descriptor",                                                 \
      "Ranks share a descriptor or memory in a way that a restart could not make again.",         \
      "The ranks must close it. The message names them.")                                         \
    X(18, MISSING_KERNEL_FEATURE, "missing-kernel-feature",                                       \
      "The kernel does not tell what is needed to save a descriptor.",                            \
      "Use a newer kernel, or one with the option that the message implies.")                     \
    X(19, UNSAVABLE_MEMORY, "unsavable-memory",                                                   \
      "The program has memory of a kind that a restart could not make again, such as that of a "  \
      "device.",                                                                                  \
      "The program must unmap it before a checkpoint.")                                           \
    X(20, UNSAVABLE_SYSTEM_V, "unsavable-system-v",                                               \
      "A System V object cannot be saved: memory that is not attached, or a semaphore set with "  \
      "SEM_UNDO.",                                                                                \
      "Attach the memory, remove it, or do without SEM_UNDO.")                                    \
    X(21, MPI_FILE, "mpi-file",                                                                   \
      "An open MPI file is not a regular file, or its name now leads to another file.",           \
      "Do not replace files that the program has open.")                                          \
    X(22, NO_CHECKPOINT_REGION, "no-checkpoint-region",                                           \
      "The program has said that it must not be saved at present (ckpt(3)).",                     \
      "Wait: the request is kept until the program allows it, or CKPT_TIMEOUT is over.")          \
    X(23, AWAITS_SAFE_POINT, "awaits-safe-point",                                                 \
      "The program is to be saved at its safe points only, or has hooks that run there, and a "   \
      "rank has not come to one, or a hook does not want the checkpoint (ckpt(3)).",              \
      "Wait, or add safe points to the program.")                                                 \
    X(24, NEEDS_STOP, "needs-stop",                                                               \
      "A rank can be saved only while all ranks stand still.",                                    \
      "Nothing: the checkpoint is tried again with Sync-and-Stop.")                               \
    X(25, BEYOND_CUT, "beyond-cut",                                                               \
      "A rank has gone beyond the point at which it was to be saved.", "Try again.")              \
    X(26, OPEN_CUT, "open-cut",                                                                   \
      "An earlier checkpoint has lost its agent in the middle, and is not completed yet.",        \
      "Try again in a moment.")                                                                   \
    X(27, BEING_REPLAYED, "being-replayed",                                                       \
      "A rank that has died is being replayed.", "Try again in a moment.")                        \
    X(28, LIBRARY_BUSY, "library-busy",                                                           \
      "The MPI library is in the middle of a change of its memory.", "Try again.")                \
    X(29, MPI_ERROR, "mpi-error",                                                                 \
      "A call of the MPI library has failed.", "The message has its error; see its manual.")      \
    X(30, MESSAGE_COUNTS, "message-counts",                                                       \
      "A rank has received more messages than were counted as sent to it.",                       \
      "Try again. If it recurs, report it.")                                                      \
    X(31, DESCRIPTORS_CHANGE, "descriptors-change",                                               \
      "Files were opened or closed while they were listed.", "Try again.")                        \
    X(32, TOO_MANY_DESCRIPTORS, "too-many-descriptors",                                           \
      "The process has as many descriptors open as it may, and the checkpoint needs one.",        \
      "Raise the limit (ulimit -n).")                                                             \
    X(33, TOO_MANY_OBJECTS, "too-many-objects",                                                   \
      "There are more objects of a kind (memory regions, windows, pending signals) than can be "  \
      "saved.",                                                                                   \
      "Use fewer. The message names the kind.")                                                   \
    X(34, NO_MEMORY, "no-memory",                                                                 \
      "Memory for the work on the checkpoint was refused.", "Leave more memory free.")            \
    X(35, SYSTEM_ERROR, "system-error",                                                           \
      "A system call failed that should not fail. The message has the call's error.",             \
      "Act on that error.")

/* The state of the job. */
#define CKPT_REFUSALS_OF_JOBS(X)                                                           \
    X(40, JOB_STARTING, "job-starting",                                                    \
      "Some ranks have not called MPI_Init yet.", "Try again when they have.")             \
    X(41, JOB_ENDING, "job-ending",                                                        \
      "A rank has called MPI_Finalize, or the job has been told to end.",                  \
      "Nothing: it is too late for a checkpoint.")                                         \
    X(42, RANK_DIED, "rank-died", "A rank has died.",                                      \
      "Restart the job from its newest checkpoint.")                                       \
    X(43, AGENT_LOST, "agent-lost",                                                        \
      "The agent (ckptd) of a node, or the connection to it, was lost.",                   \
      "Try again: the ranks start another agent. Its log may tell why it ended.")          \
    X(44, NO_COORDINATOR, "no-coordinator",                                                \
      "The agent of rank 0's node, which takes requests, is not there or is another one.", \
      "Send the request on the node of rank 0, or try again.")                             \
    X(45, TIME_LIMIT, "time-limit",                                                        \
      "The checkpoint was not done within CKPT_TIMEOUT.",                                  \
      "The message says what it waited for. Raise CKPT_TIMEOUT if that is only slow.")     \
    X(46, WITHDRAWN, "withdrawn",                                                          \
      "Nobody waits for the checkpoint any more.", "Nothing.")                             \
    X(47, NOT_REPLAYABLE, "not-replayable",                                                \
      "A rank that has died cannot be replayed from its independent checkpoint.",          \
      "Nothing: the job is restarted from the newest checkpoint of all ranks.")            \
    X(48, MEMORY_GIVEN_BACK, "memory-given-back",                                          \
      "The program gave memory back while it was saved with the method cll.",              \
      "Nothing: the checkpoint is tried again with cow.")                                  \
    X(49, UNREADABLE_RANK, "unreadable-rank",                                              \
      "The agent cannot read the memory of a rank, or of its copy.",                       \
      "See the message. The rank or its copy may have been killed for want of memory.")

/* Directories and nodes. */
#define CKPT_REFUSALS_OF_STORES(X)                                                           \
    X(60, NO_SPACE, "no-space",                                                              \
      "The disk has no space for the checkpoint, or a quota is used up.",                    \
      "Free space, keep fewer checkpoints (CKPT_KEEP), or use another directory.")           \
    X(61, WRITE_FAILED, "write-failed",                                                      \
      "The checkpoint, or its message log, could not be written.",                           \
      "The message has the file and the error.")                                             \
    X(62, UNUSABLE_DIRECTORY, "unusable-directory",                                          \
      "The directory of the checkpoints cannot be made or used.",                            \
      "Correct --dir, or the rights of the directory.")                                      \
    X(63, SILENT_FILE_SYSTEM, "silent-file-system",                                          \
      "The file system of the checkpoints does not answer.",                                 \
      "Examine its server. The job runs on meanwhile.")                                      \
    X(64, UNSHARED_DIRECTORY, "unshared-directory",                                          \
      "The directory of the checkpoints is not the same on all nodes.",                      \
      "Use a shared directory, or two: a fast one on each node and a slow shared one.")      \
    X(65, SAME_HOST_NAMES, "same-host-names",                                                \
      "Two nodes of the job have one name.", "Give each its own, with CKPT_HOST.")           \
    X(66, NOT_COPIED, "not-copied",                                                          \
      "The ranks were to be killed after the checkpoint, and it was not copied to the slow " \
      "directory.",                                                                          \
      "See the message; ckpt status shows the copies.")                                      \
    X(67, JOB_TAKEN, "job-taken",                                                            \
      "Another launch or command has taken over the job's directory.",                       \
      "Give each launch its own --name, or end one of them.")

/* What a command was asked for. */
#define CKPT_REFUSALS_OF_COMMANDS(X)                                                              \
    X(80, JOB_RUNNING, "job-running",                                                             \
      "The job still runs, so it cannot be started again.",                                       \
      "End it first. If it surely does not run, ckpt restart --force starts it.")                 \
    X(81, JOB_ELSEWHERE, "job-elsewhere",                                                         \
      "The job runs on another host.", "Use ckpt there.")                                         \
    X(82, SWAPPED_OUT, "swapped-out",                                                             \
      "The job is swapped out: it has no ranks.", "ckpt resume brings it back.")                  \
    X(83, NOT_SWAPPED_OUT, "not-swapped-out",                                                     \
      "The job is not swapped out.", "Nothing.")                                                  \
    X(84, UNSUITABLE_PROGRAM, "unsuitable-program",                                               \
      "The plugin cannot be loaded into the program: it is linked statically or with musl, or "   \
      "has rights of its own.",                                                                   \
      "Link it dynamically with glibc, for x86-64.")                                              \
    X(85, OTHER_MPI, "other-mpi",                                                                 \
      "The program was built for another MPI than Open MPI (libmpi.so.40), or calls it by "       \
      "names that ckpt does not provide.",                                                        \
      "Build it with Open MPI 4 or 5. It can then run over MPICH, too.")                          \
    X(86, NOT_UNDER_CKPT, "not-under-ckpt",                                                       \
      "The process was started without checkpointing, or has not called MPI_Init.",               \
      "Start it with ckpt run, or with mpirun --tune \"$(ckpt tune)\".")                          \
    X(87, PMIX_UNAVAILABLE, "pmix-unavailable",                                                   \
      "The launcher cannot be asked by way of PMIx.",                                             \
      "Use ckpt checkpoint without --pmix, which asks the agent.")                                \
    X(88, UNSUITABLE_NODE, "unsuitable-node",                                                     \
      "The job cannot be moved to or from that node, or nodes are missing.",                      \
      "Name a node of the job, and a free one. See ckpt status.")                                 \
    X(89, UNKNOWN_REQUEST, "unknown-request",                                                     \
      "A command was sent that the agent or ckpt run does not know, perhaps by another version.", \
      "Use the same version of ckpt for the job and its commands.")

/* Restarts. */
#define CKPT_REFUSALS_OF_RESTARTS(X)                                                          \
    X(100, UNUSABLE_CHECKPOINT, "unusable-checkpoint",                                        \
      "The checkpoint is damaged or incomplete, or of another version.",                      \
      "Use an older checkpoint; ckpt verify and ckpt list show which are good.")              \
    X(101, WRONG_KEY, "wrong-key",                                                            \
      "The checkpoint is encrypted and the key is missing or another one, or it is not "      \
      "encrypted and a key was given.",                                                       \
      "Give the key that the job was run with (--key).")                                      \
    X(102, CHANGED_FILE, "changed-file",                                                      \
      "A file, directory or device that the program had open is missing, locked by another "  \
      "process, or another one now.",                                                         \
      "Put it back, or use a checkpoint with its content.")                                   \
    X(103, OTHER_CPU, "other-cpu",                                                            \
      "The CPU lacks what the program was using, or keeps registers at other places.",        \
      "Restart on a CPU with at least the same features.")                                    \
    X(104, OTHER_KERNEL, "other-kernel",                                                      \
      "The kernel, or a limit or right that it sets, does not allow what the program had.",   \
      "Restart on a host with the same kind of kernel and the same limits.")                  \
    X(105, ID_IN_USE, "id-in-use",                                                            \
      "A number or address that the program had is in use on this host.",                     \
      "End what uses it, or restart elsewhere.")                                              \
    X(106, OTHER_PLACEMENT, "other-placement",                                                \
      "The number of ranks, or which of them are on one node, does not fit the checkpoint.",  \
      "Start the same number of ranks, and those that share something on one node.")          \
    X(107, FILE_JOURNAL, "file-journal",                                                      \
      "The files of the program cannot be rolled back to the checkpoint, or differ from it.", \
      "See the message, or restart with --files ignore.")

/* Of ckpt itself. */
#define CKPT_REFUSALS_OF_CKPT(X)                                                                \
    X(1, INTERNAL_ERROR, "internal-error",                                                      \
      "ckpt has found its own data to be wrong. The checkpoint might be wrong, so it is not "   \
      "taken.",                                                                                 \
      "Report it, with the message and the agent's log. The job runs on.")                      \
    X(2, UNNAMED, "unnamed",                                                                    \
      "A rank was restarted with the ckpt of its checkpoint, which is older than these names, " \
      "or newer than this agent.",                                                              \
      "The message itself says why.")

#define CKPT_REFUSALS(X)         \
    CKPT_REFUSALS_OF_PROGRAMS(X) \
    CKPT_REFUSALS_OF_JOBS(X)     \
    CKPT_REFUSALS_OF_STORES(X)   \
    CKPT_REFUSALS_OF_COMMANDS(X) \
    CKPT_REFUSALS_OF_RESTARTS(X) \
    CKPT_REFUSALS_OF_CKPT(X)

/* The identity of a refusal. */
enum ckpt_refusal {
    CKPT_REFUSAL_NONE = 0, /* nothing was refused */
#define CKPT_REFUSAL_NUMBER(number, identifier, name, meaning, remedy) \
    CKPT_REFUSAL_##identifier = number,
    CKPT_REFUSALS(CKPT_REFUSAL_NUMBER)
#undef CKPT_REFUSAL_NUMBER
};

/* Returns the name of an identity; that of UNNAMED if the number has none here. Context: any. */
static inline const char *ckpt_refusal_name(enum ckpt_refusal identity)
{
    switch (identity) {
#define CKPT_REFUSAL_NAME(number, identifier, name, meaning, remedy) \
    case CKPT_REFUSAL_##identifier:                                  \
        return name;
        CKPT_REFUSALS(CKPT_REFUSAL_NAME)
#undef CKPT_REFUSAL_NAME
    case CKPT_REFUSAL_NONE:
        break;
    }
    return ckpt_refusal_name(CKPT_REFUSAL_UNNAMED);
}

#endif
