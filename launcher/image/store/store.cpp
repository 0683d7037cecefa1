/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * store.cpp - the checkpoint directory: jobs, checkpoints, and their state.
 */
#include "config.h"
#include "image/store/store.hpp"

#include "common/durations.hpp"
#include "common/error.hpp"
#include "common/files/files.hpp"
#include "common/host.hpp"
#include "common/invariant.hpp"
#include "common/json_bytes.hpp"
#include "common/processes.hpp"
#include "image/seal/image_key.hpp"
#include "image/store/job_directory.hpp"
#include "image/store/job_owner.hpp"
#include "image/io/described_json.hpp"
#include "image/store/piece_chain.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <iterator>
#include <map>
#include <set>

namespace ckpt
{

namespace fs = std::filesystem;

template <class Fields, SameAs<JobState> S>
void describe(Fields &fields, S &state)
{
    fields.required("name", state.name);
    fields.required("state", state.state);
    fields.required("host", state.host);
    fields.required("launcher_pid", state.launcher_pid);
    fields.required("agent_pid", state.agent_pid);
    fields.required("agent_socket", state.agent_socket);
    fields.required("started", date(state.started));
    fields.added("seconds", state.seconds);
    fields.added("failures", state.failures);
}

namespace
{

constexpr const char *job_file = "job.json";
constexpr const char *name_characters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
constexpr std::size_t longest_job_name = 200;

bool is_job_name(std::string_view name)
{
    return !name.empty() && name.size() <= longest_job_name &&
           name.front() != '.' &&
           name.find_first_not_of(name_characters) == std::string_view::npos;
}

/* Parses the number that a directory or a user names; returns nothing if it is invalid. */
std::optional<std::uint64_t> parse_number(std::string_view text)
{
    std::uint64_t number = 0;
    auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) {
        return std::nullopt;
    }
    return number;
}

/* Whether the error proves that something is wrong; other errors mean that it could not be
 * checked. */
bool proves_damage(int code)
{
    return code == 0 || code == ENOENT || code == ENOTDIR;
}

/* Returns nothing if the piece has the right length. */
std::optional<Error> problem_of(const Piece &piece, const fs::path &directory)
{
    struct stat status;

    if (::lstat((directory / piece.file).c_str(), &status) < 0) {
        const int error = errno;
        return Error(fmt::format("piece {}: {}", piece.file, std::strerror(error)), error);
    }
    if (S_ISLNK(status.st_mode)) { /* the linked file may be intact */
        return Error(fmt::format("piece {} is a link", piece.file), ELOOP);
    }
    if (!S_ISREG(status.st_mode)) {
        return Error(fmt::format("piece {} is not a regular file", piece.file));
    }
    const auto bytes = static_cast<std::uint64_t>(status.st_size);
    if (bytes != piece.bytes) {
        return Error(fmt::format("piece {} has {} bytes, not {}", piece.file, bytes,
                                 piece.bytes));
    }
    return std::nullopt;
}

void require_pieces(const Manifest &manifest, const fs::path &directory)
{
    for (const Piece &piece : manifest.pieces) {
        if (const auto problem = problem_of(piece, directory)) {
            throw Error(*problem);
        }
    }
}

/* A manifest sealed with the key must be at the place that it names: a complete checkpoint
 * in the place of another one is authentic, too. number: 0 for a copy under another name. */
void require_place(const Manifest &manifest, const std::string &job, std::uint64_t number)
{
    if (image_key() && number != 0 && (manifest.job != job || manifest.number != number)) {
        throw Error(fmt::format("it is checkpoint {}/{}, in the place of {}/{}", manifest.job,
                                manifest.number, job, number),
                    EKEYREJECTED);
    }
}

void make_useless(Checkpoint &checkpoint, Checkpoint::State state, const std::string &reason)
{
    CKPT_EXPECT(state != Checkpoint::State::committed);
    checkpoint.state = state;
    checkpoint.reason = reason;
    checkpoint.manifest.reset();
}

Checkpoint inspect(const std::string &job, std::uint64_t number,
                   const fs::path &directory)
{
    Checkpoint checkpoint;
    checkpoint.job = job;
    checkpoint.number = number;
    checkpoint.directory = directory;
    if (!path_exists(directory / manifest_name)) {
        return checkpoint;
    }
    try {
        checkpoint.manifest = Manifest::load(directory);
        require_place(*checkpoint.manifest, job, number);
        require_pieces(*checkpoint.manifest, directory);
        checkpoint.state = Checkpoint::State::committed;
    } catch (const Error &error) {
        make_useless(checkpoint,
                     proves_damage(error.code()) ? Checkpoint::State::damaged
                                                 : Checkpoint::State::unreadable,
                     error.what());
    }
    CKPT_INVARIANT(checkpoint.manifest.has_value() ==
                   (checkpoint.state == Checkpoint::State::committed));
    return checkpoint;
}

/* A checkpoint that builds on an incomplete one is incomplete, too. `bases` returns the
 * checkpoint with a number, or NULL. */
template <typename Bases>
void require_bases_of(Checkpoint &checkpoint, const Bases &bases)
{
    auto state = Checkpoint::State::damaged;
    const std::string reason =
        missing_base(*checkpoint.manifest, [&](std::uint64_t number) -> const Manifest * {
            const Checkpoint *base = bases(number);
            if (base != nullptr && base->state == Checkpoint::State::unreadable) {
                state = Checkpoint::State::unreadable;
            }
            return base != nullptr && base->manifest ? &*base->manifest : nullptr;
        });
    if (!reason.empty()) {
        make_useless(checkpoint, state, reason);
    }
}

/* Checks the bases of all checkpoints of a job, given by ascending number. */
void require_bases(std::vector<Checkpoint> &checkpoints)
{
    std::map<std::uint64_t, const Checkpoint *> older;

    CKPT_EXPECT(std::ranges::is_sorted(checkpoints, {}, &Checkpoint::number));
    for (Checkpoint &checkpoint : checkpoints) {
        if (checkpoint.state == Checkpoint::State::committed) {
            require_bases_of(checkpoint, [&](std::uint64_t number) {
                auto found = older.find(number);
                return found == older.end() ? nullptr : found->second;
            });
        }
        older[checkpoint.number] = &checkpoint;
    }
}

/* Inspects one checkpoint, and the checkpoints beside it on which it builds. */
Checkpoint inspect_with_bases(const std::string &job, std::uint64_t number,
                              const fs::path &directory)
{
    Checkpoint checkpoint = inspect(job, number, directory);
    std::map<std::uint64_t, Checkpoint> older;

    if (checkpoint.state == Checkpoint::State::committed) {
        require_bases_of(checkpoint, [&](std::uint64_t base) {
            if (!older.contains(base)) {
                older[base] = inspect_with_bases(
                    job, base, directory.parent_path() / checkpoint_directory_name(base));
            }
            return &older[base];
        });
    }
    return checkpoint;
}

const Checkpoint &require_committed(const Checkpoint &checkpoint)
{
    if (checkpoint.state == Checkpoint::State::incomplete) {
        refuse(CKPT_REFUSAL_UNUSABLE_CHECKPOINT, "checkpoint {} is incomplete: {} has no manifest",
               checkpoint.name(), checkpoint.directory.string());
    }
    if (checkpoint.state == Checkpoint::State::damaged) {
        refuse(CKPT_REFUSAL_UNUSABLE_CHECKPOINT, "checkpoint {} is damaged: {}", checkpoint.name(),
               checkpoint.reason);
    }
    if (checkpoint.state == Checkpoint::State::unreadable) {
        refuse(CKPT_REFUSAL_UNUSABLE_CHECKPOINT, "checkpoint {} cannot be read: {}",
               checkpoint.name(), checkpoint.reason);
    }
    return checkpoint;
}

/* Returns the newest committed one of a list in ascending order. */
std::optional<Checkpoint> newest_of(const std::vector<Checkpoint> &checkpoints)
{
    CKPT_EXPECT(std::ranges::is_sorted(checkpoints, {}, &Checkpoint::number));
    for (auto it = checkpoints.rbegin(); it != checkpoints.rend(); ++it) {
        if (it->state == Checkpoint::State::committed) {
            return *it;
        }
    }
    return std::nullopt;
}

/* Returns the defect of the newest unusable checkpoint, for the message that no checkpoint
 * is usable. */
std::string why_none(const std::vector<Checkpoint> &checkpoints)
{
    for (auto it = checkpoints.rbegin(); it != checkpoints.rend(); ++it) {
        if (it->is_useless()) {
            return fmt::format(": {} cannot be used: {}", it->name(), it->reason);
        }
    }
    return {};
}

/* Resolves a checkpoint given as a path: DIR/JOB/NUMBER, a copy of it under any name, or
 * DIR/JOB for its newest one. */
Checkpoint resolve_path(const std::string &word)
{
    std::error_code error;
    fs::path path = fs::canonical(word, error);
    if (error) {
        fail("cannot use {}: {}", word, error.message());
    }
    require_own(path, "checkpoint directory");
    if (!path_exists(path / manifest_name) &&
        is_job_name(path.filename().string())) {
        std::optional<Checkpoint> newest =
            Store(path.parent_path()).newest_committed(path.filename());
        if (newest) {
            return *newest;
        }
    }
    Checkpoint checkpoint =
        inspect_with_bases(path.parent_path().filename(),
                           parse_number(path.filename().string()).value_or(0), path);
    require_committed(checkpoint);
    checkpoint.job = checkpoint.manifest->job;
    checkpoint.number = checkpoint.manifest->number;
    return checkpoint;
}

/* A symbolic link with the name of a checkpoint, or a directory of another user, does not
 * belong to ckpt. It stays, and so does the link's target. */
bool is_own_directory(const fs::path &path)
{
    struct stat status;

    if (::lstat(path.c_str(), &status) < 0) {
        if (errno != ENOENT) {
            fail_errno(errno, "cannot use directory {}", path.string());
        }
        return true; /* another process has just removed it */
    }
    return S_ISDIR(status.st_mode) && status.st_uid == ::geteuid();
}

/* Adds the numbers of the checkpoints on which this one builds. */
void need_bases(const Checkpoint &checkpoint, std::set<std::uint64_t> &needed)
{
    for (const Piece &piece : checkpoint.manifest->pieces) {
        needed.insert(piece.base);
    }
}

/* Returns the checkpoints of one job that collect_garbage() removes, newest first. In that
 * order no newer checkpoint ever lacks its base. */
std::vector<Checkpoint> garbage_of(const std::vector<Checkpoint> &checkpoints,
                                   std::size_t keep, bool live, std::uint64_t used)
{
    CKPT_EXPECT(keep > 0 && std::ranges::is_sorted(checkpoints, {}, &Checkpoint::number));
    std::vector<Checkpoint> garbage;
    std::set<std::uint64_t> needed = {used};
    std::size_t committed = 0;
    bool may_be_needed = false;
    for (auto it = checkpoints.rbegin(); it != checkpoints.rend(); ++it) {
        bool is_garbage = true;
        if (it->state == Checkpoint::State::committed) {
            is_garbage = ++committed > keep && !needed.contains(it->number);
            if (!is_garbage) {
                need_bases(*it, needed);
            }
        } else if (it->state == Checkpoint::State::incomplete) {
            /* the checkpoint that an agent works on is newer than all committed ones */
            is_garbage = !live || committed > 0;
        } else if (it->state == Checkpoint::State::unreadable) {
            may_be_needed = true;
        } else { /* kept as an explanation if a restart must use an older one */
            is_garbage = committed > 0;
        }
        if (is_garbage && !may_be_needed && is_own_directory(it->directory)) {
            garbage.push_back(*it);
        }
    }
    /* newest first: what builds on a checkpoint was seen before it */
    CKPT_INVARIANT(std::ranges::none_of(garbage, [&](const Checkpoint &checkpoint) {
        return checkpoint.state == Checkpoint::State::committed &&
               needed.contains(checkpoint.number);
    }));
    return garbage;
}

} // namespace

std::string Checkpoint::name() const
{
    return fmt::format("{}/{}", job, number);
}

std::string damage_of(const Piece &piece, const fs::path &directory)
{
    const auto problem = problem_of(piece, directory);

    return problem ? problem->what() : "";
}

void require_job_name(const std::string &name)
{
    if (!is_job_name(name)) {
        fail("'{}' cannot be the name of a job: use up to {} letters, digits "
             "and ._-",
             name, longest_job_name);
    }
}

Store::Store(fs::path directory)
    : directory_(std::move(directory))
{
    if (!directory_exists(directory_)) {
        fail_not_found("there is no checkpoint directory {}",
                       directory_.string());
    }
    require_own(directory_, "checkpoint directory");
    identity_ = identity_of(directory_).value_or("");
}

Store Store::create(fs::path directory)
{
    make_private_directory(directory);
    return Store(std::move(directory));
}

std::vector<std::string> Store::jobs() const
{
    std::vector<std::string> names = list_directories(directory_);
    std::erase_if(names, [](auto &name) { return !is_job_name(name); });
    std::ranges::sort(names);
    return names;
}

std::optional<JobState> Store::job_state(const std::string &job) const
{
    require_job_name(job);
    fs::path path = directory_ / job / job_file;
    if (!path_exists(path)) {
        return std::nullopt;
    }
    JobState state;
    JsonReader::read(JsonFields::parse(read_own_text_file(path, "job file"),
                                       "job file " + path.string()),
                     state);
    return state;
}

void Store::write_job_state(const JobState &state) const
{
    require_job_name(state.name);
    make_job_directory(directory_ / state.name);
    write_text_file_atomically(directory_ / state.name / job_file,
                               dump_json(JsonWriter::json_of(state), 2) + "\n", "job file");
}

bool Store::is_live(const std::string &job) const
{
    std::optional<JobState> state;
    try {
        if (has_owner_record(directory_ / job)) {
            return owner_of(directory_ / job).has_value();
        }
        state = job_state(job);
    } catch (const Error &) {
        return true; /* unknown: the job may be alive */
    }
    if (!state || state->state != "running") {
        return false;
    }
    if (state->host != host_name()) {
        return true;
    }
    return is_running(state->agent_pid);
}

std::uint64_t Store::next_number(const std::string &job) const
{
    const std::vector<std::uint64_t> used = numbers(job);
    if (!used.empty() && used.back() == UINT64_MAX) {
        fail("no checkpoint can have a number above that of {}",
             directory_of(job, used.back()).string());
    }
    return used.empty() ? 1 : used.back() + 1;
}

fs::path Store::begin_checkpoint(const std::string &job,
                                 std::uint64_t number) const
{
    CKPT_EXPECT(number > 0);
    require_job_name(job);
    make_job_directory(directory_ / job);
    fs::path directory = directory_of(job, number);
    if (::mkdir(directory.c_str(), 0700) < 0) {
        fail_errno(errno, "cannot make directory {}", directory.string());
    }
    sync_directory(directory_ / job);
    return directory;
}

fs::path Store::directory_of(const std::string &job, std::uint64_t number) const
{
    return directory_ / job / checkpoint_directory_name(number);
}

/* Returns the numbers of all checkpoint directories, ascending. */
std::vector<std::uint64_t> Store::numbers(const std::string &job) const
{
    require_job_name(job);
    std::vector<std::uint64_t> found;
    if (!directory_exists(directory_ / job)) {
        return found;
    }
    for (const std::string &name : list_directories(directory_ / job)) {
        if (const auto number = checkpoint_number(name)) {
            found.push_back(*number);
        }
    }
    std::ranges::sort(found);
    return found;
}

std::vector<Checkpoint> Store::checkpoints(const std::string &job) const
{
    std::vector<Checkpoint> found;
    for (std::uint64_t number : numbers(job)) {
        found.push_back(inspect(job, number, directory_of(job, number)));
    }
    if (!is_job_directory(directory_ / job)) { /* a user's own directory, or a copy */
        std::erase_if(found, [](const Checkpoint &checkpoint) {
            return checkpoint.state == Checkpoint::State::incomplete;
        });
    }
    require_bases(found);
    return found;
}

std::optional<Checkpoint>
Store::newest_committed(const std::string &job) const
{
    return newest_of(checkpoints(job));
}

std::optional<Checkpoint> Store::newest_committed() const
{
    std::optional<Checkpoint> newest;
    for (const std::string &job : jobs()) {
        std::optional<Checkpoint> candidate = newest_committed(job);
        if (candidate && (!newest || candidate->manifest->created >
                                         newest->manifest->created)) {
            newest = std::move(candidate);
        }
    }
    return newest;
}

Checkpoint Store::resolve(const std::string &word) const
{
    if (word.empty()) {
        std::optional<Checkpoint> newest = newest_committed();
        if (!newest) {
            std::string why;
            for (const std::string &job : jobs()) {
                why = why.empty() ? why_none(checkpoints(job)) : why;
            }
            fail_not_found("there is no committed checkpoint in {}{}", directory_.string(), why);
        }
        return *newest;
    }
    std::size_t slash = word.find('/');
    std::string job = word.substr(0, slash);
    if (is_job_name(job) && directory_exists(directory_ / job)) {
        return resolve_in_job(job, slash == std::string::npos
                                       ? std::string_view()
                                       : std::string_view(word).substr(slash));
    }
    if (directory_exists(word)) {
        return resolve_path(word);
    }
    fail_not_found("there is no checkpoint '{}' in {}", word,
                   directory_.string());
}

/* `rest` is empty or "/NUMBER". */
Checkpoint Store::resolve_in_job(const std::string &job,
                                 std::string_view rest) const
{
    if (rest.empty()) {
        std::optional<Checkpoint> newest = newest_committed(job);
        if (!newest) {
            fail_not_found("job {} has no committed checkpoint in {}{}", job,
                           directory_.string(), why_none(checkpoints(job)));
        }
        return *newest;
    }
    std::optional<std::uint64_t> number = parse_number(rest.substr(1));
    fs::path directory = directory_of(job, number.value_or(0));
    if (!number || !directory_exists(directory)) {
        fail_not_found("job {} has no checkpoint '{}' in {}", job,
                       rest.substr(1), directory_.string());
    }
    return require_committed(inspect_with_bases(job, *number, directory));
}

std::vector<std::string> Store::remove(const Checkpoint &checkpoint) const
{
    CKPT_EXPECT(checkpoint.directory.has_filename());
    const fs::path job = checkpoint.directory.parent_path();

    if (!is_job_directory(job)) {
        fail("{} is left alone: ckpt has not made {}, which has no {}", checkpoint.name(),
             job.string(), job_mark_name);
    }
    return remove_checkpoint_files(checkpoint.directory);
}

std::vector<std::string> Store::remove(const std::string &job, std::uint64_t number) const
{
    Checkpoint checkpoint;
    checkpoint.job = job;
    checkpoint.number = number;
    checkpoint.directory = directory_of(job, number);
    return remove(checkpoint);
}

std::vector<std::string> Store::foreign_directories() const
{
    std::vector<std::string> foreign;
    for (const std::string &job : jobs()) {
        const bool is_ours = is_job_directory(directory_ / job);
        const std::vector<std::uint64_t> all = numbers(job);
        if (!is_ours && !all.empty()) {
            foreign.push_back(job);
        }
        for (const std::uint64_t number : all) {
            if (is_ours && !is_own_directory(directory_of(job, number))) {
                foreign.push_back(job + "/" + checkpoint_directory_name(number));
            }
        }
    }
    return foreign;
}

Store::Garbage Store::garbage(std::size_t keep, const std::string &job,
                              const InUse &in_use) const
{
    if (keep < 1) {
        fail("at least one checkpoint must be kept");
    }
    Garbage found;
    std::vector<std::string> names =
        job.empty() ? jobs() : std::vector<std::string>{job};
    for (const std::string &name : names) {
        if (is_job_directory(directory_ / name)) {
            const auto used = in_use.find(name);
            std::vector<Checkpoint> all = checkpoints(name);
            std::ranges::move(garbage_of(all, keep, is_live(name),
                                         used == in_use.end() ? 0 : used->second),
                              std::back_inserter(found.checkpoints));
            std::erase_if(all, [](const Checkpoint &checkpoint) {
                return checkpoint.state != Checkpoint::State::unreadable;
            });
            std::ranges::move(all, std::back_inserter(found.unreadable));
        }
    }
    return found;
}

std::vector<Checkpoint> Store::collect_garbage(std::size_t keep,
                                               const std::string &job) const
{
    std::vector<Checkpoint> removed = garbage(keep, job).checkpoints;
    for (const Checkpoint &checkpoint : removed) {
        remove(checkpoint);
    }
    return removed;
}

void Store::discard(const std::string &job, std::uint64_t end,
                    const std::set<std::uint64_t> &stay) const
{
    std::vector<std::uint64_t> all = numbers(job);
    for (auto number = all.rbegin(); number != all.rend(); ++number) {
        if (*number < end && !stay.contains(*number) &&
            is_own_directory(directory_of(job, *number))) {
            remove(job, *number);
        }
    }
}

} // namespace ckpt
