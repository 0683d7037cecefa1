/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * recovery_launcher.cpp - the ranks' launcher has ended, or is about to: they go on without it, and
 * `ckpt run` waits for them.
 */
#include "agent/recovery/recovery.hpp"

#include "common/invariant.hpp"
#include "common/pidfd.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace ckpt
{

namespace
{

Fd duplicate(const Fd &descriptor)
{
    return Fd(descriptor ? fcntl(descriptor.get(), F_DUPFD_CLOEXEC, 0) : -1);
}

/* Rank 0 has the launcher's input, as the launcher would have forwarded it. */
Streams streams_for(int rank, const Streams &launcher)
{
    Streams streams;

    streams[STDIN_FILENO] = rank == 0 ? duplicate(launcher[STDIN_FILENO])
                                      : Fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
    streams[STDOUT_FILENO] = duplicate(launcher[STDOUT_FILENO]);
    streams[STDERR_FILENO] = duplicate(launcher[STDERR_FILENO]);
    return streams;
}

} // namespace

/* While the launcher lives: when it is missed, it is too late. */
void Recovery::take_launcher_streams()
{
    const pid_t launcher = hooks_.launcher();

    if (!uses_shells_ || launcher_streams_ || launcher <= 0 || is_stopped_ ||
        !settings_.keeps_copies_of_all()) {
        return;
    }
    if (const Fd process = open_pidfd(launcher)) {
        launcher_streams_ = streams_of(process.get());
    }
}

/* From now on the ranks need no process of the launcher, which ends with the last one. Returns why
 * that is impossible; "": it is done. */
std::string Recovery::leave_launcher()
{
    if (!uses_shells_) {
        return {};
    }
    if (!partners_.empty() || partners_.follows() || !launcher_streams_) {
        return no_process_left;
    }
    uses_shells_ = false;
    for (auto &[rank, known] : processes_) {
        known.streams = streams_for(rank, *launcher_streams_);
    }
    return {};
}

/* Ranks that do not need the launcher any more stay as they are. Others have lost their streams,
 * and the server that MPI_Finalize waits for: their copies go on instead. */
void Recovery::try_to_adopt()
{
    if (processes_.empty() || local_.ranks().empty()) {
        hooks_.adopted("no rank is left");
        return;
    }
    if (!uses_shells_) {
        hooks_.adopted({});
        return;
    }
    const int first = processes_.begin()->first;
    std::string why = is_stopped_ ? "the end of the job was requested" : obstacle(first);
    if (why.empty()) {
        why = leave_launcher();
    }
    if (!why.empty()) {
        hooks_.adopted(why);
        return;
    }
    began_ = Clock::now();
    dead_ = first;
    is_adopting_ = true;
    is_asked_to_adopt_ = true; /* the answer follows the recovery */
    hooks_.news({SalvageEvent::Kind::recovering, first, 0, 0, {}});
    is_allowed_ = true;
    end_others();
}

} // namespace ckpt
