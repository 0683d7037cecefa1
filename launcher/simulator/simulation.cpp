/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * simulation.cpp - combines application, protocol and file systems.
 */
#include "config.h"
#include "simulator/simulation.hpp"

#include "common/error.hpp"
#include "common/invariant.hpp"

namespace ckpt::simulator
{

namespace
{

/* Requests the checkpoint at its time. */
class Starter : public EventHandler
{
  public:
    Starter(Application &application, Checkpoint &checkpoint)
        : application_(application), checkpoint_(checkpoint)
    {
    }

    void handle(const Event &) override
    {
        application_.set_rules(&checkpoint_);
        checkpoint_.request();
    }

  private:
    Application &application_;
    Checkpoint &checkpoint_;
};

std::unique_ptr<Checkpoint> make_checkpoint(EventQueue &queue,
                                            const Scenario &scenario,
                                            Application &application)
{
    const auto make =
        scenario.protocol == Protocol::sync_and_stop    ? make_sync_and_stop
        : scenario.protocol == Protocol::chandy_lamport ? make_chandy_lamport
                                                        : make_network_sweep;
    return make(queue, scenario.job, application, scenario.checkpoint);
}

void check(const JobModel &job)
{
    if (job.ranks < 1 || job.ranks_per_node < 1) {
        fail("a job has at least one rank, and a node, too");
    }
    if (!(job.bandwidth > 0) || job.image_bytes < 0) {
        fail("an image needs a file system with some bandwidth");
    }
}

} // namespace

Result simulate(const Scenario &scenario, Program &program, Recorder *recorder)
{
    check(scenario.job);
    EventQueue queue;
    Application application(queue, scenario.job, program, recorder);
    auto checkpoint = make_checkpoint(queue, scenario, application);
    Starter starter(application, *checkpoint);
    queue.schedule(scenario.at, starter, 0);
    if (scenario.checkpoint.uniform == 0) {
        application.start();
    }
    while (!checkpoint->over()) {
        if (!queue.step()) {
            fail("the simulated job came to a standstill before its "
                 "checkpoint was over");
        }
    }
    Result result{checkpoint->messages(),
                  checkpoint->times(),
                  checkpoint->log(),
                  checkpoint->most_writers(),
                  {},
                  application.messages(),
                  queue.handled(),
                  checkpoint->detail()};
    for (Rank rank = 0; rank < scenario.job.ranks; rank++) {
        result.stop_times.push_back(application.stop_time(rank));
    }
    CKPT_INVARIANT(result.stop_times.size() == scenario.job.ranks);
    return result;
}

} // namespace ckpt::simulator
