/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cmd_tune.cpp - `ckpt tune`: prints the file for mpirun --tune.
 */
#include "cli/base/options.hpp"
#include "cli/run/tune_file.hpp"

#include <fmt/core.h>

namespace ckpt::cli
{

namespace
{

class TuneCommand : public Command
{
  public:
    void declare(CLI::App &app) override
    {
        settings_.declare(app);
        add_option(app, "--print", print_);
    }

    int run(const Words &) override
    {
        std::string text = tune_file_text(
            plugin_environment(library_directory(), variable("LD_PRELOAD"),
                               settings_.environment()));
        if (print_) {
            fmt::print("{}", text);
        } else {
            fmt::print("{}\n", provide_tune_file(text).string());
        }
        return exit_done;
    }

  private:
    JobSettings settings_;
    bool print_ = false;
};

} // namespace

std::unique_ptr<Command> make_tune_command()
{
    return std::make_unique<TuneCommand>();
}

} // namespace ckpt::cli
