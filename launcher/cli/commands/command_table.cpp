/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * command.cpp - the program `ckpt`: finds the command and reports errors.
 */
#include "config.h"

#include "cli/base/command.hpp"

#include "cli/commands/completion.hpp"
#include "cli/base/json_text.hpp"
#include "cli/base/options.hpp"
#include "cli/base/program.hpp"
#include "cli/base/usage.hpp"
#include "common/nearest_word.hpp"
#include "common/invariant.hpp"
#include "common/standard_streams.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>

namespace ckpt::cli
{

namespace
{

struct Entry {
    const char *name;
    const char *summary;
    std::unique_ptr<Command> (*make)();
};

constexpr Entry entries[] = {
    {"tune", "Print the file for mpirun --tune", make_tune_command},
    {"run", "Run a job and restart it when it fails", make_run_command},
    {"checkpoint", "Take a checkpoint of a running job",
     make_checkpoint_command},
    {"restart", "Start a job again from a checkpoint", make_restart_command},
    {"swap", "Save a job of ckpt run and free its nodes", make_swap_command},
    {"resume", "Bring back a job that is swapped out", make_resume_command},
    {"migrate", "Move a job of ckpt run off a node", make_migrate_command},
    {"list", "List the checkpoints of a directory", make_list_command},
    {"status", "Show what jobs are doing", make_status_command},
    {"inspect", "Show what a checkpoint holds", make_inspect_command},
    {"trace", "Show or draw what happened during a checkpoint",
     make_trace_command},
    {"verify", "Read a checkpoint and compare all checksums",
     make_verify_command},
    {"gc", "Remove old and unfinished checkpoints", make_gc_command},
};

static_assert(std::ranges::all_of(entries, [](const Entry &entry) {
    return entry.name[0] != '\0' && entry.name[0] != '-' && entry.make != nullptr;
}));

constexpr const char *footer =
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 no such job or "
    "checkpoint,\n4 not possible now. Every option --some-option can be set "
    "as CKPT_SOME_OPTION.\nManual pages: ckpt(1), ckpt(7).";

/* Formats help texts, including the words that may follow "--". */
class Help : public CLI::Formatter
{
  public:
    explicit Help(std::string rest)
        : rest_(std::move(rest)) {}

    std::string make_usage(const CLI::App *app,
                           std::string name) const override
    {
        std::string text = CLI::Formatter::make_usage(app, name);
        if (!rest_.empty()) {
            text.insert(text.find_last_not_of('\n') + 1, " " + rest_);
        }
        return text;
    }

  private:
    std::string rest_;
};

/* Prints the error. json: print a refusal on the standard output, too. */
int report(const std::exception &problem, int status, bool json = false)
{
    const Refusal why = refusal_of(problem);

    std::cerr << "ckpt: " << message_of(problem) << '\n';
    if (!why.empty() && json) {
        const nlohmann::json object = {{"error", why.detail()}, {"refusal", why.name()}};
        std::cout << json_text(object) << std::flush;
    }
    return status;
}

Words command_names()
{
    Words names;
    for (const Entry &entry : entries) {
        names.emplace_back(entry.name);
    }
    return names;
}

/* Gives a better message: CLI11 would only say that a command is missing. */
void require_known_command(const Words &words)
{
    auto word = std::find_if(words.begin(), words.end(),
                             [](const std::string &w) { return !w.starts_with('-'); });
    bool known = word == words.end() ||
                 std::any_of(std::begin(entries), std::end(entries),
                             [&](const Entry &e) { return e.name == *word; });
    if (!known) {
        const std::string meant = suggestion(*word, command_names());
        stop_with(exit_usage, "unknown command '{}'{}", *word,
                  meant.empty() ? "; see ckpt help" : meant);
    }
}

/* "ckpt help COMMAND" is "ckpt COMMAND --help". */
Words without_help_command(const Words &words)
{
    if (words.empty() || words.front() != "help") {
        return words;
    }
    if (words.size() > 2) {
        stop_with(exit_usage, "help: give one command");
    }
    return words.size() == 1 ? Words{"--help"} : Words{words[1], "--help"};
}

/* For `make install`, and for users who install the script by hand. */
int print_completion(const Program &program, const Words &words)
{
    if (words.size() != 2) {
        stop_with(exit_usage, "completion: give the shell: bash or zsh");
    }
    std::cout << completion(program, words[1]) << std::flush;
    return std::cout ? exit_done : exit_failed;
}

/* Returns the command that shows help for the parsed subcommand. */
std::string help_command(const Program &program)
{
    auto parsed = program.app.get_subcommands();
    return parsed.empty() ? "ckpt help" : "ckpt help " + parsed.front()->get_name();
}

/* CLI11 reads the variables of all commands, and would refuse a value that only another command
 * takes. */
void forget_variables_of_others(Program &program, const Words &words)
{
    for (CLI::App *subcommand : program.app.get_subcommands({})) {
        if (std::ranges::find(words, subcommand->get_name()) == words.end()) {
            for (CLI::Option *option : subcommand->get_options()) {
                option->envname("");
            }
        }
    }
}

/* Throws CommandError(exit_usage) for a variable with a wrong value, which is no CLI::ParseError.
 */
void parse(Program &program, const Words &words)
{
    Words reversed(words.rbegin(), words.rend()); /* CLI11's order */
    try {
        program.app.parse(reversed);
    } catch (const Error &problem) {
        stop_with(exit_usage, "{}", problem.what());
    }
}

/* Whether a command was parsed, and it prints JSON. */
bool prints_json(const Program &program)
{
    const auto parsed = program.app.get_subcommands();
    return !parsed.empty() &&
           program.command(*parsed.front()).prints_json();
}

/* Returns the words that follow the options without "--". Throws CLI::ExtrasError if that is not
 * allowed. */
Words following_words(const Program &program)
{
    const CLI::App &subcommand = *program.app.get_subcommands().front();
    const Words words = subcommand.remaining();

    if (!words.empty() && (words.front().starts_with('-') ||
                           !program.command(subcommand).can_omit_dashes())) {
        throw CLI::ExtrasError(words);
    }
    return words;
}

int run_command(Program &program, bool has_rest, const Words &rest)
{
    CKPT_EXPECT(program.commands.size() == std::size(entries));
    Command &command =
        program.command(*program.app.get_subcommands().front());
    if (has_rest && command.rest_usage().empty()) {
        stop_with(exit_usage, "{}: nothing can follow --",
                  program.app.get_subcommands().front()->get_name());
    }
    return command.run(rest);
}

} // namespace

Program::Program()
    : app("Checkpoint and restart of unmodified MPI programs", "ckpt")
{
    app.set_version_flag("--version", "ckpt " PACKAGE_VERSION);
    app.set_help_flag("--help", "Print this help and exit");
    app.require_subcommand(1);
    app.footer(footer);
    for (const Entry &entry : entries) {
        CLI::App *subcommand = app.add_subcommand(entry.name, entry.summary);
        commands.push_back(entry.make());
        commands.back()->declare(*subcommand);
        subcommand->formatter(
            std::make_shared<Help>(commands.back()->rest_usage()));
    }
}

int run_program(const Words &argv)
{
    CKPT_EXPECT(!argv.empty()); /* the first word is the program */
    auto dashes = std::find(argv.begin(), argv.end(), "--");
    bool has_rest = dashes != argv.end();
    Words rest(has_rest ? dashes + 1 : dashes, argv.end());
    Words words(argv.begin() + 1, dashes);

    Program program;
    try {
        hold_standard_streams();
        if (!words.empty() && words.front() == "completion") {
            return print_completion(program, words);
        }
        words = without_help_command(words);
        require_known_command(words);
        forget_variables_of_others(program, words);
        parse(program, words);
        Words following = following_words(program);
        if (!following.empty()) {
            following.insert(following.end(), dashes, argv.end()); /* "--" of the program */
            rest = std::move(following);
            has_rest = true;
        }
        return run_command(program, has_rest, rest);
    } catch (const CLI::Success &request) {
        return program.app.exit(request); /* --help, --version */
    } catch (const CLI::ParseError &problem) {
        std::cerr << "ckpt: " << usage_error(program, words, problem) << '\n';
        std::cerr << "Try '" << help_command(program) << "'.\n";
        return exit_usage;
    } catch (const CommandError &problem) {
        return report(problem, problem.status(), prints_json(program));
    } catch (const std::exception &problem) {
        return report(problem, exit_failed, prints_json(program));
    }
}

} // namespace ckpt::cli
