/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix_request.cpp - requests a checkpoint through the launcher's PMIx server.
 *
 * Loads the launcher's own PMIx library when needed. The tool always uses the same name, which
 * a server accepts only once. The reason: mpirun of Open MPI 5.0.11 never ends after a second
 * tool has connected, whatever that tool did. It does not end before its first tool has
 * disconnected, either; so the tool disconnects when the job has ended.
 */
#include "cli/launchers/pmix_request.hpp"

#include "cli/base/command.hpp"
#include "cli/launchers/pmix_server_file.hpp"
#include "common/processes.hpp"
#include "world/dynamic_library.hpp"
#include "world/pmix_library.hpp"

#include <fmt/format.h>
#include <pmix_tool.h>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <optional>
#include <vector>

namespace fs = std::filesystem;

namespace ckpt::cli
{

namespace
{

constexpr auto tick = std::chrono::milliseconds(100);
constexpr unsigned longest_call = 10; /* seconds */
constexpr const char *tool_name = "ckpt";

/* ---- The library ----------------------------------------------------------------- */

fs::path process_file(int pid, const char *name)
{
    return fs::path("/proc") / std::to_string(pid) / name;
}

/* `ckpt` is not linked with any PMIx. */
#define PMIX_FUNCTION(library, name) ((library).function<decltype(name)>(#name))

/* While an object exists, PMIx calls must return in time, else it ends this process. An mpirun
 * that is about to end may not answer any more, and waits for its tool. */
class Deadline
{
  public:
    Deadline()
    {
        signal(SIGALRM, [](int) {
            constexpr std::string_view text = "ckpt: mpirun does not answer\n";
            (void)!write(STDERR_FILENO, text.data(), text.size());
            _exit(exit_failed);
        });
        alarm(longest_call);
    }
    ~Deadline() { alarm(0); }
    Deadline(const Deadline &) = delete;
    Deadline &operator=(const Deadline &) = delete;
};

/* ---- Values ---------------------------------------------------------------------- */

pmix_info_t entry(const char *key, pmix_data_type_t type)
{
    pmix_info_t info{};
    std::strncpy(info.key, key, sizeof(info.key) - 1);
    info.value.type = type;
    return info;
}

pmix_info_t text_entry(const char *key, const std::string &text)
{
    pmix_info_t info = entry(key, PMIX_STRING);
    info.value.data.string = const_cast<char *>(text.c_str()); /* only read by PMIx */
    return info;
}

pmix_proc_t process(const std::string &space, pmix_rank_t rank)
{
    pmix_proc_t proc{};
    std::strncpy(proc.nspace, space.c_str(), sizeof(proc.nspace) - 1);
    proc.rank = rank;
    return proc;
}

/* ---- The answer, which arrives on a thread of PMIx ----------------------------- */

struct Answer {
    pmix_status_t status = 0;
    std::string text;
};

std::mutex mutex;
std::condition_variable news;
int unregistered = 0;                  /* handlers that PMIx has not registered yet */
pmix_status_t obstacle = PMIX_SUCCESS; /* error of a registration */
std::string id;                        /* identifies our request */
std::optional<Answer> answer;
bool has_job_ended = false;

/* mpirun treats a tool as a job, too: the ended "job" may be an earlier `ckpt checkpoint`. */
bool is_of_tool(const pmix_proc_t *source, const pmix_info_t *info, std::size_t count)
{
    for (std::size_t i = 0; i < count; i++) {
        if (std::strcmp(info[i].key, PMIX_EVENT_AFFECTED_PROC) == 0 &&
            info[i].value.type == PMIX_PROC && info[i].value.data.proc != nullptr) {
            source = info[i].value.data.proc;
        }
    }
    return source != nullptr && std::strcmp(source->nspace, tool_name) == 0;
}

void job_ended(std::size_t, pmix_status_t, const pmix_proc_t *source, pmix_info_t info[],
               std::size_t count, pmix_info_t *, std::size_t,
               pmix_event_notification_cbfunc_fn_t done, void *done_data)
{
    if (!is_of_tool(source, info, count)) {
        std::lock_guard lock(mutex);
        has_job_ended = true;
        news.notify_all();
    }
    done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, done_data);
}

void handler_registered(pmix_status_t status, std::size_t, void *)
{
    std::lock_guard lock(mutex);
    obstacle = status != PMIX_SUCCESS ? status : obstacle;
    unregistered--;
    news.notify_all();
}

void answered(std::size_t, pmix_status_t status, const pmix_proc_t *, pmix_info_t info[],
              std::size_t count, pmix_info_t *, std::size_t,
              pmix_event_notification_cbfunc_fn_t done, void *done_data)
{
    Answer given{status, ""};
    bool is_ours = false;

    for (std::size_t i = 0; i < count; i++) {
        std::string_view key = info[i].key;
        if (info[i].value.type != PMIX_STRING) {
            continue;
        }
        if (key == PMIX_JOB_CTRL_ID) {
            is_ours = info[i].value.data.string == id;
        } else if (key == PMIX_EVENT_TEXT_MESSAGE) {
            given.text = info[i].value.data.string;
        }
    }
    if (is_ours) {
        std::lock_guard lock(mutex);
        answer = given;
        news.notify_all();
    }
    done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, done_data);
}

/* ---- The tool -------------------------------------------------------------------- */

class Tool
{
  public:
    /* file: where the launcher's server has written its address. Given only a process id, PMIx
     * would search the whole directory for temporary files. */
    Tool(const DynamicLibrary &library, int launcher, const std::string &file)
        : library_(library), launcher_(launcher)
    {
        std::vector<pmix_info_t> info = {text_entry(PMIX_TOOL_ATTACHMENT_FILE, file),
                                         text_entry(PMIX_TOOL_NSPACE, tool_name),
                                         entry(PMIX_TOOL_RANK, PMIX_PROC_RANK)};
        auto status = PMIX_FUNCTION(library_, PMIx_tool_init)(&self_, info.data(), info.size());
        if (status != PMIX_SUCCESS) {
            stop_refused(CKPT_REFUSAL_PMIX_UNAVAILABLE,
                         "mpirun {} takes no connection (PMIx error {}): its job has ended, "
                         "or it has had one from ckpt already, and it takes only one; "
                         "ckpt checkpoint without --pmix asks the agent",
                         launcher, status);
        }
    }
    ~Tool()
    {
        Deadline deadline;
        PMIX_FUNCTION(library_, PMIx_tool_finalize)
        ();
    }
    Tool(const Tool &) = delete;
    Tool &operator=(const Tool &) = delete;

    /* Registers handlers for answers, and for the end of the only job of this mpirun. */
    void listen()
    {
        unregistered = 2;
        handle({PMIX_JCTRL_CHECKPOINT_COMPLETE, PMIX_ERR_PROC_CHECKPOINT}, answered);
        handle({PMIX_EVENT_JOB_END}, job_ended);
        std::unique_lock lock(mutex);
        news.wait(lock, [] { return unregistered == 0; });
        if (obstacle != PMIX_SUCCESS) {
            stop_with(exit_failed, "mpirun {} takes no handler (PMIx error {})", launcher_,
                      obstacle);
        }
    }

    /* Returns the namespace of the only job of this mpirun; empty if the job has ended. */
    std::string job() const
    {
        pmix_value_t value = ask_for(PMIX_QUERY_NAMESPACES, nullptr);
        if (value.type != PMIX_STRING) {
            stop_with(exit_failed, "mpirun {} does not tell its jobs", launcher_);
        }
        return only_job(value.data.string);
    }

    /* Whether the job has no processes left. A later end is reported to the handler. */
    bool is_over(const std::string &space) const
    {
        pmix_info_t qualifier = text_entry(PMIX_NSPACE, space);
        pmix_value_t value = ask_for(PMIX_QUERY_PROC_TABLE, &qualifier);
        if (value.type != PMIX_DATA_ARRAY || value.data.darray == nullptr ||
            value.data.darray->type != PMIX_PROC_INFO) {
            return true;
        }
        auto *processes = static_cast<pmix_proc_info_t *>(value.data.darray->array);
        return std::all_of(processes, processes + value.data.darray->size,
                           [](const pmix_proc_info_t &process) {
                               return process.state > PMIX_PROC_STATE_UNTERMINATED;
                           });
    }

    /* Sends the request as the PMIx standard specifies; if the server does not support that,
     * sends the event that the server would send. */
    void ask(const std::string &space)
    {
        /* Unique, because servers remember the answers to earlier requests. */
        id = fmt::format("ckpt-{}-{}", getpid(),
                         std::chrono::system_clock::now().time_since_epoch().count());
        pmix_proc_t all = process(space, PMIX_RANK_WILDCARD);
        pmix_info_t directive = text_entry(PMIX_JOB_CTRL_CHECKPOINT, id);
        pmix_info_t *results = nullptr;
        std::size_t count = 0;

        auto status = PMIX_FUNCTION(library_, PMIx_Job_control)(&all, 1, &directive, 1,
                                                                &results, &count);
        if (status == PMIX_ERR_NOT_SUPPORTED) {
            status = notify(all);
        }
        if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED) {
            stop_with(exit_failed, "mpirun {} does not take the request (PMIx error {})",
                      launcher_, status);
        }
    }

    Answer wait(const std::function<void()> &waiting) const
    {
        std::unique_lock lock(mutex);
        auto is_over = [] { return answer.has_value() || has_job_ended; };
        while (!news.wait_for(lock, tick, is_over) && is_running(launcher_)) {
            waiting();
        }
        if (!answer) {
            stop_with(exit_not_found,
                      "the job of mpirun {} has ended without an answer; was it started "
                      "with ckpt?",
                      launcher_);
        }
        return *answer;
    }

  private:
    /* Returns the answer to one query; without an answer its type is PMIX_UNDEF. */
    pmix_value_t ask_for(std::string key, pmix_info_t *qualifier) const
    {
        char *keys[] = {key.data(), nullptr};
        pmix_query_t query{};
        pmix_info_t *results = nullptr;
        std::size_t count = 0;

        query.keys = keys;
        query.qualifiers = qualifier;
        query.nqual = qualifier == nullptr ? 0 : 1;
        auto status =
            PMIX_FUNCTION(library_, PMIx_Query_info)(&query, 1, &results, &count);
        return status == PMIX_SUCCESS && count > 0 ? results[0].value : pmix_value_t{};
    }

    void handle(std::vector<pmix_status_t> codes, pmix_notification_fn_t handler) const
    {
        PMIX_FUNCTION(library_, PMIx_Register_event_handler)
        (codes.data(), codes.size(), nullptr, 0, handler, handler_registered, nullptr);
    }

    std::string only_job(const std::string &list) const
    {
        std::vector<std::string> jobs;
        for (std::size_t begin = 0; begin <= list.size();) {
            std::size_t end = std::min(list.find(',', begin), list.size());
            std::string name = list.substr(begin, end - begin);
            if (name != self_.nspace) {
                jobs.push_back(name);
            }
            begin = end + 1;
        }
        if (jobs.size() > 1) {
            stop_refused(CKPT_REFUSAL_PMIX_UNAVAILABLE, "mpirun {} runs several jobs: {}",
                         launcher_, list);
        }
        return jobs.empty() ? "" : jobs[0];
    }

    pmix_status_t notify(pmix_proc_t &to) const
    {
        pmix_data_array_t range{};
        std::vector<pmix_info_t> info = {text_entry(PMIX_JOB_CTRL_ID, id),
                                         entry(PMIX_EVENT_CUSTOM_RANGE, PMIX_DATA_ARRAY),
                                         entry(PMIX_EVENT_NON_DEFAULT, PMIX_BOOL)};
        range.type = PMIX_PROC;
        range.size = 1;
        range.array = &to;
        info[1].value.data.darray = &range;
        info[2].value.data.flag = true;
        return PMIX_FUNCTION(library_, PMIx_Notify_event)(PMIX_JCTRL_CHECKPOINT, &self_,
                                                          PMIX_RANGE_CUSTOM, info.data(),
                                                          info.size(), nullptr, nullptr);
    }

    const DynamicLibrary &library_;
    int launcher_;
    pmix_proc_t self_{};
};

/* Refuses launchers that a connecting tool would harm, or that do not support tools. */
void require_tools_taken(int launcher)
{
    std::error_code error;
    std::string name = fs::read_symlink(process_file(launcher, "exe"), error).filename();

    if (error) {
        stop_with(exit_not_found, "there is no process {} that this user may examine", launcher);
    }
    if (name == "orterun") {
        stop_refused(CKPT_REFUSAL_PMIX_UNAVAILABLE,
                     "process {} is mpirun of Open MPI 4, which can crash when a PMIx tool "
                     "connects; ckpt checkpoint without --pmix asks the agent",
                     launcher);
    }
    if (name != "prterun") {
        stop_refused(CKPT_REFUSAL_PMIX_UNAVAILABLE,
                     "process {} ({}) is not an mpirun of Open MPI 5: only that accepts PMIx "
                     "tools; ckpt checkpoint without --pmix asks the agent",
                     launcher, name);
    }
}

std::string server_file_of(int launcher)
{
    const auto directories = temporary_directories_of(launcher);
    const auto file = pmix_server_file(launcher, directories);

    if (!file) {
        stop_refused(CKPT_REFUSAL_PMIX_UNAVAILABLE,
                     "mpirun {} has no file of its PMIx server in {}: its job has ended, or it "
                     "keeps its session elsewhere; ckpt checkpoint without --pmix asks the agent",
                     launcher, directories.front().string());
    }
    return *file;
}

} // namespace

std::string ask_through_pmix(int launcher, const std::function<void()> &waiting)
{
    require_tools_taken(launcher);
    std::string path = world::pmix_library_of(launcher);
    if (path.empty()) {
        stop_refused(CKPT_REFUSAL_PMIX_UNAVAILABLE, "mpirun {} uses no PMIx that can be loaded",
                     launcher);
    }
    DynamicLibrary library(path);
    std::optional<Deadline> deadline(std::in_place);
    Tool tool(library, launcher, server_file_of(launcher));
    tool.listen();
    std::string job = tool.job();
    if (job.empty() || tool.is_over(job)) {
        stop_with(exit_not_found, "the job of mpirun {} has ended", launcher);
    }
    tool.ask(job);
    deadline.reset();
    Answer given = tool.wait(waiting);
    if (given.status != PMIX_JCTRL_CHECKPOINT_COMPLETE) {
        stop_refused(refusal_from_text(given.text));
    }
    return given.text;
}

} // namespace ckpt::cli
