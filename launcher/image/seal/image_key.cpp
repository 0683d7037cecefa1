/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * image_key.cpp - reads the key of this process from a file or from a command.
 */
#include "config.h"
#include "image/seal/image_key.hpp"

#include "common/error.hpp"
#include "common/fd.hpp"
#include "common/files/files.hpp"
#include "common/invariant.hpp"

#include <sodium.h>

#include <fcntl.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace ckpt
{

namespace
{

constexpr char command_mark = '|';
constexpr const char *what = "key";
constexpr const char *how_to_make = "make one with: (umask 077; openssl rand -hex 32 >FILE)";

/* A key with its line end, and one more byte, so that longer input is recognised as
 * invalid. */
using Text = std::array<char, 2 * MessageKey::size + 3>;
/* A text that is one character too long for digits and line end can be told from a whole one. */
static_assert(std::tuple_size_v<Text> > 2 * MessageKey::size + 2);

std::optional<MessageKey> &place_of_key()
{
    static std::optional<MessageKey> key;
    return key;
}

bool is_command(const std::string &source)
{
    CKPT_EXPECT(!source.empty());
    return source.front() == command_mark;
}

/* Reads until the end of the input or until `text` is full. Throws Error. */
std::size_t read_text(int fd, Text &text, const std::string &source)
{
    std::size_t size = 0;
    while (size < text.size()) {
        const ssize_t got = ::read(fd, &text[size], text.size() - size);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            fail_errno(errno, "cannot read the key {}", source);
        }
        if (got == 0) {
            break;
        }
        size += static_cast<std::size_t>(got);
    }
    return size;
}

/* Throws unless only the owner can read the file. */
void require_secret(int fd, const std::string &path)
{
    struct stat status;
    if (::fstat(fd, &status) < 0) {
        fail_errno(errno, "cannot read the key {}", path);
    }
    if (!S_ISREG(status.st_mode)) {
        fail("the key {} is not a regular file", path);
    }
    if (status.st_uid != ::geteuid() && status.st_uid != 0) {
        fail("the key {} belongs to uid {}, not to you (uid {})", path, status.st_uid,
             ::geteuid());
    }
    if ((status.st_mode & 077) != 0) {
        fail("the key {} can be read or written by others (mode {:04o}): make another one, and "
             "give its file mode 0600",
             path, status.st_mode & 07777);
    }
}

std::size_t read_file(const std::string &path, Text &text)
{
    /* O_NONBLOCK: opening a pipe would block; require_secret() refuses it. */
    const Fd file = open_file(path, O_RDONLY | O_NONBLOCK, 0, what);
    require_secret(file.get(), path);
    return read_text(file.get(), text, path);
}

pid_t start(const std::string &command, int output)
{
    const char *words[] = {"/bin/sh", "-c", command.c_str(), nullptr};
    posix_spawn_file_actions_t actions;
    pid_t pid = 0;
    int error = ::posix_spawn_file_actions_init(&actions);
    if (error == 0) {
        error = ::posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
        if (error == 0) {
            error = ::posix_spawn(&pid, words[0], &actions, nullptr,
                                  const_cast<char *const *>(words), environ);
        }
        ::posix_spawn_file_actions_destroy(&actions);
    }
    if (error != 0) {
        fail_errno(error, "cannot execute the command of the key, '{}'", command);
    }
    return pid;
}

/* Throws unless the process exits with code 0. */
void await(pid_t pid, const std::string &command)
{
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR) {
            fail_errno(errno, "cannot tell how the command of the key has ended, '{}'", command);
        }
    }
    if (WIFSIGNALED(status)) {
        fail("the command of the key, '{}', was ended by signal {}", command, WTERMSIG(status));
    }
    if (WEXITSTATUS(status) != 0) {
        fail("the command of the key, '{}', has failed with code {}", command,
             WEXITSTATUS(status));
    }
}

std::size_t read_command(const std::string &command, Text &text)
{
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) < 0) {
        fail_errno(errno, "cannot make a pipe");
    }
    const Fd output(ends[0]);
    Fd input(ends[1]);
    const pid_t pid = start(command, input.get());
    input.reset();
    std::size_t size = 0;
    try {
        size = read_text(output.get(), text, command);
    } catch (const Error &) {
        await(pid, command);
        throw;
    }
    const std::size_t read = size;
    Text rest;
    /* Read all output, so that the command does not die of SIGPIPE. */
    while (size == rest.size()) {
        size = read_text(output.get(), rest, command);
    }
    sodium_memzero(rest.data(), rest.size());
    await(pid, command);
    return read;
}

/* Removes the line end. */
std::string_view trimmed(std::string_view text)
{
    if (text.ends_with('\n')) {
        text.remove_suffix(1);
    }
    if (text.ends_with('\r')) {
        text.remove_suffix(1);
    }
    return text;
}

} // namespace

void use_image_key(const std::string &source)
{
    Text text{};

    place_of_key().reset();
    if (source.empty()) {
        return;
    }
    const std::size_t size =
        is_command(source) ? read_command(source.substr(1), text) : read_file(source, text);
    auto key = MessageKey::parse(trimmed({text.data(), size}));
    sodium_memzero(text.data(), text.size());
    if (!key) {
        fail("{} has no key: that is {} hexadecimal digits; {}", source, 2 * MessageKey::size,
             how_to_make);
    }
    place_of_key() = key;
}

std::string key_source_of_environment()
{
    const char *source = std::getenv(key_variable);
    return source != nullptr ? source : "";
}

std::string absolute_key_source(const std::string &source)
{
    return source.empty() || is_command(source)
               ? source
               : std::filesystem::absolute(source).lexically_normal().string();
}

const std::optional<MessageKey> &image_key()
{
    return place_of_key();
}

void use_this_image_key(const std::optional<MessageKey> &key)
{
    place_of_key() = key;
}

std::string name_of_key(const MessageKey &key)
{
    CKPT_INVARIANT(key.text().size() == 2 * MessageKey::size);
    return key.derive("ckpt name of the key").text().substr(0, 16);
}

} // namespace ckpt
