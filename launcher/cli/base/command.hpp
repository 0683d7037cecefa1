/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * command.hpp - the interface of all `ckpt` commands: options, run(), and exit
 * codes.
 */
#pragma once

#include "common/error.hpp"
#include "common/refusal.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

/* Forward declaration: CLI/CLI.hpp takes seconds to compile; see
 * options.hpp. */
namespace CLI
{
class App;
}

namespace ckpt::cli
{

using Words = std::vector<std::string>;

/* Exit codes, as documented in the manual pages. */
enum Exit : int {
    exit_done = 0,
    exit_failed = 1,    /* the operation was attempted and failed */
    exit_usage = 2,     /* the command line is invalid */
    exit_not_found = 3, /* no such job or checkpoint */
    exit_refused = 4,   /* not possible now; nothing was changed */
    exit_resume = 75,   /* ended early, to be resumed (EX_TEMPFAIL) */
};

/* An error that determines the exit code of the program. Refusals: see stop_refused(). */
class CommandError : public Error
{
  public:
    /* identity: only for exit_refused. */
    CommandError(Exit status, const std::string &text,
                 ckpt_refusal identity = CKPT_REFUSAL_NONE)
        : Error(text, 0, identity), status_(status)
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

/* Ends the program with exit_refused: the request is not possible now. */
[[noreturn]] inline void stop_refused(const Refusal &why)
{
    throw CommandError(exit_refused, why.detail(), why.identity());
}

template <typename... Args>
[[noreturn]] void stop_refused(ckpt_refusal identity, fmt::format_string<Args...> format,
                               Args &&...args)
{
    stop_refused({identity, fmt::format(format, std::forward<Args>(args)...)});
}

class Command
{
  public:
    virtual ~Command() = default;

    virtual void declare(CLI::App &app) = 0;
    /* rest: the words after "--". Returns the exit code. Throws Error. */
    virtual int run(const Words &rest) = 0;
    /* Whether run() was asked for JSON. Then a refusal is printed as JSON as well. */
    virtual bool prints_json() const { return false; }
    /* Returns how help texts call the words after "--"; "" if no words are
     * allowed. */
    virtual std::string rest_usage() const { return ""; }
    /* Whether the parsed options allow that the words follow without "--". */
    virtual bool can_omit_dashes() const { return false; }
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

/* Runs the whole program; argv includes argv[0]. Returns the exit code. */
int run_program(const Words &argv);

} // namespace ckpt::cli
