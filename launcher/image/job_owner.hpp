/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_owner.hpp - one owner of a job at a time: who may write in DIR/JOB.
 *
 * DIR/JOB/owner tells who that is: a command that starts a job, then the agent that
 * coordinates it. Both have the token of the launch, by which the agent takes over from its
 * command. As long as the owner lives it has a lock on the file (fcntl(2), F_OFD_SETLK), which
 * network file systems carry to other nodes. A dead owner does not count: the kernel has given
 * its lock back, or the record names a boot or a process that is over. Who takes a job from an
 * owner puts a new file in its place, by which the old one learns of it.
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
/* Of a launch: its token. */
inline constexpr const char *owner_variable = "CKPT_OWNER";

/* A process, so that no other one is ever taken for it. */
struct ProcessPlace {
    std::string host;
    std::string boot;          /* of the kernel, as /proc/sys/kernel/random/boot_id has it */
    std::string pid_namespace; /* of /proc/self/ns/pid */
    std::string process;       /* process_identity() in that */

    static ProcessPlace own();
};

struct JobOwner {
    std::string token;
    ProcessPlace place;
    bool keeps_lock = false; /* until it ends */
    ProcessPlace runner;     /* the `ckpt run` that starts the job again; or empty */
    std::uint64_t uses = 0;  /* checkpoint that this launch goes on from; 0: none */
    /* Of an agent or of `ckpt run`: process_identity() of mpirun, or of a program without one. It
     * lives on, and the job in it, when these are killed. It is where `place` is; empty: not
     * known. */
    std::string launcher;

    std::string text() const; /* "process 17 on host-a" */
};

/* Who owns the job, as far as can be told: nothing if nobody does, or nobody who lives. Throws
 * Error. */
std::optional<JobOwner> owner_of(const std::filesystem::path &job_directory);

/* The process, if it can be seen from here: one of this boot and name space. It may be gone. */
std::optional<pid_t> pid_here(const ProcessPlace &place);
/* Whether it lives; nothing if it cannot be seen from here, or no process is named. */
std::optional<bool> lives(const ProcessPlace &place);

/* Whether there is a record of an owner, alive or not. */
bool has_owner_record(const std::filesystem::path &job_directory);

class JobOwnership
{
  public:
    enum class Take {
        ask,    /* of nobody who lives */
        insist, /* of anybody: the user says that the owner is dead */
    };

    /* As what this process takes it. */
    struct As {
        std::string token;       /* not empty: who has the same, or launcher, gives way */
        bool keeps_lock = false; /* this process stays until it has no use for the job */
        bool is_runner = false;  /* and starts it again if that fails */
        std::uint64_t uses = 0;  /* checkpoint that it restarts; 0: what the launch uses */
        std::string launcher = {}; /* JobOwner */
    };

    /* Throws Error, of code EBUSY if another one owns it. */
    JobOwnership(const std::filesystem::path &job_directory, const As &as, Take take);

    /* Not if somebody else has taken it since. Throws Error if it cannot be told. */
    bool is_ours() const;
    /* Throws Error unless it is ours. */
    void require_ours() const;
    /* It belongs to nobody, or to the runner. Throws Error. */
    void release();

  private:
    std::filesystem::path path_;
    JobOwner record_;
    Fd file_; /* with the lock */
};

/* A new token: 32 hexadecimal digits. */
std::string make_owner_token();

} // namespace ckpt
