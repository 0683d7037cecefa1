/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmix_server.cpp - the callbacks of a PMIx server, and the description of a world for its ranks.
 *
 * libpmix answers most of what an MPI library asks by itself, from what register_nspace() has
 * told it. It calls back here for what concerns other nodes, and to tell what ranks do. Open MPI
 * 4.1 and 5.0 need the callbacks that have an answer below; every other one may be missing.
 */
#include "world/pmix_server.hpp"

#include "common/invariant.hpp"
#include "world/dynamic_library.hpp"
#include "world/info_list.hpp"
#include "world/rank_environment.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <pmix.h>
#include <pmix_server.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <sys/stat.h>
#include <unistd.h>

namespace ckpt::world
{

/* ---- The library ------------------------------------------------------------------- */

class PmixServer::Library
{
    DynamicLibrary library_; /* before the functions, which it looks up */

  public:
    explicit Library(const std::string &path)
        : library_(path)
    {
    }

#define PMIX_FUNCTION(name) library_.function<decltype(PMIx_##name)>("PMIx_" #name)
    decltype(&PMIx_server_init) init = PMIX_FUNCTION(server_init);
    decltype(&PMIx_server_finalize) finalize = PMIX_FUNCTION(server_finalize);
    decltype(&PMIx_server_register_nspace) add_space = PMIX_FUNCTION(server_register_nspace);
    decltype(&PMIx_server_deregister_nspace) remove_space =
        PMIX_FUNCTION(server_deregister_nspace);
    decltype(&PMIx_server_register_client) add_client = PMIX_FUNCTION(server_register_client);
    decltype(&PMIx_server_deregister_client) remove_client =
        PMIX_FUNCTION(server_deregister_client);
    decltype(&PMIx_server_setup_fork) setup_fork = PMIX_FUNCTION(server_setup_fork);
    decltype(&PMIx_generate_regex) generate_regex = PMIX_FUNCTION(generate_regex);
    decltype(&PMIx_generate_ppn) generate_ppn = PMIX_FUNCTION(generate_ppn);
    decltype(&PMIx_Register_event_handler) add_handler = PMIX_FUNCTION(Register_event_handler);
    decltype(&PMIx_Error_string) error_string = PMIX_FUNCTION(Error_string);
    decltype(&PMIx_Get_version) get_version = PMIX_FUNCTION(Get_version);
#undef PMIX_FUNCTION
};

namespace
{

/* ---- Callbacks, in threads of libpmix ----------------------------------------------- */

/* A fence in which ranks of this node wait. */
struct Waiting {
    pmix_modex_cbfunc_t done;
    void *data;
};

struct Shared {
    PmixServer::Happened happened;
    PmixServer::FenceBegun fence_begun;
    std::mutex mutex;
    /* The ranks of this node, by name of the world. */
    struct Here {
        std::set<int> ranks;
        bool is_whole; /* the world has no others */
    };
    std::map<std::string, Here> here;
    bool has_other_nodes = true; /* fences that leave this node may get a result */
    std::map<FenceId, Waiting> fences;
    /* How many fences there have been of the ranks in the key, whose number is 0. */
    std::map<FenceId, std::uint64_t> counts;
};

/* Callbacks have no argument for an object. Set while the only server exists. */
std::atomic<Shared *> shared = nullptr;

RankEvent event_of(const pmix_proc_t *process, RankEvent::Kind kind)
{
    RankEvent event;
    event.kind = kind;
    event.name = std::string(process->nspace, strnlen(process->nspace, PMIX_MAX_NSLEN));
    event.rank = static_cast<int>(process->rank);
    return event;
}

pmix_status_t tell(const RankEvent &event, pmix_op_cbfunc_t done, void *data)
{
    if (Shared *server = shared) {
        server->happened(event);
    }
    if (done != nullptr) {
        done(PMIX_SUCCESS, data);
    }
    return PMIX_SUCCESS;
}

pmix_status_t connected(const pmix_proc_t *process, void *, pmix_info_t[], std::size_t,
                        pmix_op_cbfunc_t done, void *data)
{
    return tell(event_of(process, RankEvent::Kind::connected), done, data);
}

pmix_status_t finalized(const pmix_proc_t *process, void *, pmix_op_cbfunc_t done, void *data)
{
    return tell(event_of(process, RankEvent::Kind::finalized), done, data);
}

pmix_status_t aborted(const pmix_proc_t *process, void *, int status, const char text[],
                      pmix_proc_t[], std::size_t, pmix_op_cbfunc_t done, void *data)
{
    RankEvent event = event_of(process, RankEvent::Kind::aborted);
    event.status = status;
    event.text = text == nullptr ? "" : text;
    return tell(event, done, data);
}

/* libpmix has closed its ends of connections that have ended without MPI_Finalize: of this process,
 * and of those in the list. */
void closed(std::size_t, pmix_status_t, const pmix_proc_t *process, pmix_info_t info[],
            std::size_t count, pmix_info_t *, std::size_t,
            pmix_event_notification_cbfunc_fn_t done, void *data)
{
    if (process != nullptr) {
        (void)tell(event_of(process, RankEvent::Kind::closed), nullptr, nullptr);
    }
    for (std::size_t i = 0; i < count; i++) {
        if (std::string_view(info[i].key) == PMIX_PROCID &&
            info[i].value.type == PMIX_PROC) {
            (void)tell(event_of(info[i].value.data.proc, RankEvent::Kind::closed), nullptr,
                       nullptr);
        }
    }
    if (done != nullptr) {
        done(PMIX_EVENT_ACTION_COMPLETE, nullptr, 0, nullptr, nullptr, data);
    }
}

/* Whether all of these ranks are on this node. */
bool are_here(const pmix_proc_t processes[], std::size_t count)
{
    Shared *server = shared;
    if (server == nullptr) {
        return false;
    }
    std::lock_guard lock(server->mutex);
    for (std::size_t i = 0; i < count; i++) {
        const auto found = server->here.find(processes[i].nspace);
        if (found == server->here.end()) {
            return false;
        }
        const auto &[ranks, is_whole] = found->second;
        if (processes[i].rank == PMIX_RANK_WILDCARD
                ? !is_whole
                : !ranks.contains(static_cast<int>(processes[i].rank))) {
            return false;
        }
    }
    return true;
}

/* Returns the name of these processes' fence among nodes, without its number. Returns nothing for
 * processes of several worlds. */
std::optional<FenceId> fence_of(const pmix_proc_t processes[], std::size_t count)
{
    FenceId id;
    bool has_all = false;

    for (std::size_t i = 0; i < count; i++) {
        std::string name(processes[i].nspace, strnlen(processes[i].nspace, PMIX_MAX_NSLEN));
        if (i > 0 && name != id.name) {
            return std::nullopt;
        }
        id.name = std::move(name);
        has_all = has_all || processes[i].rank == PMIX_RANK_WILDCARD;
        id.ranks.push_back(static_cast<int>(processes[i].rank));
    }
    std::ranges::sort(id.ranks);
    if (has_all) {
        id.ranks.clear();
    }
    return count == 0 ? std::nullopt : std::optional(id);
}

/* Some of the ranks are on other nodes. Nodes count the fences of the same ranks, which wait in one
 * after the other. Returns false if the fence cannot get a result. */
bool begin_fence(FenceId id, std::string bytes, const Waiting &waiting)
{
    Shared *server = shared;
    if (server == nullptr || bytes.size() > longest_fence) {
        return false;
    }
    {
        const std::lock_guard lock(server->mutex);
        if (!server->has_other_nodes || !server->here.contains(id.name)) {
            return false;
        }
        id.number = server->counts[id]++;
        server->fences.emplace(id, waiting);
    }
    server->fence_begun({std::move(id), std::move(bytes)});
    return true;
}

/* libpmix calls this when all ranks of this node have come. */
pmix_status_t fence(const pmix_proc_t processes[], std::size_t count, const pmix_info_t[],
                    std::size_t, char *bytes, std::size_t size, pmix_modex_cbfunc_t done,
                    void *data)
{
    if (are_here(processes, count)) {
        done(PMIX_SUCCESS, bytes, size, data, std::free, bytes);
        return PMIX_SUCCESS;
    }
    const std::string own(bytes == nullptr ? "" : bytes, bytes == nullptr ? 0 : size);
    std::free(bytes);
    const std::optional<FenceId> id = fence_of(processes, count);
    return id && begin_fence(*id, own, {done, data}) ? PMIX_SUCCESS : PMIX_ERR_NOT_SUPPORTED;
}

/* Lets the ranks of this node go on. */
void answer(const Waiting &waiting, pmix_status_t status, const std::string &bytes)
{
    auto *copy = static_cast<char *>(std::malloc(bytes.size() + 1));

    if (copy == nullptr) {
        waiting.done(PMIX_ERR_NOMEM, nullptr, 0, waiting.data, nullptr, nullptr);
        return;
    }
    (void)bytes.copy(copy, bytes.size());
    waiting.done(status, copy, bytes.size(), waiting.data, std::free, copy);
}

/* With this callback libpmix keeps the files that a rank registers for removal, such as its
 * segments of shared memory. Everything else is refused. */
pmix_status_t control(const pmix_proc_t *, const pmix_proc_t[], std::size_t, const pmix_info_t[],
                      std::size_t, pmix_info_cbfunc_t, void *)
{
    return PMIX_ERR_NOT_SUPPORTED;
}

/* libpmix's parameter: how long it collects events, in seconds. */
constexpr const char *event_window = "PMIX_MCA_pmix_event_caching_window";

/* A newer libpmix knows more callbacks than the header; it finds zeros behind the struct. */
struct Module {
    pmix_server_module_t known;
    void *unknown[64];
};

Module callbacks()
{
    Module module{};
    module.known.client_connected2 = connected;
    module.known.client_finalized = finalized;
    module.known.abort = aborted;
    module.known.fence_nb = fence;
    module.known.job_control = control;
    return module;
}

/* ---- Waiting for an operation ---------------------------------------------------------- */

class Operation
{
  public:
    static void done(pmix_status_t status, void *operation)
    {
        auto *own = static_cast<Operation *>(operation);
        std::lock_guard lock(own->mutex_);
        own->status_ = status;
        own->news_.notify_one();
    }

    /* begun: what the function returned that got done() and this object. */
    pmix_status_t wait(pmix_status_t begun)
    {
        if (begun == PMIX_OPERATION_SUCCEEDED) {
            return PMIX_SUCCESS;
        }
        if (begun != PMIX_SUCCESS) {
            return begun;
        }
        std::unique_lock lock(mutex_);
        news_.wait(lock, [this] { return status_.has_value(); });
        return *status_;
    }

  private:
    std::mutex mutex_;
    std::condition_variable news_;
    std::optional<pmix_status_t> status_;
};

/* ---- The description of a world --------------------------------------------------------- */

pmix_proc_t process(const std::string &space, int rank)
{
    pmix_proc_t proc{};
    std::strncpy(proc.nspace, space.c_str(), sizeof(proc.nspace) - 1);
    proc.rank = static_cast<pmix_rank_t>(rank);
    return proc;
}

/* "a,b" with the hosts; "0,1;2,3" with the ranks of each. */
std::string hosts_of(const World &world)
{
    std::vector<std::string> hosts;
    for (const WorldNode &node : world.nodes) {
        hosts.push_back(node.host);
    }
    return fmt::format("{}", fmt::join(hosts, ","));
}

std::string ranks_of(const World &world)
{
    std::vector<std::string> nodes;
    for (const WorldNode &node : world.nodes) {
        nodes.push_back(fmt::format("{}", fmt::join(node.ranks, ",")));
    }
    return fmt::format("{}", fmt::join(nodes, ";"));
}

template <typename Generate>
std::string expression(Generate generate, const std::string &text)
{
    char *made = nullptr;
    if (generate(text.c_str(), &made) != PMIX_SUCCESS || made == nullptr) {
        fail("PMIx makes no expression for '{}'", text);
    }
    std::string result = made;
    std::free(made);
    return result;
}

InfoList rank_info(const WorldNode &node, std::size_t index, std::uint32_t node_number)
{
    const auto local = static_cast<std::uint16_t>(index);
    const auto rank = static_cast<std::uint32_t>(node.ranks.at(index));
    InfoList info;

    CKPT_EXPECT(index <= std::numeric_limits<std::uint16_t>::max());
    info.add_rank(PMIX_RANK, rank);
    info.add_number(PMIX_APPNUM, 0);
    info.add_number(PMIX_GLOBAL_RANK, rank);
    info.add_number(PMIX_APP_RANK, rank);
    info.add_local(PMIX_LOCAL_RANK, local);
    info.add_local(PMIX_NODE_RANK, local);
    info.add_number(PMIX_NODEID, node_number);
    info.add_text(PMIX_HOSTNAME, node.host);
    info.add_number(PMIX_REINCARNATION, 0);
    return info;
}

void add_sizes(InfoList &info, const World &world)
{
    const auto all = static_cast<std::uint32_t>(world.size());
    const auto local = static_cast<std::uint32_t>(world.here().ranks.size());

    info.add_number(PMIX_UNIV_SIZE, all);
    info.add_number(PMIX_JOB_SIZE, all);
    info.add_number(PMIX_MAX_PROCS, all);
    info.add_number(PMIX_LOCAL_SIZE, local);
    info.add_number(PMIX_NODE_SIZE, local);
    info.add_number(PMIX_NUM_NODES, static_cast<std::uint32_t>(world.nodes.size()));
    info.add_number(PMIX_JOB_NUM_APPS, 1);
    info.add_number(PMIX_APPNUM, 0);
    info.add_number(PMIX_NODEID, static_cast<std::uint32_t>(world.own_node));
}

/* Whether there are more ranks on this node than processors. Open MPI's ranks then yield their
 * processor while they wait. */
bool shares_processors(const World &world)
{
    return world.here().ranks.size() > usable_processors();
}

template <typename Library>
InfoList describe(const Library &library, const World &world)
{
    const std::vector<int> &local = world.here().ranks;
    InfoList info;

    add_sizes(info, world);
    info.add_text(PMIX_JOBID, world.name);
    info.add_flag(PMIX_SPAWNED, false);
    info.add_text(PMIX_LOCAL_PEERS, fmt::format("{}", fmt::join(local, ",")));
    info.add_rank(PMIX_LOCALLDR, static_cast<pmix_rank_t>(local.front()));
    info.add_expression(PMIX_NODE_MAP, expression(library.generate_regex, hosts_of(world)));
    info.add_expression(PMIX_PROC_MAP, expression(library.generate_ppn, ranks_of(world)));
    if (shares_processors(world)) { /* Open MPI 5.0 does not look at the value */
        info.add_flag(PMIX_NODE_OVERSUBSCRIBED, true);
    }
    info.add_text(PMIX_TMPDIR, world.directory);
    info.add_text(PMIX_NSDIR, world.directory);
    for (std::size_t node = 0; node < world.nodes.size(); node++) {
        for (std::size_t i = 0; i < world.nodes[node].ranks.size(); i++) {
            info.add_list(PMIX_PROC_DATA, rank_info(world.nodes[node], i,
                                                    static_cast<std::uint32_t>(node)));
        }
    }
    return info;
}

/* Open MPI's launcher sets these variables, which programs and their scripts use. */
std::vector<std::string> open_mpi_variables(const World &world, int rank, std::size_t local)
{
    const std::size_t here = world.here().ranks.size();
    return {fmt::format("OMPI_COMM_WORLD_SIZE={}", world.size()),
            fmt::format("OMPI_COMM_WORLD_RANK={}", rank),
            fmt::format("OMPI_COMM_WORLD_LOCAL_SIZE={}", here),
            fmt::format("OMPI_COMM_WORLD_LOCAL_RANK={}", local),
            fmt::format("OMPI_COMM_WORLD_NODE_RANK={}", local),
            fmt::format("OMPI_UNIVERSE_SIZE={}", world.size()),
            /* Open MPI 4.1; 5.0 has it from describe() */
            fmt::format("OMPI_MCA_mpi_oversubscribe={}", shares_processors(world) ? 1 : 0),
            /* Without these Open MPI 4.1 regards a process that orted has not started as the
             * only one of its job, in a batch job too: it asks the other components about
             * launchers. Open MPI 5.0 does not read them. */
            "OMPI_MCA_schizo=ompi", "OMPI_MCA_ess=pmi"};
}

} // namespace

/* ---- The server ------------------------------------------------------------------------- */

PmixServer::PmixServer(const std::string &library, const std::filesystem::path &directory,
                       const std::string &host, Happened happened, FenceBegun fence_begun)
    : library_(std::make_unique<Library>(library))
{
    static Module module = callbacks();
    static Shared state;
    InfoList info;

    CKPT_EXPECT(shared == nullptr);
    (void)setenv(event_window, "0", 1); /* otherwise events of a second come together */
    state.happened = std::move(happened);
    state.fence_begun = std::move(fence_begun);
    info.add_text(PMIX_SERVER_TMPDIR, directory);
    info.add_text(PMIX_SYSTEM_TMPDIR, directory);
    info.add_text(PMIX_HOSTNAME, host);
    shared = &state;
    const pmix_status_t status = library_->init(&module.known, info.data(), info.size());
    if (status != PMIX_SUCCESS) {
        shared = nullptr;
        fail("the PMIx server does not start: {}", library_->error_string(status));
    }
    pmix_status_t code = PMIX_ERR_LOST_CONNECTION;
    const pmix_status_t added =
        library_->add_handler(&code, 1, nullptr, 0, closed, nullptr, nullptr);
    if (added < 0) {
        fail("PMIx tells of no connection that ends: {}", library_->error_string(added));
    }
}

PmixServer::~PmixServer()
{
    try {
        while (!worlds_.empty()) { /* libpmix removes the ranks' segments, if they have left any */
            remove(std::string(worlds_.begin()->first));
        }
    } catch (const std::exception &problem) {
        fmt::print(stderr, "ckpt-world: a world is not removed: {}\n", problem.what());
    }
    (void)library_->finalize(); /* fails only if the server has not started */
    shared = nullptr;
}

std::string PmixServer::version() const
{
    return library_->get_version();
}

std::vector<std::string> PmixServer::environment_of(const World &world, int rank) const
{
    const pmix_proc_t proc = process(world.name, rank);
    const auto found = std::ranges::find(world.here().ranks, rank);
    const auto local = static_cast<std::size_t>(found - world.here().ranks.begin());
    std::vector<std::string> variables = open_mpi_variables(world, rank, local);
    char **made = nullptr;
    const pmix_status_t status = library_->setup_fork(&proc, &made);

    for (char **entry = made; entry != nullptr && *entry != nullptr; entry++) {
        variables.emplace_back(*entry);
        std::free(*entry);
    }
    std::free(made);
    if (status != PMIX_SUCCESS) {
        fail("PMIx makes no variables for rank {}: {}", rank, library_->error_string(status));
    }
    return variables;
}

std::map<int, std::vector<std::string>> PmixServer::add(const World &world)
{
    require_valid(world);
    if (worlds_.contains(world.name)) {
        fail("world {} is known already", world.name);
    }
    const std::vector<int> &local = world.here().ranks;
    InfoList info = describe(*library_, world);
    Operation added;
    pmix_status_t status = added.wait(
        library_->add_space(world.name.c_str(), static_cast<int>(local.size()), info.data(),
                            info.size(), Operation::done, &added));
    if (status != PMIX_SUCCESS) {
        fail("PMIx refuses world {}: {}", world.name, library_->error_string(status));
    }
    worlds_.emplace(world.name, world);
    {
        std::lock_guard lock(shared.load()->mutex);
        shared.load()->here[world.name] = {{local.begin(), local.end()},
                                           world.nodes.size() == 1};
    }
    std::map<int, std::vector<std::string>> environments;
    try {
        for (int rank : local) {
            const pmix_proc_t proc = process(world.name, rank);
            Operation client;
            status = client.wait(library_->add_client(&proc, getuid(), getgid(), nullptr,
                                                      Operation::done, &client));
            if (status != PMIX_SUCCESS) {
                fail("PMIx refuses rank {} of world {}: {}", rank, world.name,
                     library_->error_string(status));
            }
            environments.emplace(rank, environment_of(world, rank));
        }
    } catch (...) {
        remove(world.name);
        throw;
    }
    CKPT_INVARIANT(environments.size() == local.size());
    return environments;
}

void PmixServer::remove(const std::string &name)
{
    const auto world = worlds_.find(name);
    if (world == worlds_.end()) {
        fail("there is no world {}", name);
    }
    for (int rank : world->second.here().ranks) {
        const pmix_proc_t proc = process(name, rank);
        Operation gone;
        library_->remove_client(&proc, Operation::done, &gone);
        (void)gone.wait(PMIX_SUCCESS); /* deregistering cannot fail */
    }
    worlds_.erase(world);
    Operation removed;
    library_->remove_space(name.c_str(), Operation::done, &removed);
    (void)removed.wait(PMIX_SUCCESS);
    std::lock_guard lock(shared.load()->mutex);
    Shared &server = *shared.load();
    server.here.erase(name);
    std::erase_if(server.fences, [&](const auto &entry) { return entry.first.name == name; });
    std::erase_if(server.counts, [&](const auto &entry) { return entry.first.name == name; });
}

/* ---- Fences of several nodes -------------------------------------------------------------- */

void PmixServer::end_fence(const FenceResult &result)
{
    Shared &server = *shared.load();
    std::optional<Waiting> waiting;
    {
        const std::lock_guard lock(server.mutex);
        if (const auto found = server.fences.find(result.id); found != server.fences.end()) {
            waiting = found->second;
            server.fences.erase(found);
        }
    }
    if (!waiting) {
        fail("no rank waits in fence {} of world {}", result.id.number, result.id.name);
    }
    answer(*waiting, result.is_complete ? PMIX_SUCCESS : PMIX_ERR_UNREACH, result.data);
}

void PmixServer::fail_fences()
{
    std::map<FenceId, Waiting> left;
    {
        const std::lock_guard lock(shared.load()->mutex);
        shared.load()->has_other_nodes = false;
        left = std::exchange(shared.load()->fences, {});
    }
    for (const auto &[id, waiting] : left) {
        answer(waiting, PMIX_ERR_UNREACH, {});
    }
}

} // namespace ckpt::world
