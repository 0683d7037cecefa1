/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * settings.cpp - converts the given values, and replaces combinations that cannot be.
 */
#include "agent/base/settings.hpp"

#include "common/durations.hpp"
#include "common/files/run_directory.hpp"
#include "common/host.hpp"
#include "image/memory/page_pool.hpp"
#include "image/store/job_owner.hpp"
#include "image/store/tiers.hpp"
#include "protocol/cut_choice.hpp"

namespace ckpt
{

namespace
{

CheckpointInterval interval_from(const settings::Values &values)
{
    auto interval = CheckpointInterval::parse(values.text("CKPT_INTERVAL"));
    if (values.is_given("CKPT_MTBF")) {
        interval.give_mtbf(std::chrono::duration<double>(values.duration("CKPT_MTBF")).count());
    }
    return interval;
}

/* An increment is useless without the checkpoints before it, which may be on a lost node. */
unsigned increments_from(const settings::Values &values, const redundancy::Scheme &redundancy)
{
    const bool is_redundant = redundancy.kind != redundancy::Scheme::Kind::none;
    return is_redundant ? 0 : static_cast<unsigned>(values.number("CKPT_INCREMENTAL"));
}

/* A mapping can have only one userfaultfd, so increments do not go with cll. */
SnapshotMethod snapshot_from(const settings::Values &values, unsigned increments)
{
    const SnapshotMethod method = snapshot_method_from(values.text("CKPT_SNAPSHOT"));
    return increments > 0 && method == SnapshotMethod::cll ? SnapshotMethod::cow : method;
}

/* `auto` keeps copies where they can be of use, and costs nothing that the user has not chosen. */
bool keeps_copies_from(const settings::Values &values)
{
    const std::string chosen = values.text("CKPT_KEEP_COPIES");
    const std::string snapshot = values.text("CKPT_SNAPSHOT");
    const bool copies_anyway = snapshot == "auto" || snapshot == "cow";

    return chosen == "yes" ||
           (chosen == "auto" && copies_anyway && !values.text("CKPT_SUPERVISOR").empty() &&
            values.text("CKPT_PROTOCOL") != CutChoice::independent);
}

std::string text_or(const std::string &text, const std::string &otherwise)
{
    return text.empty() ? otherwise : text;
}

} // namespace

Settings::Settings(const settings::Values &values)
    : copy_interval(values.duration("CKPT_COPY_INTERVAL")),
      redundancy(redundancy::Scheme::parse(values.text("CKPT_REDUNDANCY"))),
      domains(values.text("CKPT_DOMAINS")),
      fabric(fabric::Choice::parse(values.text("CKPT_FABRIC"))),
      run_directory(ckpt::run_directory()), name(values.text("CKPT_NAME")),
      host(text_or(values.text("CKPT_HOST"), host_name())),
      restart_job(values.text("CKPT_RESTART_JOB")),
      restart_number(values.number("CKPT_RESTART_NUMBER")),
      supervisor(values.text("CKPT_SUPERVISOR")),
      owner_token(text_or(values.text(owner_variable), make_owner_token())),
      incarnation(values.number("CKPT_INCARNATION")), interval(interval_from(values)),
      timeout(values.duration("CKPT_TIMEOUT")), protocol(values.text("CKPT_PROTOCOL")),
      stagger(values.text("CKPT_STAGGER")),
      sweep_dimensions(static_cast<unsigned>(values.number("CKPT_SWEEP_DIMENSIONS"))),
      codec(Codec::parse(values.text("CKPT_CODEC"))),
      increments(increments_from(values, redundancy)),
      snapshot(snapshot_from(values, increments)),
      keeps_copies(keeps_copies_from(values)),
      keeps_only_with_room(values.text("CKPT_KEEP_COPIES") == "auto"),
      stands_by(keeps_copies && values.text("CKPT_STANDBY") == "yes"),
      pool(values.bytes("CKPT_POOL")),
      granule(require_granule(values.bytes("CKPT_GRANULE"))),
      share_pages(switch_from(values.text("CKPT_SHARE_PAGES"))),
      direct_io(switch_from(values.text("CKPT_DIRECT_IO"))),
      write_limit(values.bytes("CKPT_WRITE_RATE")),
      keep(static_cast<unsigned>(values.number("CKPT_KEEP"))),
      node_count(static_cast<int>(values.number("CKPT_NODES"))),
      metrics(values.text("CKPT_METRICS"))
{
    const auto tiers = TierDirectories::parse(values.text("CKPT_DIR"));
    directory = tiers.fast;
    slow_directory = tiers.slow;
    if (!metrics.empty()) {
        metrics = std::filesystem::absolute(metrics);
    }
}

bool Settings::keeps_copies_of_all() const
{
    return keeps_copies && protocol != CutChoice::independent;
}

bool Settings::launcher_goes_on() const
{
    return !supervisor.empty() && (keeps_copies || protocol == CutChoice::independent);
}

} // namespace ckpt
