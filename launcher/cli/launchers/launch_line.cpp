/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * launch_line.cpp - options of mpirun (Open MPI 4.1 and 5.0), srun and ckpt-launch, with the
 * number of their values.
 */
#include "cli/launchers/launch_line.hpp"

#include "cli/launchers/hydra_options.hpp"
#include "common/invariant.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

namespace ckpt::cli
{

namespace
{

/* Options of mpirun, without dashes, with the number of their values. The two
 * series agree on their common options, except "dvm", which is left out. */
const std::map<std::string_view, std::size_t> open_mpi_options = {
    {"H", 1},
    {"N", 1},
    {"V", 0},
    {"add-host", 1},
    {"add-hostfile", 1},
    {"allow-run-as-root", 0},
    {"am", 1},
    {"amca", 1},
    {"app", 1},
    {"bind-to", 1},
    {"bind-to-core", 0},
    {"bind-to-socket", 0},
    {"bycore", 0},
    {"bynode", 0},
    {"byslot", 0},
    {"c", 1},
    {"cartofile", 1},
    {"cf", 1},
    {"continuous", 0},
    {"cpu-list", 1},
    {"cpu-set", 1},
    {"cpus-per-proc", 1},
    {"cpus-per-rank", 1},
    {"d", 0},
    {"debug", 0},
    {"debug-daemons", 0},
    {"debug-daemons-file", 0},
    {"debug-devel", 0},
    {"debugger", 1},
    {"default-hostfile", 1},
    {"disable-recovery", 0},
    {"display", 1},
    {"display-allocation", 0},
    {"display-comm", 0},
    {"display-devel-map", 0},
    {"display-devel-allocation", 0},
    {"display-diffable-map", 0},
    {"display-map", 0},
    {"display-topo", 0},
    {"do-not-launch", 0},
    {"do-not-resolve", 0},
    {"dvm-hostfile", 1},
    {"enable-instant-on-support", 0},
    {"enable-recovery", 0},
    {"exec-agent", 1},
    {"forward-signals", 1},
    {"fwd-mpirun-port", 0},
    {"get-stack-traces", 0},
    {"gmca", 2},
    {"gomca", 2},
    {"gpu-support", 1},
    {"hnp", 1},
    {"host", 1},
    {"hostfile", 1},
    {"index-argv-by-rank", 0},
    {"initial-errhandler", 1},
    {"keepalive", 1},
    {"launch-agent", 1},
    {"leave-session-attached", 0},
    {"machinefile", 1},
    {"map-by", 1},
    {"max-restarts", 1},
    {"max-vm-size", 1},
    {"mca", 2},
    {"memory", 1},
    {"merge-stderr-to-stdout", 0},
    {"n", 1},
    {"no-prefix", 0},
    {"nolocal", 0},
    {"nooversubscribe", 0},
    {"noprefix", 0},
    {"novm", 0},
    {"np", 1},
    {"npernode", 1},
    {"npersocket", 1},
    {"omca", 2},
    {"ompi-server", 1},
    {"output", 1},
    {"output-directory", 1},
    {"output-filename", 1},
    {"output-proctable", 0},
    {"oversubscribe", 0},
    {"path", 1},
    {"pernode", 0},
    {"personality", 1},
    {"pmixmca", 2},
    {"ppr", 1},
    {"prefix", 1},
    {"preload-binary", 0},
    {"preload-files", 1},
    {"prtemca", 2},
    {"pset", 1},
    {"q", 0},
    {"quiet", 0},
    {"rank-by", 1},
    {"rankfile", 1},
    {"report-bindings", 0},
    {"report-child-jobs-separately", 0},
    {"report-events", 1},
    {"report-pid", 1},
    {"report-state-on-timeout", 0},
    {"report-uri", 1},
    {"rf", 1},
    {"rtos", 1},
    {"runtime-options", 1},
    {"s", 0},
    {"set-cwd-to-session-dir", 0},
    {"show-progress", 0},
    {"spawn-timeout", 1},
    {"stdin", 1},
    {"stream-buffering", 1},
    {"tag-output", 0},
    {"timeout", 1},
    {"timestamp-output", 0},
    {"tune", 1},
    {"tv", 0},
    {"use-hwthread-cpus", 0},
    {"use-regexp", 0},
    {"v", 0},
    {"verbose", 0},
    {"wd", 1},
    {"wdir", 1},
    {"with-ft", 1},
    {"x", 1},
    {"xml", 0},
    {"xml-file", 1},
    {"xterm", 1},
};

/* Canonical names of the options that matter here. */
const std::map<std::string_view, std::string_view> open_mpi_synonyms = {
    {"c", "np"},
    {"n", "np"},
    {"wd", "wdir"},
    {"H", "host"},
};

/* srun: short options with a value, and long options without one. All other
 * long options take a value, after '=' or as the next word. */
constexpr std::string_view srun_letters_with_value =
    "ABCDEGJLMNSTUWacdeikmnopqrtwx";
const std::set<std::string_view> srun_flags = {
    "contiguous",
    "disable-status",
    "exact",
    "exclusive",
    "kill-on-bad-exit",
    "label",
    "no-kill",
    "overcommit",
    "overlap",
    "oversubscribe",
    "preserve-env",
    "pty",
    "quiet",
    "reboot",
    "spread-job",
    "unbuffered",
    "use-min-nodes",
    "verbose",
    "wait-all-nodes",
};
const std::map<std::string_view, std::string_view> srun_synonyms = {
    {"n", "np"},
    {"ntasks", "np"},
};

/* ckpt-launch; all options take a value (launch/launch_options.hpp). */
const std::set<std::string_view> ckpt_options = {"bind-to", "n", "np", "pmix", "wdir", "x"};

std::string one_name(
    const std::map<std::string_view, std::string_view> &synonyms,
    std::string_view name)
{
    auto found = synonyms.find(name);
    return std::string(found != synonyms.end() ? found->second : name);
}

std::string_view without_dashes(std::string_view word)
{
    CKPT_EXPECT(!word.empty());
    word.remove_prefix(1);
    if (word.starts_with('-')) {
        word.remove_prefix(1);
    }
    return word;
}

/* Takes the `count` values that follow word `at`; returns nothing if there are
 * too few words. */
std::optional<LaunchOption> take(const Words &words, std::size_t at,
                                 std::size_t count, std::string name)
{
    CKPT_EXPECT(at < words.size());
    if (words.size() - at - 1 < count) {
        return std::nullopt;
    }
    auto first = words.begin() + static_cast<std::ptrdiff_t>(at);
    auto end = first + 1 + static_cast<std::ptrdiff_t>(count);
    return LaunchOption{std::move(name), {first + 1, end}, {first, end}};
}

/* Takes the option at words[at]; returns nothing if it is unknown. */
std::optional<LaunchOption> take_open_mpi(const Words &words, std::size_t at)
{
    std::string_view name = without_dashes(words[at]);
    auto known = open_mpi_options.find(name);
    if (known != open_mpi_options.end()) {
        return take(words, at, known->second,
                    one_name(open_mpi_synonyms, name));
    }
    std::size_t equals = name.find('='); /* Open MPI 5 accepts --name=value */
    known = open_mpi_options.find(name.substr(0, equals));
    if (equals == name.npos || known == open_mpi_options.end() ||
        known->second == 0) {
        return std::nullopt;
    }
    auto option = take(words, at, known->second - 1,
                       one_name(open_mpi_synonyms, known->first));
    if (option) {
        option->values.insert(option->values.begin(),
                              std::string(name.substr(equals + 1)));
    }
    return option;
}

std::optional<LaunchOption> take_srun(const Words &words, std::size_t at)
{
    const std::string &word = words[at];
    std::string_view name = without_dashes(word);
    if (word.starts_with("--")) {
        std::size_t equals = name.find('=');
        std::string unique = one_name(srun_synonyms, name.substr(0, equals));
        if (equals != name.npos) {
            return LaunchOption{
                unique, {std::string(name.substr(equals + 1))}, {word}};
        }
        return take(words, at, srun_flags.contains(name) ? 0 : 1, unique);
    }
    std::string unique = one_name(srun_synonyms, name.substr(0, 1));
    if (srun_letters_with_value.find(name[0]) == name.npos) {
        return LaunchOption{unique, {}, {word}};
    }
    if (name.size() > 1) { /* value in the same word: -n4 */
        return LaunchOption{unique, {std::string(name.substr(1))}, {word}};
    }
    return take(words, at, 1, unique);
}

std::optional<LaunchOption> take_hydra(const Words &words, std::size_t at)
{
    std::string_view name = without_dashes(words[at]);
    auto count = hydra_value_count(
        name, at + 1 < words.size() ? words[at + 1] : std::string_view());
    if (!count) {
        return std::nullopt;
    }
    return take(words, at, *count, std::string(hydra_name(name)));
}

std::optional<LaunchOption> take_ckpt(const Words &words, std::size_t at)
{
    const std::string_view name = without_dashes(words[at]);

    if (!ckpt_options.contains(name)) {
        return std::nullopt;
    }
    return take(words, at, 1, one_name(open_mpi_synonyms, name));
}

std::optional<LaunchOption> take_option(Launcher launcher, const Words &words,
                                        std::size_t at)
{
    switch (launcher) {
    case Launcher::open_mpi:
        return take_open_mpi(words, at);
    case Launcher::hydra:
        return take_hydra(words, at);
    case Launcher::slurm:
        return take_srun(words, at);
    case Launcher::ckpt:
        return take_ckpt(words, at);
    case Launcher::other:
        break;
    }
    return std::nullopt;
}

bool looks_like_option(const std::string &word)
{
    return word.size() > 1 && word[0] == '-';
}

/* Returns where the application's argv begins at the end of `words`, or
 * npos. */
std::size_t tail_position(const Words &words, const Words &application)
{
    if (application.empty() || application.size() > words.size() ||
        !std::equal(application.rbegin(), application.rend(),
                    words.rbegin())) {
        return std::string::npos;
    }
    return words.size() - application.size();
}

} // namespace

const LaunchOption *LaunchLine::find(const std::string &name) const
{
    auto found = std::find_if(
        options.begin(), options.end(),
        [&](const LaunchOption &option) { return option.name == name; });
    return found != options.end() ? &*found : nullptr;
}

void LaunchLine::remove(const std::string &name)
{
    std::erase_if(options, [&](const LaunchOption &option) {
        return option.name == name;
    });
}

LaunchLine parse_launch_line(const Words &command, const Words &application)
{
    LaunchLine line;
    if (command.empty()) {
        stop_with(exit_usage, "there is no command to start");
    }
    line.program = command[0];
    line.launcher = launcher_of(line.program);

    std::size_t tail = tail_position(command, application);
    std::size_t at = 1;
    while (at < command.size() && looks_like_option(command[at])) {
        auto option = take_option(line.launcher, command, at);
        if (!option && tail != std::string::npos && tail > at) {
            /* unknown option: its values extend to the start of the
             * application */
            option = take(command, at, tail - at - 1, "");
        }
        if (!option) {
            stop_with(exit_usage,
                      "the launcher's option {} is not known to ckpt",
                      command[at]);
        }
        CKPT_INVARIANT(!option->words.empty() && option->words.size() <= command.size() - at);
        at += option->words.size();
        line.options.push_back(std::move(*option));
    }
    line.application.assign(
        command.begin() + static_cast<std::ptrdiff_t>(at), command.end());
    line.several_programs =
        (line.launcher == Launcher::open_mpi ||
         line.launcher == Launcher::hydra) &&
        (line.find("app") != nullptr || line.find("configfile") != nullptr ||
         std::find(line.application.begin(), line.application.end(), ":") !=
             line.application.end());
    return line;
}

std::vector<LaunchOption> parse_launch_options(Launcher launcher,
                                               const Words &words)
{
    std::vector<LaunchOption> options;
    for (std::size_t at = 0; at < words.size();
         at += options.back().words.size()) {
        if (!looks_like_option(words[at])) {
            stop_with(exit_usage,
                      "{} is not an option of the launcher; only options can "
                      "follow --, the program is that of the checkpoint",
                      words[at]);
        }
        auto option = take_option(launcher, words, at);
        if (!option) { /* unknown: its values extend to the next option */
            auto end = std::find_if(
                words.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                words.end(), looks_like_option);
            auto next = static_cast<std::size_t>(end - words.begin());
            option = take(words, at, next - at - 1, "");
        }
        CKPT_INVARIANT(option && !option->words.empty());
        options.push_back(std::move(*option));
    }
    return options;
}

void add_pmix(LaunchLine &line)
{
    if (line.find("mpi") == nullptr) {
        line.options.push_back({"mpi", {"pmix"}, {"--mpi=pmix"}});
    }
}

Words join_launch_line(const LaunchLine &line)
{
    Words words = {line.program};
    for (const LaunchOption &option : line.options) {
        words.insert(words.end(), option.words.begin(), option.words.end());
    }
    words.insert(words.end(), line.application.begin(),
                 line.application.end());
    return words;
}

} // namespace ckpt::cli
