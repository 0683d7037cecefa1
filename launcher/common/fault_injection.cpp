/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fault_injection.cpp - the places where a test can inject a fault.
 */
#include "config.h"
#include "common/fault_injection.hpp"

#include "ckpt/rank_faults.h"
#include "common/error.hpp"
#include "common/host.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cstdlib>
#include <mutex>
#include <string>

namespace ckpt
{

namespace
{

constexpr std::string_view known_faults[] = {
    "image-write-enospc",         /* no space for a write to a node file */
    "image-close-enospc",         /* no space when HDF5 writes its last metadata */
    "image-during-capture",       /* the writer dies before it reads a chunk */
    "image-before-rename",        /* the writer dies, temporary file complete */
    "image-after-rename",         /* the writer dies, manifest not yet written */
    "trace-write-enospc",         /* no space for a write to a trace */
    "text-file-before-rename",    /* dies, temporary manifest or job file complete */
    "owner-before-rename",        /* the process that takes a job dies, its record complete */
    "remove-after-manifest",      /* the process that removes a checkpoint dies, its manifest
                                     removed */
    "agent-before-manifest",      /* the agent dies, all pieces written */
    "agent-during-capture",       /* the agent dies while it reads a rank */
    "agent-during-cut",           /* the same, for a piece written rank by rank */
    "agent-during-log",           /* the agent dies while it saves a message log */
    "flush-enospc",               /* no space for a copy in the slow tier */
    "agent-during-flush",         /* the agent dies, a piece copied but not yet on disk */
    "agent-before-slow-manifest", /* the agent dies, all pieces copied */
    "agent-during-redundancy",    /* the agent dies before it writes redundancy for other nodes */
    "fabric-open",                /* the endpoint of a fabric cannot be opened */
    "fabric-lend",                /* memory cannot be lent */
    "fabric-read",                /* memory of another node cannot be read */
    "fabric-still",               /* from now on a node does not serve requests over the fabric */
    "agent-at-frozen",            /* the agent dies when a rank has reported its copy */
    "agent-at-kept",              /* the agent dies when it has an independent checkpoint */
    "agent-at-salvage",           /* the agent dies when a proxy has replaced a rank */
    "agent-at-proxy-save",        /* the agent dies when all ranks except a proxy have described
                                     themselves */
    "rank-tells-seldom",          /* nine of ten independent checkpoints are not reported to other
                                     ranks, which need the reports to trim their logs (checked by
                                     the plugin) */
    /* a rank's list of its memory is damaged while it describes itself (by the plugin) */
    "rank-unsound",
    "agent-at-recovery",  /* the agent dies when it is about to end the survivors */
    "memory-for-copies",  /* too little memory is left to keep copies of the ranks */
    "agent-at-change",    /* the agent dies when a copy lives, before it tells the survivors */
    "survivor-at-change", /* a survivor dies before it is told to change worlds, a copy lives */
    "copy-refuses",       /* a copy does not come to life, and stays as it is */
    "standby-late",       /* copies have no time to come to stand */
    "agent-at-thaw",      /* the agent dies when files are back, and no copy lives */
    "agent-at-watched",   /* the agent dies when a rank has made a userfaultfd */
    "agent-at-fault",     /* the agent dies when a rank waits to write (cll) */
    "agent-at-join",      /* the agent dies when a rank has introduced itself */
    "invariant-in-reply", /* the agent violates an invariant, in an event of its own node */
    "invariant-in-task",  /* the same, on the thread that writes a piece */
    "invariant-in-order", /* the same, in an order of the coordinating agent to write a piece */
    /* The coordinating agent dies after it has begun a phase and informed the ranks. */
    "agent-in-align", "agent-in-stop", "agent-in-drain", "agent-in-save", "agent-in-open",
    "agent-in-cut", "agent-in-log", "agent-in-write", "agent-in-commit", "agent-in-undo",
    "pages-on-demand", /* the page server of a lazy restart fills only what is touched, until the
                          rank waits for everything */
    /* A restart dies while it rolls back files: */
    "rollback-before-record",  /* everything is checked, nothing is recorded */
    "rollback-after-record",   /* the redo record is on disk */
    "rollback-before-rename",  /* a file exists under its temporary name */
    "rollback-after-step",     /* a record is undone */
    "rollback-before-done",    /* all records are undone and on disk */
    "rollback-after-done",     /* the end of the rollback is recorded */
    "rollback-during-removal", /* a kept file or a log is removed */
    /* An agent dies while it drops records of files: */
    "drop-before-note", /* a kept file is removed, but this is not recorded */
    "drop-after-note",  /* the records no longer count, but still exist */
    /* `ckpt run` dies while it reveals outputs: */
    "reveal-after-intent", /* output beyond the checkpoint is found and recorded, nothing is
                              revealed */
    "reveal-after-step",   /* an object is revealed, or a line passed on */
    "reveal-before-done",  /* everything is revealed, but this is not recorded */
/* The plugin kills a rank. */
#define CKPT_RANK_FAULT(symbol, name) name,
    CKPT_RANK_FAULTS(CKPT_RANK_FAULT)
#undef CKPT_RANK_FAULT
};

struct Fault {
    std::string_view name;
    long count = 1;
    std::string_view host; /* empty: all hosts */
    bool is_known = false;
};

/* Reads NAME[:COUNT][@HOST]. */
Fault parse_fault(std::string_view text)
{
    Fault fault;
    if (std::size_t at = text.find('@'); at != std::string_view::npos) {
        fault.host = text.substr(at + 1);
        text = text.substr(0, at);
    }
    std::size_t colon = text.find(':');
    fault.name = text.substr(0, colon);
    bool is_count = true;
    if (colon != std::string_view::npos) {
        const char *end = text.data() + text.size();
        auto [stop, error] = std::from_chars(text.data() + colon + 1, end,
                                             fault.count);
        is_count = error == std::errc() && stop == end && fault.count >= 1;
    }
    fault.is_known = is_count && std::ranges::find(known_faults, fault.name) !=
                                     std::end(known_faults);
    return fault;
}

} // namespace

bool fault_strikes(std::string_view name) noexcept
{
    assert(std::ranges::find(known_faults, name) != std::end(known_faults));
    static std::mutex mutex;
    static std::string setting;
    static long reached = 0;

    const char *text = std::getenv("CKPT_FAULT");
    if (text == nullptr) {
        return false;
    }
    std::lock_guard lock(mutex);
    if (setting != text) {
        setting = text;
        reached = 0;
    }
    Fault fault = parse_fault(setting);
    return fault.is_known && fault.name == name &&
           (fault.host.empty() || fault.host == host_name()) && ++reached == fault.count;
}

void fault_kill(std::string_view name) noexcept
{
    if (fault_strikes(name)) {
        ::kill(::getpid(), SIGKILL);
    }
}

void require_known_fault()
{
    const char *text = std::getenv("CKPT_FAULT");
    if (text != nullptr && *text != '\0' && !parse_fault(text).is_known) {
        fail("CKPT_FAULT={}: unknown fault", text);
    }
}

} // namespace ckpt
