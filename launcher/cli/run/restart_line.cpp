/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * restart_line.cpp - replaces the application by the restart program.
 */
#include "cli/run/restart_line.hpp"

#include "ckpt/journal.h"
#include "cli/files/file_rollback.hpp"
#include "cli/launchers/other_launcher.hpp"
#include "cli/launchers/program_parts.hpp"
#include "cli/run/tune_file.hpp"
#include "common/durations.hpp"
#include "common/invariant.hpp"
#include "gather/gathering.hpp"
#include "settings/settings.hpp"

#include "ckpt/input.h"

#include <CLI/StringTools.hpp>

#include <algorithm>
#include <cstring>
#include <string_view>

namespace fs = std::filesystem;

namespace ckpt::cli
{

namespace
{

/* Returns the variables for the restarted processes. */
Environment job_environment(const TierDirectories &directories,
                            const Checkpoint &checkpoint,
                            const RestartOptions &options)
{
    Environment all;
    for (const auto *from :
         {&options.current, &checkpoint.manifest->launch.environment}) {
        for (const auto &[name, value] : *from) {
            if (settings::is_kept(name)) {
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
    if (checkpoint.manifest->is_encrypted()) { /* unique to this checkpoint */
        all["CKPT_RESTART_SALT"] = checkpoint.manifest->pieces.front().salt;
    }
    return all;
}

/* Returns the launcher to execute. mpirun of Open MPI 5 becomes prterun, which does not work
 * for Open MPI without mpirun's preparations. */
std::string launcher_program(const std::string &recorded, const fs::path &libraries)
{
    fs::path program = recorded;
    if (launcher_of(recorded) == Launcher::ckpt) {
        return libraries / program.filename(); /* that of this version */
    }
    if (program.filename() == "prterun") {
        program.replace_filename("mpirun");
    }
    return program.string();
}

bool is_mpirun(Launcher launcher)
{
    return launcher == Launcher::open_mpi || launcher == Launcher::hydra;
}

/* Whether options can be translated from or to those of this launcher. */
bool is_translatable(Launcher launcher)
{
    return is_mpirun(launcher) || launcher == Launcher::ckpt;
}

void set_rank_count(LaunchLine &line, int ranks)
{
    CKPT_EXPECT(ranks > 0);
    const std::string count = std::to_string(ranks);
    line.remove("np");
    line.options.push_back({"np", {count}, {is_mpirun(line.launcher) ? "-np" : "-n", count}});
}

/* Returns the option's files without those that ckpt has written. Those may be gone, and a
 * restart sets all of their content itself. */
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

/* Returns one line for each program, with its number of ranks if there are several. */
std::vector<LaunchLine> recorded_lines(const Checkpoint &checkpoint)
{
    CKPT_EXPECT(checkpoint.manifest.has_value());
    const Manifest &manifest = *checkpoint.manifest;
    const Launch &launch = manifest.launch;
    const auto refuse = [&](const std::string &why) {
        stop_with(exit_usage, "{} was started with '{}': {}; give the "
                              "options of the launcher after --",
                  checkpoint.name(),
                  shell_words(launch.launcher), why);
    };
    std::vector<LaunchLine> lines;
    try {
        lines = program_parts(launch.launcher, launch.application, launch.launcher_directory);
    } catch (const std::exception &problem) {
        refuse(problem.what());
    }
    if (lines.size() > 1) {
        const std::vector<int> ranks = ranks_of_parts(lines, manifest.rank_count);
        if (ranks.empty()) {
            refuse(fmt::format("that does not tell which program has how many of {} ranks",
                               manifest.rank_count));
        }
        CKPT_INVARIANT(ranks.size() == lines.size());
        for (std::size_t i = 0; i < lines.size(); i++) {
            set_rank_count(lines[i], ranks[i]);
        }
    }
    drop_own_tune_files(lines.front());
    return lines;
}

/* Translates the recorded options for the launcher of `line`. is_one: there is only one
 * program. */
std::vector<LaunchOption> taken_over(const LaunchLine &recorded, bool is_one,
                                     const LaunchLine &line,
                                     const Checkpoint &checkpoint)
{
    if (recorded.launcher == line.launcher) {
        return recorded.options;
    }
    std::string why = is_one ? "" : " (there are several programs)";
    if (is_one && is_translatable(recorded.launcher) && is_translatable(line.launcher)) {
        try {
            return options_for_other(recorded, line.launcher);
        } catch (const CommandError &problem) {
            why = fmt::format(" ({})", problem.what());
        }
    }
    stop_with(exit_usage, "{} was started by {}; give the options of {} after "
                          "--{}",
              checkpoint.name(), recorded.program, line.program, why);
}

/* Combines the recorded launcher and options with the user's wishes; one line for each
 * program. */
std::vector<LaunchLine> launch_lines(const Checkpoint &checkpoint,
                                     const RestartOptions &options)
{
    const Launch &launch = checkpoint.manifest->launch;
    LaunchLine line;
    line.program = options.mpirun;
    if (line.program.empty() && !launch.launcher.empty()) {
        line.program = launcher_program(launch.launcher[0], options.libraries);
    }
    if (line.program.empty()) {
        line.program = "mpirun"; /* the program was started without a launcher */
    }
    line.launcher = launcher_of(line.program);
    if (line.launcher == Launcher::other) {
        stop_with(exit_usage, "{} was started by {}, which ckpt cannot start: "
                              "give another launcher with --mpirun and its options "
                              "after --",
                  checkpoint.name(), line.program);
    }
    if (options.replace_options || launch.launcher.empty()) {
        line.options = parse_launch_options(line.launcher, options.options);
        return {line};
    }
    std::vector<LaunchLine> lines;
    const std::vector<LaunchLine> recorded = recorded_lines(checkpoint);
    for (const LaunchLine &part : recorded) {
        lines.push_back(line);
        lines.back().options = taken_over(part, recorded.size() == 1, line, checkpoint);
    }
    CKPT_INVARIANT(lines.size() == recorded.size());
    return lines;
}

void check_rank_count(const LaunchLine &line, const Checkpoint &checkpoint)
{
    int count = checkpoint.manifest->rank_count;
    const LaunchOption *asked = line.find("np");
    if (asked != nullptr && asked->values.at(0) != std::to_string(count)) {
        stop_with(exit_usage, "{} has {}, but {} were asked for ({})",
                  checkpoint.name(), counted(count, "rank"), asked->values[0],
                  shell_words(asked->words));
    }
}

/* Replaces a variable for all ranks. The old option is removed: of two -x options with the
 * same name Open MPI 4 uses the last, Open MPI 5 the first. */
void set_exported(LaunchLine &line, const std::string &name,
                  const std::string &value)
{
    std::erase_if(line.options, [&](const LaunchOption &option) {
        return exported_name(option) == name;
    });
    line.options.push_back(exported(line.launcher, name, value));
}

void set_environment(LaunchLine &line, const Environment &variables)
{
    if (line.launcher == Launcher::slurm) {
        line.remove("export"); /* it may preload the plugin */
        line.options.push_back({"export", {"ALL"}, {"--export=ALL"}});
        return;
    }
    for (const auto &[name, value] : variables) {
        set_exported(line, name, value);
    }
    /* The saved memory contains the plugin, so the restart program must not load a second
     * one. */
    set_exported(line, "LD_PRELOAD", "");
}

} // namespace

Invocation restart_invocation(const TierDirectories &directories,
                              const Checkpoint &checkpoint,
                              const RestartOptions &options)
{
    CKPT_EXPECT(checkpoint.manifest.has_value());
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

    std::vector<LaunchLine> lines = launch_lines(checkpoint, options);
    CKPT_INVARIANT(!lines.empty());
    if (options.replace_options) {
        check_rank_count(lines.front(), checkpoint);
    }
    for (LaunchLine &line : lines) {
        if (!options.nodes.empty()) {
            set_nodes(line, options.nodes);
        }
        /* -genv applies to all programs, so the first line suffices. */
        if (line.launcher != Launcher::hydra || &line == &lines.front()) {
            set_environment(line, result.environment);
        }
        const int own = lines.size() > 1 ? std::stoi(line.find("np")->values.at(0))
                                         : manifest.rank_count;
        set_rank_count(line, own);
        if (line.launcher == Launcher::slurm) {
            add_pmix(line);
        }
        line.application = program;
    }
    result.command = join_program_parts(lines);
    return result;
}

std::string left_out(const Manifest &manifest)
{
    const Words &parent = manifest.launch.waiting_parent;

    return parent.empty() ? std::string()
                          : fmt::format("only the program is started again; what else {} does will "
                                        "not be done",
                                        shell_words(parent));
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
