/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * agent.cpp - the node agent: its sockets, its ranks, and which agent
 * coordinates.
 */
#include "agent/ckptd/agent.hpp"

#include "agent/base/log.hpp"
#include "common/durations.hpp"
#include "common/error.hpp"
#include "common/invariant.hpp"
#include "journal/rollback.hpp"

#include <spdlog/spdlog.h>

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace ckpt
{

namespace
{

using std::chrono::steady_clock;

/* If no rank connects in this time, the process that started the agent has died. */
constexpr auto longest_wait_for_ranks = std::chrono::seconds(60);
/* How long the agent waits, at its end, for clients and other nodes to read its output. */
constexpr auto longest_farewell = std::chrono::seconds(10);
/* An agent that violates more invariants than this ends. The ranks then start another one. */
constexpr int most_violations = 16;
/* Requests of `ckpt run` have numbers from here on. Other commands never reach such numbers. */
constexpr ClientId first_of_supervisor = ClientId(1) << 63;

int number_from_environment(const char *name)
{
    const char *text = std::getenv(name);
    return text == nullptr ? 0 : std::atoi(text);
}

std::filesystem::path run_file(const Settings &settings, const char *ending)
{
    return settings.run_directory /
           (control::namespace_hash(settings.launch_namespace) + ending);
}

std::vector<control::IndependentStatus> independent_status(const IndependentState &state,
                                                           const LocalNode &node)
{
    std::vector<control::IndependentStatus> ranks;

    for (const ckpt_independent_rank &rank : state.ranks) {
        const int number = static_cast<int>(ranks.size());
        ranks.push_back({number, rank.kept, rank.interval, rank.kept_interval, rank.log_bytes,
                         rank.logged_bytes, rank.trimmed_bytes, rank.payload_bytes,
                         rank.control_bytes, rank.logging_ns, rank.keeping_ns,
                         own_obstacle(state, number, rank.kept).empty(),
                         ignores_requests(rank), node.copies(number)});
    }
    return ranks;
}

control::InPlace in_place_after(const control::InPlace &before, const SalvageEvent &news)
{
    control::InPlace now;

    now.count = before.count + 1;
    now.number = news.kind == SalvageEvent::Kind::replayed ? 0 : news.number;
    now.rank = news.rank;
    now.at = static_cast<double>(now_nanoseconds()) * 1e-9;
    now.seconds = news.seconds;
    return now;
}

} // namespace

Agent::Agent(const Settings &settings)
    : settings_(settings),
      local_(loop_, worker_, settings_, rejected_, local_hooks()),
      recovery_(loop_, local_, settings_, recovery_hooks()),
      control_(loop_, rejected_,
               {[this](ClientId client, const control::Request &request) {
                    this->request(client, request);
                },
                [this](ClientId client) {
                    if (coordinator_) {
                        coordinator_->client_gone(client);
                    }
                }}),
      started_(steady_clock::now())
{
    loop_.watch(worker_.descriptor(), EPOLLIN,
                [this](std::uint32_t) { worker_.run_replies(); });
    loop_.watch(caller_.descriptor(), EPOLLIN,
                [this](std::uint32_t) { caller_.run_replies(); });
    supervise();
    control_listener_ = std::make_unique<Listener>(
        loop_, run_file(settings_, ".ctl"), SOCK_STREAM, rejected_,
        [this](Fd socket) { control_.accept(std::move(socket)); });
    /* Last: a rank that finds this socket finds everything else ready. */
    rank_listener_ = std::make_unique<Listener>(
        loop_, run_file(settings_, ".sock"), SOCK_SEQPACKET, rejected_,
        [this](Fd socket) { local_.accept(std::move(socket)); });
}

LocalNode::Hooks Agent::local_hooks()
{
    LocalNode::Hooks hooks;

    hooks.welcome = [this](const RankSession &rank) { return welcome(rank); };
    hooks.joined = [this](const std::string &address) { joined(address); };
    hooks.here = [this](const RankSession &rank) {
        recovery_.rank_here(rank);
        if (supervisor_) {
            supervisor_->rank_here(rank);
        }
    };
    hooks.finished = [this](int rank) {
        if (supervisor_) {
            supervisor_->rank_finished(rank);
        }
    };
    hooks.gone = [this](int rank, Fd process) {
        recovery_.rank_gone(rank); /* `ckpt run` must know before it hears of the end */
        if (supervisor_) {
            supervisor_->rank_gone(rank, std::move(process));
        }
    };
    hooks.is_shell = [this](int rank) {
        recovery_.rank_is_shell(rank);
        if (supervisor_) {
            supervisor_->rank_has_ended(rank);
        }
    };
    hooks.salvage = [this](const SalvageEvent &news) { salvage(news); };
    hooks.committed = [this] { recovery_.committed(); };
    hooks.twins = [this] { recovery_.twins_made(); };
    hooks.kept = [this] { recovery_.committed(); };
    hooks.changes_world = [this](int rank, const ckpt_message &answer) {
        return recovery_.replay().changed(rank, answer);
    };
    hooks.kills = [this] { recovery_.stop(); };
    hooks.refused_to_thaw = [this](pid_t process, const std::string &why, bool is_final) {
        recovery_.refused(process, why, is_final);
    };
    return hooks;
}

Agent::~Agent()
{
    worker_.stop(); /* the work of both threads refers to all other members */
    caller_.stop();
}

/* ---- One node or several ----------------------------------------------------- */

bool Agent::spans_nodes(const RankSession &rank) const
{
    if (settings_.node_count != 0) {
        return settings_.node_count > 1;
    }
    if (rank.rank_count() == 1) {
        return false;
    }
    for (const char *name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}) {
        /* mpirun's own daemons may be tasks of srun, and their number differs. */
        if (const int local = number_from_environment(name); local != 0) {
            return local != rank.rank_count();
        }
    }
    return number_from_environment("SLURM_STEP_NUM_NODES") != 1;
}

/* Returns the text of a rank's WELCOME. The first rank decides whether the agent listens on TCP. */
std::string Agent::welcome(const RankSession &rank)
{
    if (!address_.empty()) {
        return address_;
    }
    rank_count_ = rank.rank_count();
    CKPT_INVARIANT(rank_count_ > 0);
    facts_ = read_launch_facts(
        rank.pid(), settings_.launch_namespace.starts_with(CKPT_LAUNCH_ALONE));
    address_ = "local " + settings_.host;
    if (!spans_nodes(rank)) {
        coordinate(); /* the only agent coordinates */
        return address_;
    }
    try {
        listen_to_peers();
        address_ = peers_->address().text();
    } catch (const std::exception &error) {
        spdlog::error("{}", error.what());
    }
    return address_;
}

void Agent::listen_to_peers()
{
    CKPT_EXPECT(!peers_);
    address_file_ = std::make_unique<AddressFile>(run_file(settings_, ".addr"));
    peers_ = std::make_unique<PeerListener>(
        loop_, settings_.identity(), address_file_->address(), rejected_,
        [this](std::unique_ptr<FrameStream> stream, const std::string &host,
               const std::string &purpose) {
            add_peer(std::move(stream), host, purpose);
        });
    address_file_->keep(peers_->address());
    local_.set_address(peers_->address().place());
}

/* A rank of this node tells which agent coordinates. */
void Agent::joined(const std::string &address)
{
    if (address == address_) {
        coordinate();
        return;
    }
    auto peer = PeerAddress::parse(address);
    if (!peer) {
        spdlog::warn("a rank has no coordinator to join ('{}')",
                     address.substr(0, address.find(' ')));
    } else if (!coordinator_ && !link_) {
        if (peers_) {
            peers_->use_key(peer->key); /* the job's key */
        }
        local_.set_job_key(peer->key);
        link_ = std::make_unique<CoordinatorLink>(
            loop_, caller_, local_, settings_, std::move(*peer), rejected_);
        link_->join(recovery_.partners());
    }
}

void Agent::coordinate()
{
    if (coordinator_ || link_ || !facts_) {
        return;
    }
    if (peers_) {
        local_.set_job_key(peers_->address().key);
    }
    coordinator_ = std::make_unique<Coordinator>(
        settings_, worker_, *facts_, rank_count_,
        [this](ClientId client, const control::Reply &reply) { answer(client, reply); },
        Coordinator::Hooks{[this](const std::string &checkpoint) {
                               if (supervisor_) {
                                   supervisor_->ends_behind(checkpoint);
                               }
                           },
                           [this](const Unprotected::News &news) {
                               if (supervisor_) {
                                   supervisor_->protection(news);
                               }
                           },
                           [this](int rank) {
                               return settings_.keeps_copies && recovery_.replay().begin(rank);
                           }});
    CKPT_INVARIANT(coordinator_ && !link_); /* an agent coordinates, or follows another one */
    local_.attach(coordinator_.get());
    if (supervisor_) {
        supervisor_->coordinates();
    }
    if (!settings_.metrics.empty()) {
        metrics_ = std::make_unique<MetricsFile>(settings_.metrics);
    }
}

void Agent::add_peer(std::unique_ptr<FrameStream> stream,
                     const std::string &host, const std::string &purpose)
{
    if (purpose == "neighbour") {
        local_.add_neighbour(std::move(stream));
    } else if (purpose == "agent") {
        coordinate(); /* the caller was told that this agent coordinates */
        add_remote(std::move(stream), host);
    } /* else: from a newer version; the connection is closed */
}

void Agent::add_remote(std::unique_ptr<FrameStream> stream,
                       const std::string &host)
{
    if (!coordinator_) {
        return;
    }
    Remote &remote = remotes_.emplace_back();
    remote.node = std::make_unique<RemoteNode>(
        std::move(stream), host, *coordinator_, [this, &remote] {
            spdlog::warn("the agent of {} has gone", remote.node->host());
            remote.gone = true;
            remote.node->leave();
            coordinator_->node_gone(*remote.node);
        });
    remote.node->join(recovery_.partners());
}

/* ---- ckpt run ------------------------------------------------------------------- */

void Agent::supervise()
{
    if (settings_.supervisor.empty()) {
        return;
    }
    SupervisorLink::Hooks hooks;
    hooks.order = [this](const nlohmann::json &order) {
        if (order.at("type") == "request") {
            request(first_of_supervisor + order.at("number").get<ClientId>(),
                    order.at("request").get<control::Request>());
        } else if (order.at("type") == "recover") {
            recovery_.answered(order.at("allowed"));
        } else if (order.at("type") == "adopt") {
            recovery_.adopt();
        } /* else: from a newer version */
    };
    hooks.over = [this](const std::string &) { local_.kill(); };
    hooks.exited = [this](int rank, int status) { recovery_.rank_exited(rank, status); };
    supervisor_ = std::make_unique<SupervisorLink>(loop_, caller_, local_, settings_,
                                                   rejected_, std::move(hooks));
}

void Agent::answer(ClientId client, const control::Reply &reply)
{
    CKPT_EXPECT(client < first_of_supervisor || supervisor_);
    if (client >= first_of_supervisor) {
        supervisor_->send({{"type", "reply"},
                           {"number", client - first_of_supervisor},
                           {"reply", reply}});
    } else {
        control_.reply(client, reply);
    }
}

/* ---- Commands ------------------------------------------------------------------ */

/* Takes a message that the launcher sends through rank 0. Returns false for any other request. */
bool Agent::note(const control::Request &request)
{
    if (!coordinator_) {
        return false;
    }
    PmixEventLog &news = coordinator_->pmix_events();
    if (request.command == "registered") {
        news.registered(request.by, request.code);
    } else if (request.command == "declared") {
        news.declared(request.code);
    } else if (request.command == "ended") {
        news.ended(request.rank, request.code, steady_clock::now());
    } else {
        return false;
    }
    return true;
}

void Agent::request(ClientId client, const control::Request &request)
{
    control::Reply reply;

    if (request.command == "status") {
        reply.event = "status";
        reply.status = status();
    } else if (note(request)) {
        reply.event = "noted";
    } else if (request.command != "checkpoint") {
        reply = control::error_reply(refusal(CKPT_REFUSAL_UNKNOWN_REQUEST, "unknown command '{}'",
                                             request.command));
    } else if (!request.then.empty() && request.then != "kill" && request.then != "move") {
        reply = control::error_reply(refusal(CKPT_REFUSAL_UNKNOWN_REQUEST,
                                             "unknown word '{}' for what to do then",
                                             request.then));
    } else if (coordinator_) {
        if (!request.by.empty()) {
            spdlog::info("{} asks for a checkpoint", request.by);
        }
        coordinator_->request(client, request.then == "move"   ? Then::move
                                      : request.then == "kill" ? Then::kill
                                                               : Then::go_on);
        return;
    } else if (link_) {
        reply = control::error_reply({CKPT_REFUSAL_NO_COORDINATOR,
                                      "this is not the node of rank 0: its agent takes requests"});
    } else {
        reply = control::error_reply(
            refusal(CKPT_REFUSAL_JOB_STARTING,
                    "the job is still starting: {} of {} ranks have called MPI_Init",
                    local_.ranks().size(), rank_count_));
    }
    answer(client, reply);
}

control::Status Agent::status() const
{
    control::Status status;

    status.launch_namespace = settings_.launch_namespace;
    status.directory = settings_.directory;
    status.slow_directory = settings_.slow_directory;
    status.host = settings_.host;
    status.agent_pid = getpid();
    status.rank_count = rank_count_;
    status.phase = control::starting;
    status.interval = settings_.interval.value().count();
    status.automatic = settings_.interval.is_automatic();
    status.protocol = settings_.protocol;
    status.snapshot = snapshot_method_name(settings_.snapshot);
    status.codec = settings_.codec.text();
    status.increments = settings_.increments;
    if (facts_) {
        status.launcher_pid = facts_->launcher_pid;
        status.application =
            facts_->application.empty() ? "" : facts_->application[0];
    }
    for (auto &[rank, session] : local_.ranks()) {
        status.ranks.push_back({rank, session->pid(), "running"});
    }
    if (const auto independent = local_.independent()) {
        status.independent = independent_status(*independent, local_);
    }
    status.rejected = rejected();
    if (coordinator_) {
        coordinator_->fill(status);
    } else if (link_) {
        status.phase = link_->connected() ? "running" : control::starting;
    }
    status.salvaged.error = salvage_error_;
    status.in_place = in_place_;
    status.in_place.kept = local_.kept_copies().number();
    if (status.in_place.kept == 0) {
        status.in_place.why_none = local_.kept_copies().why_none();
    }
    status.in_place.standby = recovery_.standby_number();
    return status;
}

void Agent::salvage(const SalvageEvent &news)
{
    if (news.kind == SalvageEvent::Kind::replayed ||
        (news.kind == SalvageEvent::Kind::recovered && news.number != 0)) {
        in_place_ = in_place_after(in_place_, news);
        if (coordinator_) {
            coordinator_->has_recovered();
        }
    } else if (news.kind == SalvageEvent::Kind::not_recovered) {
        in_place_.error = news.why;
    }
    if (news.kind == SalvageEvent::Kind::failed) {
        salvage_error_ = news.why;
        recovery_.replay().give_up();
    }
    if (supervisor_) {
        supervisor_->salvage(news);
    }
}

/* ---- Recovery in place ------------------------------------------------------------ */

Recovery::Hooks Agent::recovery_hooks()
{
    Recovery::Hooks hooks;

    hooks.is_settled = [this] { return coordinator_ && coordinator_->is_settled(); };
    hooks.roll_back = [this](std::uint64_t number,
                             std::function<void(const std::string &)> done) {
        roll_back(number, std::move(done));
    };
    hooks.nodes = [this] {
        return coordinator_ ? coordinator_->nodes() : std::vector<world::WorldNode>();
    };
    hooks.name = [this](std::uint64_t number) {
        return fmt::format("{}/{}", coordinator_ ? coordinator_->job() : "?", number);
    };
    hooks.news = [this](const SalvageEvent &news) { salvage(news); };
    hooks.is_supervised = [this] { return supervisor_ && supervisor_->is_connected(); };
    hooks.launcher = [this] { return facts_ ? facts_->launcher_pid : 0; };
    hooks.adopted = [this](const std::string &why) {
        supervisor_->send({{"type", "adopted"}, {"why", why}});
    };
    hooks.goes_on = [this] {
        local_.salvage().hand_over();
        coordinator_->goes_on_in_place();
    };
    hooks.save_instead = [this] { coordinator_->save_instead(); };
    hooks.aborted = [this](int rank, int code) {
        spdlog::warn("rank {} has called MPI_Abort with code {}", rank, code);
        local_.kill();
        for (Remote &remote : remotes_) {
            remote.node->kill();
        }
    };
    return hooks;
}

/* As before a restart (cli/files/file_rollback.cpp): one node does it for all. */
void Agent::roll_back(std::uint64_t number, std::function<void(const std::string &)> done)
{
    if (coordinator_ && coordinator_->committed() != number) {
        /* the rank has died in a checkpoint that was committed all the same */
        done(fmt::format("no copies of checkpoint {} are kept", coordinator_->committed()));
        return;
    }
    const auto wish =
        coordinator_ ? coordinator_->files_at(number) : std::optional<journal::Wish>();

    worker_.run([this, wish, done = std::move(done)] {
        std::string why;
        try {
            if (wish) {
                for (const std::string &warning : journal::bring_back(*wish).warnings) {
                    spdlog::warn("{}", warning);
                }
            }
        } catch (const std::exception &problem) {
            why = problem.what();
        }
        worker_.reply([why, done] { done(why); });
    });
}

/* Sums the rejected frames of this agent and those that other agents have reported. */
RejectedFrames::Counts Agent::rejected() const
{
    RejectedFrames::Counts sum = rejected_.counts();

    for (const Remote &remote : remotes_) {
        for (const auto &[why, count] : remote.node->rejected()) {
            sum[why] += count;
        }
    }
    return sum;
}

void Agent::tell_metrics(Time now)
{
    if (metrics_) {
        CKPT_INVARIANT(coordinator_);
        metrics_->update(now, coordinator_->milestones(), [this] { return status(); });
    }
}

/* ---- Life ------------------------------------------------------------------------ */

/* If a user, a batch system or `ckpt run` itself ends a launch, the launch has not failed. */
void Agent::ask_about_end()
{
    if (supervisor_ && coordinator_ && local_.had_ranks() && !has_asked_about_end_) {
        has_asked_about_end_ = true;
        supervisor_->ask_about_end();
    }
}

bool Agent::finished(Time now) const
{
    if (local_.has_connections() || recovery_.is_under_way()) {
        return false;
    }
    if (!local_.had_ranks()) {
        return now >= started_ + longest_wait_for_ranks;
    }
    if (may_have_to_copy(now)) {
        return false;
    }
    bool idle = worker_.idle() && caller_.idle() && (!coordinator_ || coordinator_->idle());
    bool told = control_.idle() && (!link_ || link_->idle()) &&
                (!supervisor_ || supervisor_->idle());
    return idle && (told || now >= alone_since_ + longest_farewell);
}

/* While the coordinator lives, it may still ask this node to copy its pieces to the slow tier. */
bool Agent::may_have_to_copy(Time now) const
{
    return !settings_.slow_directory.empty() && link_ && link_->connected() &&
           now < alone_since_ + settings_.timeout;
}

/*
 * Removes the sockets and returns true, unless a rank is just connecting. A
 * connecting rank holds the lock until it is connected. Afterwards the agent
 * holds the lock, so that new ranks wait until leave().
 */
bool Agent::close_doors()
{
    CKPT_EXPECT(rank_listener_ && !local_.has_connections());
    auto path = run_file(settings_, ".lock");
    Fd lock(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));

    if ((lock && flock(lock.get(), LOCK_EX | LOCK_NB) < 0) ||
        rank_listener_->accept_one()) {
        return false;
    }
    rank_listener_.reset();
    control_listener_.reset();
    doors_ = std::move(lock);
    return true;
}

/* Sends the final reports about the job. A rank that has executed another program or calls
 * MPI_Init later needs the next agent of this launch. So this removes the lock file as well: a
 * rank that waits for the lock then finds no listening agent and starts one. */
void Agent::leave()
{
    if (supervisor_) {
        supervisor_->leave();
    }
    if (coordinator_) {
        coordinator_->end(supervisor_ && supervisor_->is_end_asked_for());
    }
    if (metrics_) {
        metrics_->end(status());
    }
    ::unlink(run_file(settings_, ".lock").c_str());
    doors_ = {};
    local_.end();
}

Agent::Time Agent::next_tick(Time now) const
{
    Time next = now + std::chrono::hours(1);

    if (!local_.has_connections()) {
        next = now + std::chrono::milliseconds(100);
    }
    if (coordinator_) {
        next = std::min(next, coordinator_->next_tick(now));
    }
    if (metrics_) {
        next = std::min(next, metrics_->next_tick(now));
    }
    if (link_) {
        next = std::min(next, link_->next_tick(now));
    }
    if (supervisor_) {
        next = std::min(next, supervisor_->next_tick());
    }
    return next;
}

/* Handles the next events. Returns false when the agent has nothing left to do. */
bool Agent::go_on()
{
    Time now = steady_clock::now();
    if (local_.has_connections() || recovery_.is_under_way()) {
        alone_since_ = now;
        has_asked_about_end_ = false;
    } else {
        ask_about_end();
    }
    if (finished(now) && close_doors()) {
        return false;
    }
    loop_.turn(next_tick(now));
    now = steady_clock::now();
    if (coordinator_) {
        coordinator_->tick(now);
    }
    recovery_.look();
    if (link_) {
        link_->tick(now);
    }
    if (supervisor_) {
        supervisor_->tick(now);
    }
    tell_metrics(now);
    std::erase_if(remotes_, [](const Remote &remote) { return remote.gone; });
    return true;
}

/* After the first violated invariant, on whatever thread: this agent may be wrong about the job,
 * so it saves nothing more. The checkpoint under way fails, which lets its ranks run on. */
void Agent::heed_violations()
{
    if (!is_unsound() || std::exchange(has_given_up_, true)) {
        return;
    }
    spdlog::critical("{}; this agent takes no further checkpoint", first_violation());
    if (coordinator_) {
        coordinator_->give_up();
    } else {
        local_.give_up();
    }
}

void Agent::run()
{
    bool is_over = false;

    for (int violations = 0; !is_over;) {
        try {
            is_over = !go_on();
        } catch (const InvariantViolated &violation) {
            if (++violations > most_violations) {
                throw;
            }
            spdlog::debug("{}", violation.what());
        }
        heed_violations();
    }
    leave();
}

} // namespace ckpt
