/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * completion.cpp - completion scripts for bash and zsh.
 */
#include "cli/commands/completion.hpp"

#include "common/invariant.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>

namespace ckpt::cli
{

namespace
{

std::vector<const CLI::App *> commands_of(const Program &program)
{
    return program.app.get_subcommands([](const CLI::App *) { return true; });
}

Words options_of(const CLI::App &command)
{
    Words names;
    for (const CLI::Option *option : command.get_options()) {
        if (!option->get_positional()) {
            names.push_back(option->get_name());
            CKPT_INVARIANT(names.back().starts_with("--")); /* the shells complete no others */
        }
    }
    return names;
}

/* ---- bash ----------------------------------------------------------------------- */

constexpr std::string_view bash_head =
    R"(# Completion of ckpt for bash; made by `ckpt completion bash`.
_ckpt()
{
    local word=${COMP_WORDS[COMP_CWORD]} command= i
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        --) compopt -o default; return ;; # a command of the user's
        -*) ;;
        *) [[ -n $command ]] || command=${COMP_WORDS[i]} ;;
        esac
    done
    local words
    case $command in
)";

constexpr std::string_view bash_tail = R"(    esac
    if [[ -z $command || $command == help || $word == -* ]]; then
        COMPREPLY=($(compgen -W "$words" -- "$word"))
    else
        compopt -o default
    fi
}
complete -F _ckpt ckpt
)";

std::string bash(const Program &program)
{
    std::string text(bash_head);
    Words names;

    for (const CLI::App *command : commands_of(program)) {
        names.push_back(command->get_name());
        text += fmt::format("    {}) words=\"{}\" ;;\n", command->get_name(),
                            fmt::join(options_of(*command), " "));
    }
    text += fmt::format("    help) words=\"{}\" ;;\n", fmt::join(names, " "));
    text += fmt::format("    '') words=\"help {} {}\" ;;\n", fmt::join(names, " "),
                        fmt::join(options_of(program.app), " "));
    return text + std::string(bash_tail);
}

/* ---- zsh ------------------------------------------------------------------------ */

/* Quotes text for a zsh specification: in single quotes, within brackets, between
 * colons. */
std::string zsh_text(const std::string &text)
{
    std::string result;
    for (const char letter : text) {
        if (letter == '\'') {
            result += "'\\''";
        } else if (letter == '[' || letter == ']' || letter == ':' || letter == '\\') {
            result += std::string("\\") + letter;
        } else {
            result += letter;
        }
    }
    return result;
}

std::string zsh_options(const CLI::App &command)
{
    std::string text;
    for (const CLI::Option *option : command.get_options()) {
        if (option->get_positional()) {
            continue;
        }
        const bool has_value = option->get_expected_max() > 0 && option->get_type_size() > 0;
        text += fmt::format(" \\\n            '{}{}[{}]{}'", option->get_name(),
                            has_value ? "=" : "", zsh_text(option->get_description()),
                            has_value ? fmt::format(":{}:_files",
                                                    zsh_text(option->get_type_name()))
                                      : "");
    }
    return text;
}

std::string zsh(const Program &program)
{
    std::string text = "#compdef ckpt\n# Completion of ckpt for zsh; made by `ckpt completion "
                       "zsh`.\n_ckpt()\n{\n    local -a commands\n    commands=(\n"
                       "        'help:Print the help of a command'\n";
    std::string cases;

    for (const CLI::App *command : commands_of(program)) {
        text += fmt::format("        '{}:{}'\n", command->get_name(),
                            zsh_text(command->get_description()));
        cases += fmt::format("    {})\n        _arguments -S{} \\\n            '*:file:_files'\n"
                             "        ;;\n",
                             command->get_name(), zsh_options(*command));
    }
    return text + "    )\n    if (( CURRENT == 2 )); then\n"
                  "        _describe command commands\n        return\n    fi\n"
                  "    local command=$words[2]\n"
                  "    shift words\n    (( CURRENT-- ))\n    case $command in\n"
                  "    help) _describe command commands ;;\n" +
           cases + "    esac\n}\n_ckpt \"$@\"\n";
}

} // namespace

std::string completion(const Program &program, const std::string &shell)
{
    if (shell != "bash" && shell != "zsh") {
        stop_with(exit_usage, "completion: '{}' is neither bash nor zsh", shell);
    }
    return shell == "bash" ? bash(program) : zsh(program);
}

} // namespace ckpt::cli
