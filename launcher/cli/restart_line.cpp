/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * restart_line.cpp - puts the restart program in the place of the application.
 */
#include "cli/restart_line.hpp"

#include "ckpt/journal.h"
#include "cli/file_rollback.hpp"
#include "cli/other_launcher.hpp"
#include "cli/tune_file.hpp"
#include "gather/gathering.hpp"

#include "ckpt/input.h"

#include <CLI/StringTools.hpp>

#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>

namespace fs = std::filesystem;

namespace ckpt::cli
{

namespace
{

/* Settings that belong to one launch, or to one command, and so are not handed
 * on to the restarted job. */
const std::set<std::string> not_inherited = {
    "CKPT_ALONE", "CKPT_BACK_OFF", "CKPT_FILES", CKPT_JOURNAL_VARIABLE, "CKPT_INCARNATION", "CKPT_MIN_NODES", "CKPT_OWNER", "CKPT_SPARES",
    "CKPT_SUPERVISOR", "CKPT_SWAP_SIGNAL", "CKPT_MIGRATE_SIGNAL", "CKPT_NODES_FILE",
    "CKPT_DIR",   "CKPT_DRY_RUN", "CKPT_FAULT",        "CKPT_FORCE", "CKPT_FROM", "CKPT_TO",
    "CKPT_APPEND", "CKPT_GATHER", "CKPT_LEVELS", CKPT_INPUT_VARIABLE, CKPT_OUTPUT_VARIABLE,
    "CKPT_JSON",  "CKPT_KEY",     "CKPT_KILL",    "CKPT_LIBDIR",       "CKPT_MAX_RESTARTS",
    "CKPT_MPIRUN", "CKPT_NAME",   "CKPT_NO_FRESH_START", "CKPT_PRINT",        "CKPT_RANK",
    "CKPT_REQUEUE", "CKPT_RESUME", "CKPT_STARTED", "CKPT_VERIFY", "CKPT_WARNING_SIGNAL",
};

bool is_inherited(const std::string &name)
{
    return name.starts_with("CKPT_") && !name.starts_with("CKPT_RESTART_") &&
           !not_inherited.contains(name);
}

/* What the restarted processes are told. */
Environment job_environment(const TierDirectories &directories,
                            const Checkpoint &checkpoint,
                            const RestartOptions &options)
{
    Environment all;
    for (const auto *from :
         {&options.current, &checkpoint.manifest->launch.environment}) {
        for (const auto &[name, value] : *from) {
            if (is_inherited(name)) {
                all.emplace(name, value);
            }
        }
    }
    all.insert(options.supervision.begin(), options.supervision.end());
    if (checkpoint.is_on_nodes) {
        all[gather::gather_variable] = gather_file(directories, checkpoint.job);
    }
    all["CKPT_DIR"] = directories.text();
    if (const fs::path journal = provide_journal(directories, checkpoint.job); !journal.empty()) {
        all[CKPT_JOURNAL_VARIABLE] = journal;
    }
    all["CKPT_LIBDIR"] = options.libraries;
    all["CKPT_RESTART_JOB"] = checkpoint.job;
    all["CKPT_RESTART_NUMBER"] = std::to_string(checkpoint.number);
    if (checkpoint.manifest->is_encrypted()) { /* which no other checkpoint has */
        all["CKPT_RESTART_SALT"] = checkpoint.manifest->pieces.front().salt;
    }
    return all;
}

/* The launcher to call. mpirun of Open MPI 5 turns into prterun, which without
 * mpirun's preparations knows nothing of Open MPI. */
std::string launcher_program(const std::string &recorded)
{
    fs::path program = recorded;
    if (program.filename() == "prterun") {
        program.replace_filename("mpirun");
    }
    return program.string();
}

bool is_mpi(Launcher launcher)
{
    return launcher == Launcher::open_mpi || launcher == Launcher::hydra;
}

/* Of the option's files those that are not ours, which may have gone and hold nothing that a
 * restart does not set by itself. */
std::string foreign_tune_files(const LaunchOption &option)
{
    std::string files;
    for (const std::string &file : CLI::detail::split(option.values.at(0), ',')) {
        if (!is_own_tune_file(file)) {
            files += (files.empty() ? "" : ",") + file;
        }
    }
    return files;
}

void drop_own_tune_files(LaunchLine &line)
{
    for (LaunchOption &option : line.options) {
        if (option.name == "tune" && foreign_tune_files(option) != option.values.at(0)) {
            const std::string files = foreign_tune_files(option);
            option = {"tune", {files}, {"--tune", files}};
        }
    }
    std::erase_if(line.options, [](const LaunchOption &option) {
        return option.name == "tune" && option.values.at(0).empty();
    });
}

LaunchLine recorded_line(const Launch &launch, const std::string &name)
{
    LaunchLine line;
    try {
        line = parse_launch_line(launch.launcher, launch.application);
    } catch (const CommandError &problem) {
        stop_with(exit_usage, "{} was started with '{}': {}; give the "
                  "options of the launcher after --", name,
                  shell_words(launch.launcher), problem.what());
    }
    if (line.several_programs) {
        stop_with(exit_usage, "{} was started with several programs ('{}'): "
                  "give the options of the launcher after --", name,
                  shell_words(launch.launcher));
    }
    drop_own_tune_files(line);
    return line;
}

/* The recorded options, in the words of the launcher of `line`. */
std::vector<LaunchOption> taken_over(LaunchLine recorded,
                                     const LaunchLine &line,
                                     const Checkpoint &checkpoint)
{
    if (recorded.launcher == line.launcher) {
        return std::move(recorded.options);
    }
    std::string why;
    if (is_mpi(recorded.launcher) && is_mpi(line.launcher)) {
        try {
            return options_for_other(recorded, line.launcher);
        } catch (const CommandError &problem) {
            why = fmt::format(" ({})", problem.what());
        }
    }
    stop_with(exit_usage, "{} was started by {}; give the options of {} after "
              "--{}", checkpoint.name(), recorded.program, line.program, why);
}

/* Launcher and options, by record and by the user's wish. */
LaunchLine launch_line(const Checkpoint &checkpoint,
                       const RestartOptions &options)
{
    const Launch &launch = checkpoint.manifest->launch;
    LaunchLine line;
    line.program = options.mpirun;
    if (line.program.empty() && !launch.launcher.empty()) {
        line.program = launcher_program(launch.launcher[0]);
    }
    if (line.program.empty()) {
        line.program = "mpirun"; /* a program started without one */
    }
    line.launcher = launcher_of(line.program);
    if (line.launcher == Launcher::other) {
        stop_with(exit_usage, "{} was started by {}, which ckpt cannot start: "
                  "give another launcher with --mpirun and its options "
                  "after --", checkpoint.name(), line.program);
    }
    if (options.replace_options) {
        line.options = parse_launch_options(line.launcher, options.options);
    } else if (!launch.launcher.empty()) {
        line.options = taken_over(recorded_line(launch, checkpoint.name()),
                                  line, checkpoint);
    }
    return line;
}

void check_rank_count(const LaunchLine &line, const Checkpoint &checkpoint)
{
    int count = checkpoint.manifest->rank_count;
    const LaunchOption *asked = line.find("np");
    if (asked != nullptr && asked->values.at(0) != std::to_string(count)) {
        stop_with(exit_usage, "{} has {} ranks, but {} were asked for ({})",
                  checkpoint.name(), count, asked->values[0],
                  shell_words(asked->words));
    }
}

/* Replaces a variable for all ranks: of two -x with the same name Open MPI 4
 * takes the last, Open MPI 5 the first. */
void set_exported(LaunchLine &line, const std::string &name,
                  const std::string &value)
{
    std::erase_if(line.options, [&](const LaunchOption &option) {
        return exported_name(option) == name;
    });
    line.options.push_back(exported(line.launcher, name, value));
}

} // namespace

Invocation restart_invocation(const TierDirectories &directories,
                              const Checkpoint &checkpoint,
                              const RestartOptions &options)
{
    const Manifest &manifest = *checkpoint.manifest;
    Invocation result;
    result.environment = job_environment(directories, checkpoint, options);
    if (fs::is_directory(manifest.launch.launcher_directory)) {
        result.directory = manifest.launch.launcher_directory;
    }
    Words program = {options.libraries /
                         (checkpoint.is_on_nodes ? "ckpt-gather" : "ckpt-restart"),
                     fs::absolute(checkpoint.directory).lexically_normal()};

    if (manifest.launch.launcher.empty() && options.mpirun.empty() &&
        !options.replace_options && manifest.rank_count == 1) {
        result.command = program;
        return result;
    }

    LaunchLine line = launch_line(checkpoint, options);
    if (options.replace_options) {
        check_rank_count(line, checkpoint);
    }
    if (!options.nodes.empty()) {
        set_nodes(line, options.nodes);
    }
    line.remove("np");
    std::string count = std::to_string(manifest.rank_count);
    if (line.launcher == Launcher::slurm) {
        line.remove("export"); /* may preload the plugin */
        line.options.push_back({"export", {"ALL"}, {"--export=ALL"}});
        line.options.push_back({"np", {count}, {"-n", count}});
        add_pmix(line);
    } else {
        for (const auto &[name, value] : result.environment) {
            set_exported(line, name, value);
        }
        /* The plugin is part of the saved memory: the restart program must
         * not have a second one. */
        set_exported(line, "LD_PRELOAD", "");
        line.options.push_back({"np", {count}, {"-np", count}});
    }
    line.application = program;
    result.command = join_launch_line(line);
    return result;
}

fs::path gather_file(const TierDirectories &directories, const std::string &job)
{
    return directories.lasting() / job / "gather";
}

void take_srun(const Words &command, RestartOptions &options)
{
    if (launcher_of(command.at(0)) != Launcher::slurm) {
        return;
    }
    options.mpirun = command[0];
    options.replace_options = true;
    for (const LaunchOption &option : parse_launch_line(command).options) {
        options.options.insert(options.options.end(), option.words.begin(),
                               option.words.end());
    }
}

Environment ckpt_variables(char *const environment[])
{
    Environment variables;
    for (; *environment != nullptr; environment++) {
        std::string_view entry = *environment;
        std::size_t equals = entry.find('=');
        if (entry.starts_with("CKPT_") && equals != entry.npos) {
            variables.emplace(entry.substr(0, equals),
                              entry.substr(equals + 1));
        }
    }
    return variables;
}

} // namespace ckpt::cli
