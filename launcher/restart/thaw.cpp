/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thaw.cpp - the part outside the copy: descriptions, obstacles, descriptors, orders.
 *
 * The copy cannot make its descriptors again: that takes libc. So this program makes them, with the
 * code of a restart, and passes them.
 */
#include "config.h"
#include "restart/thaw.hpp"

#include "common/error.hpp"
#include "common/fd.hpp"
#include "common/invariant.hpp"
#include "common/refusal.hpp"
#include "image/memory/remote_memory.hpp"
#include "image/memory/stopped_process.hpp"
#include "restart/copy_connection.hpp"
#include "restart/launcher_channel.hpp"
#include "restart/saved_payloads.hpp"
#include "restart/surroundings.hpp"
#include "restart/thaw_obstacles.hpp"

#include "ckpt/messages.h"

extern "C" {
#include "files/files.h"
}

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <exception>
#include <string_view>
#include <utility>
#include <vector>

namespace ckpt::restart
{

namespace
{

/* Descriptors that the agent gives. */
constexpr int connection_of_copy = 3;
constexpr int connection_of_rank = 4;

/* ---- The command line ------------------------------------------------------------- */

template <typename Number>
bool parse(std::string_view text, int base, Number &number)
{
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    return error == std::errc() && end == text.data() + text.size() && number > 0;
}

/* ---- What the copy needs ----------------------------------------------------------- */

/* Moves an own descriptor above those of the program, close-on-exec. */
Fd lift(int fd, int first_free)
{
    Fd lifted(::fcntl(fd, F_DUPFD_CLOEXEC, first_free));
    if (!lifted) {
        fail_errno(errno, "descriptor {} cannot be moved", fd);
    }
    return lifted;
}

/* The program may have had more descriptors than this process may have at first. */
void raise_descriptor_limit()
{
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) {
            fail_errno(errno, "the limit of descriptors cannot be raised");
        }
    }
}

/* Returns the working directory, as a descriptor above those of the program. */
Fd open_directory(const RankImage &image, pid_t pid, int first_free)
{
    const std::string saved = image.text(image.snapshot.working_directory);
    const std::string missing = enter_working_directory(saved);
    if (!missing.empty()) {
        refuse(CKPT_REFUSAL_CHANGED_FILE, "the working directory {} cannot be entered: {}", missing,
               std::strerror(errno));
    }
    const std::string path = saved.empty() ? fmt::format("/proc/{}/cwd", pid) : ".";
    const Fd directory(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!directory) {
        fail_errno(errno, "the working directory {} cannot be opened", saved);
    }
    return lift(directory.get(), first_free);
}

/* Returns a memory file with this process's environment, as the copy reads it. */
Fd environment_file(int first_free)
{
    std::string settings;
    for (char **setting = environ; *setting != nullptr; ++setting) {
        settings.append(*setting).push_back('\0');
    }
    if (settings.size() > CKPT_COPY_ENVIRONMENT_MOST) {
        refuse(CKPT_REFUSAL_TOO_MANY_OBJECTS, "the environment has more than {} bytes",
               CKPT_COPY_ENVIRONMENT_MOST);
    }
    const Fd file(::memfd_create("ckpt-environment", MFD_CLOEXEC));
    if (!file || ::write(file.get(), settings.data(), settings.size()) !=
                     static_cast<ssize_t>(settings.size())) {
        fail_errno(errno, "the environment cannot be written to a memory file");
    }
    return lift(file.get(), first_free);
}

/* Files of the process below /proc are those of the copy, not of this program. */
void aim_at_copy(RankImage &image, pid_t pid)
{
    constexpr std::string_view self = "/proc/self";
    for (ckpt_file &file : image.files) {
        const std::string path = image.text(file.path);
        if (file.kind == CKPT_FILE_PROCESS && path.starts_with(self) &&
            (file.value & (CKPT_PROCESS_FILE_GONE | CKPT_PROCESS_FILE_LATE)) == 0) {
            const std::string there = fmt::format("/proc/{}{}", pid, path.substr(self.size()));
            file.path = static_cast<ckpt_string_t>(image.strings.size());
            image.strings.insert(image.strings.end(), there.begin(), there.end());
            image.strings.push_back('\0');
        }
    }
}

const void *find_payload(void *payloads, std::uint64_t address, std::uint64_t size)
{
    return static_cast<SavedPayloads *>(payloads)->find(address, size);
}

void forget_payload(void *payloads, std::uint64_t address, std::uint64_t)
{
    static_cast<SavedPayloads *>(payloads)->forget(address);
}

/* Makes the descriptors in this process, under their numbers; closes all others but `kept`. */
void make_descriptors(const RankImage &image, SavedPayloads &payloads,
                      const std::vector<int> &kept)
{
    ckpt_failure failure = {};
    const ckpt_saved_files saved = {.files = image.files.data(),
                                    .count = image.files.size(),
                                    .strings = image.strings.data(),
                                    .payload = find_payload,
                                    .written = forget_payload,
                                    .argument = &payloads,
                                    .given = nullptr,
                                    .given_count = 0};
    ::umask(static_cast<mode_t>(image.snapshot.umask));
    const int error = ckpt_files_restore(&saved, kept.data(), kept.size(), &failure);
    if (error != 0) {
        throw Error(failure.text, -error, failure.identity);
    }
}

/* Lists the descriptors that the copy gets. channel: the launcher's, or -1. */
std::vector<ckpt_copy_descriptor> descriptors_of(const RankImage &image, int channel)
{
    std::vector<ckpt_copy_descriptor> list;
    for (const ckpt_file &file : image.files) {
        list.push_back({file.descriptor, file.descriptor_flags});
    }
    if (channel >= 0) {
        list.push_back({channel, FD_CLOEXEC});
    }
    CKPT_INVARIANT(std::ranges::all_of(list, [](const auto &one) { return one.number >= 0; }));
    return list;
}

/* ---- All of it --------------------------------------------------------------------- */

/* The descriptors that this program was given. */
struct Given {
    Fd copy;
    Fd rank;
};

/* The description of the copy, and what it needs of the copy's memory. */
struct Description {
    RankImage image;
    SavedPayloads payloads;
};

Description describe(const ThawCommand &command)
{
    const RemoteMemory memory(command.pid);
    RankImage image = read_description(memory, command.snapshot, "the copy of the rank");
    SavedPayloads payloads(image, memory);
    return {std::move(image), std::move(payloads)};
}

void bring_to_life(const ThawCommand &command, std::uint64_t started, Given &given)
{
    auto [image, payloads] = describe(command);
    require_thawable(image, payloads, command.pid);
    aim_at_copy(image, command.pid);
    raise_descriptor_limit();
    const int first_free = first_free_descriptor(image);
    given.rank = lift(given.rank.get(), first_free);
    Fd connection = lift(given.copy.get(), first_free);
    const int number = connection.get();
    const CopyConnection copy(std::move(connection));
    copy.prepare(command.snapshot);
    const Fd directory = open_directory(image, command.pid, first_free);
    const int channel = lift_launcher_channel(first_free);
    const Fd environment = environment_file(first_free);
    std::vector<int> kept = {given.rank.get(), number, directory.get(), environment.get()};
    if (channel >= 0) {
        kept.push_back(channel);
    }
    make_descriptors(image, payloads, kept);
    copy.pass(descriptors_of(image, channel), 1 + std::ranges::max(kept));
    copy.thaw({environment.get(), given.rank.get(), directory.get(), started, command.checkpoint});
}

/* Tells the agent, as a rank would. Returns whether it was possible. */
bool report(int connection, const Refusal &refusal)
{
    ckpt_message message{};
    const char *wrong = nullptr;
    message.type = CKPT_MSG_REFUSED;
    message.as.refused.identity = static_cast<std::uint64_t>(refusal.identity());
    refusal.detail().copy(message.text, sizeof message.text - 1);
    return ckpt_message_encode(&message, CKPT_FROM_RANK, &wrong) == 0 &&
           ::send(connection, &message, sizeof message, MSG_NOSIGNAL) ==
               static_cast<ssize_t>(sizeof message);
}

} // namespace

std::optional<ThawCommand> thaw_command(int argc, char **argv)
{
    ThawCommand command;
    const std::vector<std::string_view> words(argv, argv + argc);
    if (words.size() != 7 || words[1] != "--thaw" || !parse(words[2], 10, command.pid) ||
        words[3] != "--snapshot" || !words[4].starts_with("0x") ||
        !parse(words[4].substr(2), 16, command.snapshot) || words[5] != "--name") {
        return std::nullopt;
    }
    command.checkpoint = words[6];
    return command;
}

int thaw(const ThawCommand &command, std::uint64_t started)
{
    Given given = {lift(connection_of_copy, connection_of_rank + 1),
                   lift(connection_of_rank, connection_of_rank + 1)};
    try {
        bring_to_life(command, started, given);
        return 0;
    } catch (const std::exception &error) {
        const Refusal why = refusal_of(error, CKPT_REFUSAL_SYSTEM_ERROR);
        if (!report(given.rank.get(), why)) {
            fmt::print(stderr, "ckpt-restart: the copy {}: {}\n", command.pid, why.text());
        }
        return 1;
    }
}

} // namespace ckpt::restart
