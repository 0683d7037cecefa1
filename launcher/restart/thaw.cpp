/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * thaw.cpp - the part outside the copy: descriptions, obstacles, descriptors, orders.
 *
 * The copy cannot make its descriptors again: that takes libc. So this program makes them, with the
 * code of a restart, and passes them.
 */
#include "config.h"
#include "restart/thaw.hpp"

#include "common/durations.hpp"
#include "common/error.hpp"
#include "common/fault_injection.hpp"
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
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace ckpt::restart
{

namespace
{

/* Descriptors that the agent gives. */
constexpr int connection_of_copy = 3;
constexpr int connection_of_rank = 4; /* with --stand: connection to the agent, which brings it */

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
    Fd rank;    /* empty until a copy that stands is to live */
    Fd control; /* connection to the agent for a copy that stands; otherwise empty */
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
    require_thawable(image, payloads, command.pid, command.is_replayed);
    if (fault_strikes("copy-refuses")) {
        refuse(CKPT_REFUSAL_INTERNAL_ERROR, "an injected fault");
    }
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

/* ---- A copy that stands first ---------------------------------------------------- */

/* Opens a file that holds the number of each descriptor of the program, so that the MPI library
 * does not take it. What the library says goes to this program's standard error. */
void hold_numbers(const RankImage &image)
{
    const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!null) {
        fail_errno(errno, "/dev/null cannot be opened");
    }
    for (int stream = 0; stream <= STDERR_FILENO; stream++) {
        if (::fcntl(stream, F_GETFD) < 0 && ::dup2(null.get(), stream) < 0) {
            fail_errno(errno, "descriptor {} cannot be held", stream);
        }
    }
    for (const ckpt_file &file : image.files) {
        if (file.descriptor != STDERR_FILENO && ::dup2(null.get(), file.descriptor) < 0) {
            fail_errno(errno, "descriptor {} cannot be held", file.descriptor);
        }
    }
}

/* The standard streams stay, so that no other descriptor gets their numbers. */
void release_numbers(const RankImage &image)
{
    for (const ckpt_file &file : image.files) {
        if (file.descriptor > STDERR_FILENO) {
            ::close(file.descriptor);
        }
    }
}

/* Tells the agent that the copy stands, or why it does not. Returns 0 or errno. */
int tell(int control, const Refusal &why = {})
{
    const std::string text = why.empty() ? std::string() : why.detail() + '\0';
    ckpt_copy_order said{};

    said.type = why.empty() ? CKPT_COPY_STANDING : CKPT_COPY_REFUSED;
    said.value = static_cast<std::uint64_t>(why.identity());
    return send_copy_packet(control, said, std::as_bytes(std::span(text)), {});
}

/* Waits for GO of the agent. Takes the standard streams, and the connection of the rank. Returns
 * false if the agent does not need the copy. */
bool await_go(int first_free, Given &given)
{
    auto packet = receive_copy_packet(given.control.get());
    if (!packet) {
        return false;
    }
    if (packet->order.type != CKPT_COPY_GO || packet->descriptors.empty()) {
        refuse(CKPT_REFUSAL_INTERNAL_ERROR, "the agent gives the order {} to a copy that stands",
               packet->order.type);
    }
    given.rank = lift(packet->descriptors[0].get(), first_free);
    std::vector<Fd> lifted;
    for (std::size_t i = 1; i < packet->descriptors.size(); i++) {
        lifted.push_back(lift(packet->descriptors[i].get(), first_free));
    }
    auto stream = lifted.begin();
    for (int number = 0; number <= STDERR_FILENO; number++) {
        ::close(number);
        if ((packet->order.value >> number & 1) == 0) {
            continue;
        }
        CKPT_EXPECT(stream != lifted.end());
        if (::dup2(stream->get(), number) < 0) {
            fail_errno(errno, "standard stream {} cannot be taken", number);
        }
        ++stream;
    }
    return true;
}

/* Brings the copy to stand. */
void make_stand(const ThawCommand &command, const RankImage &image, int first_free,
                const CopyConnection &copy)
{
    copy.prepare(command.snapshot);
    const Fd directory = open_directory(image, command.pid, first_free);
    const Fd environment = environment_file(first_free);
    hold_numbers(image);
    copy.pass(descriptors_of(image, -1), first_free);
    copy.stand({environment.get(), directory.get(), command.checkpoint});
    release_numbers(image);
    copy.await_standing();
}

/* Brings the copy to stand, and at the agent's order to life. */
void stand_first(const ThawCommand &command, Given &given)
{
    auto [image, payloads] = describe(command);
    require_thawable(image, payloads, command.pid, command.is_replayed);
    aim_at_copy(image, command.pid);
    raise_descriptor_limit();
    const int first_free = first_free_descriptor(image);
    given.control = lift(given.control.get(), first_free);
    const CopyConnection copy(lift(std::exchange(given.copy, {}).get(), first_free));
    make_stand(command, image, first_free, copy);
    if (tell(given.control.get()) != 0 || !await_go(first_free, given)) {
        return;
    }
    const auto started = static_cast<std::uint64_t>(now_nanoseconds());
    /* Files may have changed meanwhile. */
    require_thawable(image, payloads, command.pid, command.is_replayed);
    const Fd directory = open_directory(image, command.pid, first_free);
    const std::vector<int> kept = {given.rank.get(), copy.descriptor(), directory.get(),
                                   given.control.get()};
    make_descriptors(image, payloads, kept);
    copy.pass(descriptors_of(image, -1), first_free);
    copy.go(given.rank.get(), directory.get(), started);
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
    command.is_to_stand = words.size() == 8 && words[7] == "--stand";
    command.is_replayed = words.size() == 8 && words[7] == "--replay";
    const bool is_whole = words.size() == (command.is_to_stand || command.is_replayed ? 8 : 7);
    if (!is_whole || words[1] != "--thaw" || words[3] != "--snapshot" || words[5] != "--name" ||
        !parse(words[2], 10, command.pid) || !words[4].starts_with("0x") ||
        !parse(words[4].substr(2), 16, command.snapshot)) {
        return std::nullopt;
    }
    command.checkpoint = words[6];
    return command;
}

int thaw(const ThawCommand &command, std::uint64_t started)
{
    Given given = {lift(connection_of_copy, connection_of_rank + 1),
                   lift(connection_of_rank, connection_of_rank + 1), Fd()};
    try {
        if (command.is_to_stand) {
            given.control = std::exchange(given.rank, {});
            stand_first(command, given);
        } else {
            bring_to_life(command, started, given);
        }
        return 0;
    } catch (const std::exception &error) {
        const Refusal why = refusal_of(error, CKPT_REFUSAL_SYSTEM_ERROR);
        const bool is_told = given.rank ? report(given.rank.get(), why)
                                        : tell(given.control.get(), why) == 0;
        if (!is_told) {
            fmt::print(stderr, "ckpt-restart: the copy {}: {}\n", command.pid, why.text());
        }
        return 1;
    }
}

} // namespace ckpt::restart
