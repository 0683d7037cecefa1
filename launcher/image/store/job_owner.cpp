/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * job_owner.cpp - ensures that a job has one owner at a time.
 */
#include "config.h"
#include "image/store/job_owner.hpp"

#include "common/error.hpp"
#include "common/fault_injection.hpp"
#include "common/files/files.hpp"
#include "common/host.hpp"
#include "common/invariant.hpp"
#include "common/json_bytes.hpp"
#include "common/processes.hpp"
#include "common/random_digits.hpp"
#include "common/files/temporary_name.hpp"
#include "image/io/described_json.hpp"
#include "image/store/lock_reach.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>

namespace ckpt
{

namespace fs = std::filesystem;

template <class Fields, SameAs<ProcessPlace> P>
void describe(Fields &fields, P &place)
{
    fields.required("host", place.host);
    fields.required("boot", place.boot);
    fields.required("pid_namespace", place.pid_namespace);
    fields.required("process", place.process);
}

template <class Fields, SameAs<JobOwner> O>
void describe(Fields &fields, O &owner)
{
    fields.required("token", owner.token);
    fields.required("keeps_lock", owner.keeps_lock);
    fields.required("place", owner.place);
    fields.required("runner", owner.runner);
    fields.required("uses", owner.uses);
    fields.added("launcher", owner.launcher);
}

namespace
{

constexpr const char *what = "record of the owner of a job";

enum class Lock {
    free,
    held, /* by another process */
    none, /* the file system does not support locks */
};

/* command: F_OFD_SETLK takes the lock, F_OFD_GETLK only tests it. */
Lock lock(int fd, int command)
{
    struct flock wanted {
    };

    wanted.l_type = F_WRLCK;
    wanted.l_whence = SEEK_SET;
    if (::fcntl(fd, command, &wanted) == 0) {
        return command == F_OFD_GETLK && wanted.l_type != F_UNLCK ? Lock::held : Lock::free;
    }
    switch (errno) {
    case EAGAIN:
    case EACCES:
        return Lock::held;
    case ENOLCK:
    case ENOSYS:
    case EOPNOTSUPP:
    case EINVAL:
        return Lock::none;
    default:
        fail_errno(errno, "cannot lock the {}", what);
    }
}

std::string text_of(const JobOwner &owner)
{
    return dump_json(JsonWriter::json_of(owner), 1) + "\n";
}

/* Returns nothing if the file is empty: the process that created it has not taken the
 * job. */
std::optional<JobOwner> read_record(int fd, const fs::path &path)
{
    struct stat status;
    if (::fstat(fd, &status) < 0) {
        fail_errno(errno, "cannot read {} {}", what, path.string());
    }
    constexpr off_t limit = 64 << 10;
    if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid() || status.st_size > limit) {
        fail("{} is no {} of yours", path.string(), what);
    }
    std::string text(static_cast<std::size_t>(status.st_size), '\0');
    if (const int error = read_exactly(fd, text.data(), text.size(), 0); error != 0) {
        fail_errno(error, "cannot read {} {}", what, path.string());
    }
    if (text.empty()) {
        return std::nullopt;
    }
    JobOwner owner;
    JsonReader::read(JsonFields::parse(text, path.string()), owner);
    return owner;
}

std::string read_line(const char *path)
{
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

ProcessPlace launcher_of(const JobOwner &owner)
{
    ProcessPlace place;
    if (!owner.launcher.empty()) {
        place = owner.place;
        place.process = owner.launcher;
    }
    return place;
}

/* Whether the owner belongs to the same launch. Without `ckpt run` each agent has its own
 * token, but the launcher is the same. */
bool is_of_launch(const JobOwner &owner, const JobOwnership::As &as)
{
    const ProcessPlace own = ProcessPlace::own();

    return owner.token == as.token ||
           (!as.launcher.empty() && owner.launcher == as.launcher &&
            owner.place.boot == own.boot && owner.place.pid_namespace == own.pid_namespace);
}

/* Whether the owner may be alive. Unknown counts as alive, because two copies of a job
 * destroy each other's work. */
bool may_live(const JobOwner &owner, Lock lock, int fd)
{
    if (lock == Lock::held || lives(owner.runner).value_or(false) ||
        lives(launcher_of(owner)).value_or(false)) {
        return true;
    }
    if (const auto seen = lives(owner.place)) {
        return *seen;
    }
    const ProcessPlace own = ProcessPlace::own();
    if (owner.keeps_lock && lock == Lock::free &&
        (owner.place.boot == own.boot || locks_reach_other_hosts(fd))) {
        return false;
    }
    return !(owner.place.host == own.host && owner.place.boot != own.boot);
}

bool is_still_named(int fd, const fs::path &path)
{
    struct stat ours, named;

    if (::fstat(fd, &ours) < 0) {
        fail_errno(errno, "cannot use {} {}", what, path.string());
    }
    if (::stat(path.c_str(), &named) < 0) {
        if (errno != ENOENT) {
            fail_errno(errno, "cannot use {} {}", what, path.string());
        }
        return false;
    }
    return ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
}

/* The owner file, and the state of its lock. */
struct Found {
    Fd file;
    Lock lock = Lock::free;
    std::optional<JobOwner> owner;
};

/* Opens or creates the owner file. Takes its lock if the lock is free. */
Found take_file(const fs::path &path)
{
    for (;;) {
        Found found;
        found.file = open_file(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600, what);
        found.lock = lock(found.file.get(), F_OFD_SETLK);
        if (is_still_named(found.file.get(), path)) { /* else: just replaced */
            found.owner = read_record(found.file.get(), path);
            return found;
        }
    }
}

/* Puts a new owner file with this record in place. If the record asks for the lock, this
 * process holds it before the file gets its name. */
Fd put_in_place(const fs::path &path, JobOwner &record)
{
    const fs::path temporary = temporary_name(path);
    Fd file = open_file(temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600, what);
    record.keeps_lock =
        record.keeps_lock && lock(file.get(), F_OFD_SETLK) == Lock::free;
    const std::string text = text_of(record);
    int error = write_exactly(file.get(), text.data(), text.size(), 0);
    fault_kill("owner-before-rename");
    if (error == 0 && (::fsync(file.get()) < 0 || ::rename(temporary.c_str(), path.c_str()) < 0)) {
        error = errno;
    }
    if (error != 0) {
        ::unlink(temporary.c_str());
        fail_errno(error, "cannot write {} {}", what, path.string());
    }
    sync_directory(path.parent_path());
    return file;
}

bool has_token(const fs::path &path, const std::string &token)
{
    const Fd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    const auto owner = file ? read_record(file.get(), path) : std::nullopt;

    return owner && owner->token == token;
}

} // namespace

ProcessPlace ProcessPlace::own()
{
    return {host_name(), read_line("/proc/sys/kernel/random/boot_id"),
            fs::read_symlink("/proc/self/ns/pid").string(), process_identity(::getpid())};
}

std::optional<pid_t> pid_here(const ProcessPlace &place)
{
    const ProcessPlace own = ProcessPlace::own();

    if (place.boot != own.boot || place.pid_namespace != own.pid_namespace) {
        return std::nullopt;
    }
    return static_cast<pid_t>(std::atoll(place.process.c_str()));
}

std::optional<bool> lives(const ProcessPlace &place)
{
    const auto pid = pid_here(place);

    if (!pid) {
        return std::nullopt;
    }
    return process_identity(*pid) == place.process && is_running(*pid);
}

std::string JobOwner::text() const
{
    const bool is_launcher =
        !lives(place).value_or(true) && lives(launcher_of(*this)).value_or(false);

    return fmt::format("process {} on {}",
                       std::atoll((is_launcher ? launcher : place.process).c_str()), place.host);
}

bool has_owner_record(const fs::path &job_directory)
{
    return path_exists(job_directory / job_owner_name);
}

std::optional<JobOwner> owner_of(const fs::path &job_directory)
{
    const fs::path path = job_directory / job_owner_name;
    Fd file(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));

    if (!file) {
        if (errno != ENOENT) {
            fail_errno(errno, "cannot open {} {}", what, path.string());
        }
        return std::nullopt;
    }
    auto owner = read_record(file.get(), path);
    if (owner && !may_live(*owner, lock(file.get(), F_OFD_GETLK), file.get())) {
        owner.reset();
    }
    return owner;
}

JobOwnership::JobOwnership(const fs::path &job_directory, const As &as, Take take)
    : path_(job_directory / job_owner_name)
{
    CKPT_EXPECT(!as.token.empty()); /* all launches without one would be the same */
    const Found found = take_file(path_);
    const bool is_same_launch = found.owner && is_of_launch(*found.owner, as);

    if (take == Take::ask && !is_same_launch &&
        (found.owner ? may_live(*found.owner, found.lock, found.file.get())
                     : found.lock == Lock::held)) {
        throw Error(fmt::format("{} belongs to {}", job_directory.string(),
                                found.owner ? found.owner->text() : "another command"),
                    EBUSY);
    }
    record_ = {as.token, ProcessPlace::own(), as.keeps_lock, {}, as.uses, as.launcher};
    if (as.is_runner) {
        record_.runner = record_.place;
    } else if (is_same_launch) {
        record_.runner = found.owner->runner;
        record_.uses = found.owner->uses;
    }
    file_ = put_in_place(path_, record_);
    remove_temporaries(path_);
}

/* A process that takes the job replaces the file. A missing file means that the job was not
 * taken. */
bool JobOwnership::is_ours() const
{
    return !path_exists(path_) || is_still_named(file_.get(), path_);
}

void JobOwnership::require_ours() const
{
    if (!is_ours()) {
        refuse(CKPT_REFUSAL_JOB_TAKEN, "another launch has taken over {}",
               path_.parent_path().string());
    }
}

/* The runner may remove the record of its agent too, because its launch is over. */
void JobOwnership::release()
{
    const bool is_runner = record_.runner.process == record_.place.process;

    if (is_runner ? has_token(path_, record_.token)
                  : record_.runner.process.empty() && is_still_named(file_.get(), path_)) {
        if (::unlink(path_.c_str()) < 0 && errno != ENOENT) {
            fail_errno(errno, "cannot remove {} {}", what, path_.string());
        }
    }
}

std::string make_owner_token()
{
    return random_digits(16);
}

} // namespace ckpt
