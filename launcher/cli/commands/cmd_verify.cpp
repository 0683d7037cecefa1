/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cmd_verify.cpp - `ckpt verify`: reads a checkpoint and compares all
 * checksums.
 */
#include "cli/jobs/checkpoints.hpp"
#include "cli/base/options.hpp"
#include "cli/base/progress_line.hpp"
#include "common/durations.hpp"
#include "common/invariant.hpp"
#include "image/seal/image_key.hpp"

#include <fmt/core.h>

namespace ckpt::cli
{

namespace
{

class VerifyCommand : public Command
{
  public:
    void declare(CLI::App &app) override
    {
        app.add_option("CHECKPOINT", checkpoint_,
                       "JOB/NUMBER, JOB, or a path [newest committed one]");
        add_option(app, "--dir", directory_);
        add_option(app, "--key", key_);
    }

    int run(const Words &) override
    {
        use_image_key(key_);
        Checkpoint checkpoint =
            find_checkpoint_here(directories_of(directory_), checkpoint_);
        {
            ProgressLine line;
            verify_checkpoint(checkpoint, Verification::full,
                              [&](std::uint64_t done, std::uint64_t all) {
                                  line.show(fmt::format("verified {} of {}",
                                                        format_bytes(done),
                                                        format_bytes(all)));
                              });
        }
        CKPT_INVARIANT(checkpoint.manifest); /* or it would not have been verified */
        const Manifest &manifest = *checkpoint.manifest;
        fmt::print("{}: good, {}, {}, {}\n", checkpoint.name(),
                   counted(manifest.rank_count, "rank"),
                   counted(manifest.pieces.size(), "file"),
                   format_bytes(manifest.bytes()));
        return exit_done;
    }

  private:
    std::string checkpoint_;
    std::string directory_;
    std::string key_;
};

} // namespace

std::unique_ptr<Command> make_verify_command()
{
    return std::make_unique<VerifyCommand>();
}

} // namespace ckpt::cli
