/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * spawned_process.cpp - posix_spawn(3) with descriptors of the caller's choice.
 */
#include "agent/base/spawned_process.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"
#include "common/pidfd.hpp"

#include <cerrno>
#include <csignal>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

namespace ckpt
{

namespace
{

/* Copies of descriptors are made above all numbers that a child gets. */
constexpr int first_copy = 64;

std::vector<char *> pointers(const std::vector<std::string> &words)
{
    std::vector<char *> array;
    for (const std::string &word : words) {
        array.push_back(const_cast<char *>(word.c_str()));
    }
    array.push_back(nullptr);
    return array;
}

void require(int error, const std::string &program)
{
    if (error != 0) {
        fail_errno(error, "cannot execute {}", program);
    }
}

/* What posix_spawn() does to descriptors. */
class FileActions
{
  public:
    explicit FileActions(const std::string &program)
        : program_(program)
    {
        require(posix_spawn_file_actions_init(&actions_), program_);
    }
    ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }
    FileActions(const FileActions &) = delete;
    FileActions &operator=(const FileActions &) = delete;

    void give(int descriptor, int number)
    {
        Fd copy(fcntl(descriptor, F_DUPFD_CLOEXEC, first_copy));
        if (!copy) {
            require(errno, program_);
        }
        CKPT_INVARIANT(number < first_copy);
        require(posix_spawn_file_actions_adddup2(&actions_, copy.get(), number), program_);
        copies_.push_back(std::move(copy));
    }
    const posix_spawn_file_actions_t *get() const { return &actions_; }

  private:
    const std::string &program_;
    posix_spawn_file_actions_t actions_{};
    std::vector<Fd> copies_;
};

/* The agent ignores signals that a child must not ignore. */
class Attributes
{
  public:
    explicit Attributes(const std::string &program)
    {
        sigset_t none, all;
        sigemptyset(&none);
        sigfillset(&all);
        require(posix_spawnattr_init(&attributes_), program);
        require(posix_spawnattr_setsigmask(&attributes_, &none), program);
        require(posix_spawnattr_setsigdefault(&attributes_, &all), program);
        require(posix_spawnattr_setpgroup(&attributes_, 0), program);
        require(posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK |
                                                           POSIX_SPAWN_SETSIGDEF |
                                                           POSIX_SPAWN_SETPGROUP),
                program);
    }
    ~Attributes() { posix_spawnattr_destroy(&attributes_); }
    Attributes(const Attributes &) = delete;
    Attributes &operator=(const Attributes &) = delete;

    const posix_spawnattr_t *get() const { return &attributes_; }

  private:
    posix_spawnattr_t attributes_{};
};

} // namespace

SpawnedProcess::SpawnedProcess(const std::vector<std::string> &command,
                               const std::vector<std::string> &environment,
                               const std::vector<int> &descriptors)
{
    CKPT_EXPECT(!command.empty());
    FileActions actions(command[0]);
    const Attributes attributes(command[0]);
    const auto argv = pointers(command), variables = pointers(environment);

    for (std::size_t i = 0; i < descriptors.size(); i++) {
        if (descriptors[i] >= 0) {
            actions.give(descriptors[i], static_cast<int>(i));
        }
    }
    require(posix_spawn(&pid_, argv[0], actions.get(), attributes.get(), argv.data(),
                        variables.data()),
            command[0]);
    process_ = open_pidfd(pid_);
    CKPT_INVARIANT(process_); /* nobody else reaps it */
}

std::optional<int> SpawnedProcess::take_status()
{
    int status = 0;

    CKPT_EXPECT(process_);
    if (waitpid(pid_, &status, WNOHANG) != pid_) {
        return std::nullopt;
    }
    process_.reset();
    return status;
}

void SpawnedProcess::signal(int number) const
{
    if (process_) {
        send_signal(process_, number);
    }
}

} // namespace ckpt
