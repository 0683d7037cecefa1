/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_owner.hpp - ensures that a job has one owner at a time: the process that may write in
 * DIR/JOB.
 *
 * The file DIR/JOB/owner names the owner: first the command that starts the job, then the agent
 * that coordinates it. Both have the token of the launch, which lets the agent take over from
 * the command. A living owner holds a lock on the file (fcntl(2), F_OFD_SETLK), which network
 * file systems make visible on other nodes. A dead owner does not count: the kernel has
 * released its lock, or the record names an earlier boot or an ended process. A process that
 * takes the job puts a new file in place of the old one; this tells the old owner.
 */
#pragma once

#include "common/fd.hpp"

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace ckpt
{

inline constexpr const char *job_owner_name = "owner";
/* The environment variable with the launch's token. */
inline constexpr const char *owner_variable = "CKPT_OWNER";

/* Identifies a process uniquely across hosts and boots. */
struct ProcessPlace {
    std::string host;
    std::string boot;          /* boot id of the kernel, from /proc/sys/kernel/random/boot_id */
    std::string pid_namespace; /* of /proc/self/ns/pid */
    std::string process;       /* process_identity() in that namespace */

    static ProcessPlace own();
};

struct JobOwner {
    std::string token;
    ProcessPlace place;
    bool keeps_lock = false; /* holds the lock until it ends */
    ProcessPlace runner;     /* the `ckpt run` that restarts the job; or empty */
    std::uint64_t uses = 0;  /* checkpoint from which this launch continues; 0: none */
    /* Of an agent or of `ckpt run`: process_identity() of mpirun, or of a program without
     * mpirun. The launcher and the job survive when the agent or `ckpt run` is killed. The
     * launcher is on the host of `place`; empty: unknown. */
    std::string launcher;

    std::string text() const; /* "process 17 on host-a" */
};

/* Returns the owner of the job; nothing if there is none, or if it is known to be dead. Throws
 * Error. */
std::optional<JobOwner> owner_of(const std::filesystem::path &job_directory);

/* Returns the pid if the process belongs to this boot and pid namespace. The process may have
 * ended. */
std::optional<pid_t> pid_here(const ProcessPlace &place);
/* Whether the process lives; nothing if it belongs to another boot or namespace, or if no
 * process is named. */
std::optional<bool> lives(const ProcessPlace &place);

/* Whether there is a record of an owner, alive or dead. */
bool has_owner_record(const std::filesystem::path &job_directory);

class JobOwnership
{
  public:
    enum class Take {
        ask,    /* only if no owner lives */
        insist, /* from any owner: the user asserts that the owner is dead */
    };

    /* The role in which this process takes the job. */
    struct As {
        /* Not empty. An owner with the same token or launcher yields. */
        std::string token;
        bool keeps_lock = false;   /* this process holds the lock until it is done with the job */
        bool is_runner = false;    /* this process restarts the job after a failure */
        std::uint64_t uses = 0;    /* checkpoint to restart; 0: that of the launch */
        std::string launcher = {}; /* see JobOwner */
    };

    /* Takes the job. Throws Error, with code EBUSY if it has another owner. */
    JobOwnership(const std::filesystem::path &job_directory, const As &as, Take take);

    /* Whether this process still owns the job. Throws Error if that cannot be determined. */
    bool is_ours() const;
    /* Throws Error unless this process owns the job. */
    void require_ours() const;
    /* Gives up the job, which then has no owner, or the runner as its owner. Throws Error. */
    void release();

  private:
    std::filesystem::path path_;
    JobOwner record_;
    Fd file_; /* open file that holds the lock */
};

/* A new token: 32 hexadecimal digits. */
std::string make_owner_token();

} // namespace ckpt
