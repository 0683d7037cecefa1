/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * command.hpp - what every `ckpt` command has: options, a way to run, an exit
 * code.
 *
 * Every option --some-option can also be given by the environment variable
 * CKPT_SOME_OPTION; the command line wins.
 */
#pragma once

#include "common/error.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ckpt::cli
{

using Words = std::vector<std::string>;

/* Exit codes, as the manual pages give them. */
enum Exit : int {
    exit_done = 0,
    exit_failed = 1,    /* the operation was tried and failed */
    exit_usage = 2,     /* the command line makes no sense */
    exit_not_found = 3, /* no such job or checkpoint */
    exit_refused = 4,   /* not possible now; nothing was changed */
    exit_resume = 75,   /* ended before its time, to be resumed (EX_TEMPFAIL) */
};

/* An error that decides the exit code as well. */
class CommandError : public Error
{
  public:
    CommandError(Exit status, const std::string &text)
        : Error(text), status_(status)
    {
    }

    Exit status() const noexcept { return status_; }

  private:
    Exit status_;
};

template <typename... Args>
[[noreturn]] void stop_with(Exit status, fmt::format_string<Args...> format,
                            Args &&...args)
{
    throw CommandError(status,
                       fmt::format(format, std::forward<Args>(args)...));
}

class Command
{
  public:
    virtual ~Command() = default;

    virtual void declare(CLI::App &app) = 0;
    /* rest: the words after "--". Returns the exit code. Throws Error. */
    virtual int run(const Words &rest) = 0;
    /* How the words after "--" are called; "" if there must be none. */
    virtual std::string rest_usage() const { return ""; }
};

std::unique_ptr<Command> make_checkpoint_command();
std::unique_ptr<Command> make_gc_command();
std::unique_ptr<Command> make_inspect_command();
std::unique_ptr<Command> make_list_command();
std::unique_ptr<Command> make_migrate_command();
std::unique_ptr<Command> make_restart_command();
std::unique_ptr<Command> make_resume_command();
std::unique_ptr<Command> make_run_command();
std::unique_ptr<Command> make_status_command();
std::unique_ptr<Command> make_swap_command();
std::unique_ptr<Command> make_trace_command();
std::unique_ptr<Command> make_tune_command();
std::unique_ptr<Command> make_verify_command();

/* "--some-option" to "CKPT_SOME_OPTION". */
std::string environment_name(std::string_view option);

template <typename T>
CLI::Option *add_option(CLI::App &app, const std::string &name, T &value,
                        const std::string &text)
{
    return app.add_option(name, value, text)->envname(environment_name(name));
}

CLI::Option *add_flag(CLI::App &app, const std::string &name, bool &value,
                      const std::string &text);

/* --dir, which most commands have. */
void add_directory_option(CLI::App &app, std::string &directory);
inline constexpr const char *default_directory = "./ckpt";

/* All commands, ready to parse; `commands` are in the order of the
 * subcommands of `app`. */
struct Program {
    Program();

    CLI::App app;
    std::vector<std::unique_ptr<Command>> commands;
};

/* The whole program; argv[0] included. Returns the exit code. */
int run_program(const Words &argv);

} // namespace ckpt::cli
