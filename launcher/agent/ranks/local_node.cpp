/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * local_node.cpp - the ranks on this agent's own node.
 */
#include "agent/ranks/local_node.hpp"

#include "agent/base/log.hpp"
#include "agent/messages/frames.hpp"
#include "common/background.hpp"
#include "common/error.hpp"
#include "common/fault_injection.hpp"
#include "common/files/files.hpp"
#include "common/invariant.hpp"
#include "image/store/job_directory.hpp"
#include "image/store/store.hpp"
#include "protocol/cut_choice.hpp"
#include "protocol/rank_message.hpp"

#include <spdlog/spdlog.h>

#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <set>
#include <utility>

namespace ckpt
{

namespace
{

/* How long the agent waits for the file system when the job begins. */
constexpr auto file_system_timeout = std::chrono::seconds(2);

} // namespace

LocalNode::LocalNode(EventLoop &loop, WorkerThread &worker,
                     const Settings &settings, RejectedFrames &rejected, Hooks hooks)
    : loop_(loop), worker_(worker), settings_(settings), rejected_(rejected),
      hooks_(std::move(hooks)),
      sweep_(loop, worker, settings, rejected, sweep_hooks()),
      sharing_(settings.share_pages),
      increments_(settings.increments), redundancy_(settings, rejected),
      protector_(settings.snapshot == SnapshotMethod::cll &&
                     (!settings.keeps_copies_of_all() || settings.keeps_only_with_room),
                 settings.pool, settings.granule),
      copies_(settings.keeps_copies_of_all(), settings.keeps_only_with_room),
      salvage_(loop, settings.protocol == CutChoice::independent, salvage_hooks()),
      signal_watch_(loop, [this](int rank, std::uint64_t epoch, const std::string &why) {
          refuse_for(rank, epoch, why);
      }),
      shells_(loop, [this](int rank) { shell_ended(rank); })
{
    remover_.run(step_back);
}

/* The owner has stopped the worker thread. */
LocalNode::~LocalNode()
{
    if (image_ != nullptr) {
        image_->abandon();
    }
    for (auto &[session, owner] : sessions_) {
        loop_.forget(session->descriptor());
        loop_.forget(session->process_descriptor());
    }
}

void LocalNode::attach(NodeEvents *events)
{
    events_ = events;
    if (events_ == nullptr) {
        return;
    }
    for (auto &[rank, session] : ranks_) {
        events_->rank_here(*this, rank, session->rank_count(), session->pid(),
                           session->cut());
        if (finished_[rank]) {
            events_->rank_finished(rank);
        }
    }
}

/* ---- Connections --------------------------------------------------------- */

void LocalNode::accept(Fd socket, pid_t process)
{
    auto owner = std::make_unique<RankSession>(std::move(socket), process);
    RankSession *session = owner.get();

    sessions_.emplace(session, std::move(owner));
    loop_.watch(session->descriptor(), EPOLLIN,
                [this, session](std::uint32_t) { readable(session); });
}

void LocalNode::readable(RankSession *session)
{
    ckpt_message message;

    try {
        for (;;) {
            switch (session->receive(message)) {
            case RankSession::Received::message:
                handle(session, message);
                break;
            case RankSession::Received::nothing:
                return;
            case RankSession::Received::end:
                drop(session);
                return;
            }
        }
    } catch (const Rejected &error) {
        rejected_.count(error.why(),
                        fmt::format("a rank's connection is dropped: {}", error.what()));
        drop(session);
    } catch (const Error &error) {
        spdlog::warn("a rank's connection is dropped: {}", error.what());
        drop(session);
    }
}

void LocalNode::handle(RankSession *session, const ckpt_message &message)
{
    if (message.type == CKPT_MSG_HELLO) {
        hello(session, message);
        return;
    }
    if (!session->introduced() && session->owner() != 0 && message.type == CKPT_MSG_REFUSED) {
        /* a copy that has ended cannot be read; its twin may */
        const bool is_gone = message.as.refused.identity == CKPT_REFUSAL_UNREADABLE_RANK;
        hooks_.refused_to_thaw(session->owner(), message.text, !is_gone);
        return;
    }
    if (message.type == CKPT_MSG_SHELL) {
        is_shell(session, message);
        return;
    }
    if (!session->introduced()) {
        reject(Rejection::malformed, "message type {} before HELLO", message.type);
    }
    if (message.type == CKPT_MSG_REFUSED && becoming_shells_.contains(session->rank())) {
        spdlog::warn("{}", message.text);
        session->kill();
        return;
    }
    spdlog::debug("rank {}: {}", session->rank(), to_frame(message).dump());
    signal_watch_.heard(session->rank());
    if (message.type == CKPT_MSG_JOIN) {
        fault_kill("agent-at-join");
        hooks_.joined(message.text);
    } else if (message.type == CKPT_MSG_FINALIZED) {
        finished_[session->rank()] = true;
        hooks_.finished(session->rank());
        if (events_ != nullptr) {
            events_->rank_finished(session->rank());
        }
    } else if (message.type == CKPT_MSG_FROZEN) {
        fault_kill("agent-at-frozen");
        freezer_.answered(session->rank(), message, session->take_passed());
    } else if (message.type == CKPT_MSG_WATCHED) {
        watched(session, message);
    } else if (message.type == CKPT_MSG_COW_SNAPSHOT) {
        salvage_.kept(*session, message);
        hooks_.kept();
    } else if (message.type == CKPT_MSG_SHARED) {
        salvage_.shared(*session, message);
    } else if ((message.type == CKPT_MSG_WORLD_READY || message.type == CKPT_MSG_REFUSED) &&
               hooks_.changes_world(session->rank(), message)) {
        segments_.note(session->pid()); /* of its new world */
    } else if (message.type == CKPT_MSG_WORLD_READY) {
        reject(Rejection::malformed, "a change of worlds that was not ordered");
    } else {
        note_cut(*session, message);
        if (events_ != nullptr) {
            events_->rank_said(session->rank(), message);
        } else if (message.type == CKPT_MSG_ASK) {
            send({session->rank(),
                  CKPT_MSG_ANSWER,
                  true,
                  {.answer = {message.as.ask.number}},
                  Refusal(CKPT_REFUSAL_NO_COORDINATOR, "there is no coordinating agent").text()},
                 message.epoch);
        }
    }
}

void LocalNode::hello(RankSession *session, const ckpt_message &message)
{
    session->hello(message);
    if (!ranks_.empty() &&
        ranks_.begin()->second->rank_count() != session->rank_count()) {
        fail("rank {} counts {} ranks, rank {} counts {}", session->rank(),
             session->rank_count(), ranks_.begin()->first,
             ranks_.begin()->second->rank_count());
    }
    std::string address = hooks_.welcome(*session);
    if (!ranks_.emplace(session->rank(), session).second) {
        fail("a second process says it is rank {}", session->rank());
    }
    CKPT_INVARIANT(std::ssize(ranks_) <= session->rank_count());
    if (!std::exchange(had_ranks_, true)) {
        prepare_to_write();
    }
    salvage_.here(session->rank());
    segments_.note(session->pid());
    finished_[session->rank()] = false;
    loop_.watch(session->process_descriptor(), EPOLLIN,
                [this, session](std::uint32_t) { ended(session); });
    spdlog::info("rank {} of {} is process {}", session->rank(),
                 session->rank_count(), session->pid());
    const std::uint64_t from = restarted_from();
    session->send(CKPT_MSG_WELCOME, from,
                  {.welcome = {from, static_cast<std::uint64_t>(getpid())}}, address);
    note_memory(*session); /* the rank does not wait */
    hooks_.here(*session);
    if (events_ != nullptr) {
        events_->rank_here(*this, session->rank(), session->rank_count(),
                           session->pid(), session->cut());
    }
}

/* The process has ended. Its last messages may still be unread. */
void LocalNode::ended(RankSession *session)
{
    readable(session);
    drop(session);
}

/* Returns nothing if the session has been taken out already. */
std::unique_ptr<RankSession> LocalNode::take_out(RankSession *session)
{
    auto found = sessions_.find(session);
    if (found == sessions_.end()) {
        return nullptr;
    }
    std::unique_ptr<RankSession> owner = std::move(found->second);
    sessions_.erase(found);
    loop_.forget(session->descriptor());
    loop_.forget(session->process_descriptor());
    return owner;
}

/* The rank of this session is not here any more. */
void LocalNode::leave(const RankSession &session)
{
    const int rank = session.rank();

    ranks_.erase(rank);
    becoming_shells_.erase(rank);
    freezer_.forget(rank); /* the checkpoint fails */
    watching_.forget(rank);
    increments_.forget(rank);
    protector_.forget(rank);
    signal_watch_.forget(rank);
    CKPT_INVARIANT(ranks_.size() <= sessions_.size());
    salvage_.gone(session, finished_[rank]);
}

void LocalNode::drop(RankSession *session)
{
    const std::unique_ptr<RankSession> owner = take_out(session);
    if (!owner) {
        return;
    }
    auto known = ranks_.find(session->rank());
    if (known != ranks_.end() && known->second == session) {
        const int rank = session->rank();
        spdlog::info("rank {} has gone", rank);
        leave(*session);
        hooks_.gone(rank, session->take_process());
        if (events_ != nullptr) {
            events_->rank_gone(rank);
        }
    }
}

/* The codec `auto` needs the speed of the file system before a rank is stopped. An error here is
 * not reported: it appears again when a checkpoint is saved. */
void LocalNode::prepare_to_write()
{
    look_at_file_system();
    if (settings_.codec.kind != Codec::Kind::automatic) {
        return;
    }
    prober_.run([this] {
        try {
            make_private_directory(settings_.directory);
            (void)write_rate_.probe_in(settings_.directory);
        } catch (const std::exception &error) {
            spdlog::debug("{}", error.what());
        }
    });
}

/* Measures once, for a job that takes checkpoints. Nodes do not measure shared file systems. */
void LocalNode::try_direct_io()
{
    if (settings_.direct_io == Switch::automatic && !direct_io_tried_ &&
        file_system().kind == FileSystem::Kind::local) {
        worker_.run([this] { write_rate_.try_direct_in(settings_.directory); });
    }
    direct_io_tried_ = true;
}

RankSession *LocalNode::find(int rank) const
{
    auto found = ranks_.find(rank);
    return found == ranks_.end() ? nullptr : found->second;
}

/* ---- The machine --------------------------------------------------------- */

void LocalNode::look_at_file_system() const
{
    auto promise = std::make_shared<std::promise<FileSystem>>();

    file_system_ = promise->get_future().share();
    file_system_until_ = std::chrono::steady_clock::now() + file_system_timeout;
    prober_.run([promise, directory = settings_.directory] {
        promise->set_value(file_system_of(directory));
    });
}

/* A file system that does not answer counts as local, like any that cannot be examined. */
FileSystem LocalNode::file_system() const
{
    if (!file_system_.valid()) {
        look_at_file_system();
    }
    return file_system_.wait_until(file_system_until_) == std::future_status::ready
               ? file_system_.get()
               : FileSystem();
}

int LocalNode::memory_of(int rank) const
{
    auto found = memory_.find(rank);
    return found == memory_.end() ? 0 : found->second;
}

void LocalNode::note_memory(const RankSession &session)
{
    if (!processors_) {
        processors_.emplace();
    }
    memory_[session.rank()] = processors_->memory_of(session.pid());
}

/* ---- The image -------------------------------------------------------------
 * There is one image for each checkpoint. The worker thread runs its tasks in
 * order.
 */

LocalNode::Image LocalNode::begin_image(const std::filesystem::path &directory,
                                        const std::vector<int> &logging)
{
    WriterOptions options;

    end_image();
    copies_.withdraw();
    CKPT_INVARIANT(image_ == nullptr && held_cuts_.empty() && !is_making_directory_);
    options.codec = settings_.codec;
    options.snapshot = settings_.snapshot;
    options.identities = &identities_;
    options.write_rate = &write_rate_;
    options.pool = protector_.pool();
    options.sharing = &sharing_;
    options.is_direct = settings_.direct_io == Switch::on ||
                        (settings_.direct_io == Switch::automatic &&
                         write_rate_.is_direct_faster());
    options.write_limit = settings_.write_limit;
    increments_.prepare(options);
    image_ = std::make_shared<NodeImage>(settings_.host, options, directory, logging);
    return image_;
}

/* From now on, no event of the image is reported. */
void LocalNode::end_image()
{
    unprotect();
    freezer_.clear();
    watching_.clear();
    held_cuts_.clear();
    is_making_directory_ = false;
    if (Image image = std::exchange(image_, nullptr)) {
        image->cancel();
        worker_.run([image] { image->abandon(); });
    }
}

/* Runs a task on the present image, unless the image has failed. */
void LocalNode::work(std::function<void(const Image &)> task)
{
    if (image_ == nullptr) {
        return;
    }
    worker_.run([this, image = image_, task = std::move(task)] {
        if (image->cancelled()) {
            return;
        }
        try {
            require_sound();
            CKPT_INVARIANT(!fault_strikes("invariant-in-task"));
            task(image);
        } catch (const MemoryGivenBack &loss) {
            image->give_up();
            tell(image, [this, reason = std::string(loss.what())](auto &events) {
                protector_.pause(reason);
                events.failed_once({CKPT_REFUSAL_MEMORY_GIVEN_BACK, reason});
            });
        } catch (const std::exception &error) {
            image->give_up(); /* ranks may still write their logs */
            tell(image, [reason = refusal_of(error, CKPT_REFUSAL_WRITE_FAILED)](auto &events) {
                events.failed(reason);
            });
        }
    });
}

void LocalNode::tell(const Image &image,
                     std::function<void(NodeEvents &)> event)
{
    worker_.reply([this, image, event = std::move(event)] {
        if (events_ != nullptr && image == image_) {
            CKPT_INVARIANT(!fault_strikes("invariant-in-reply"));
            event(*events_);
        }
    });
}

void LocalNode::tell_written(const Image &image, const WrittenPiece &written)
{
    require_sound();
    tell(image, [this, written, directory = image->directory()](NodeEvents &events) {
        increments_.written(written.piece, directory);
        if (written.piece.shared) {
            copies_.are_of_no_use("ranks share objects, which are not in a copy");
        }
        events.written(*this, written);
    });
}

NodeImage::Captured LocalNode::tell_captured(const Image &image)
{
    return [this, image](int rank) {
        tell(image, [rank](NodeEvents &events) { events.captured(rank); });
    };
}

StoppedRank LocalNode::stopped(int rank, std::uint64_t snapshot) const
{
    RankSession *session = find(rank);

    if (salvage_.is_proxy(rank)) { /* the copy is frozen as long as it is kept */
        return {rank, {salvage_.copy().process->pid(), snapshot}};
    }
    return {rank, {session == nullptr ? -1 : session->pid(), snapshot}};
}

/* Asks stopped ranks for everything that is needed before they are read. */
void LocalNode::prepare(const Freezer::Ranks &ranks, Freezer::Then then)
{
    watch(ranks, [this, then = std::move(then)](const Freezer::Ranks &ranks) {
        freeze(ranks, then);
    });
}

/* A kept copy is made with FREEZE: a rank that has one need not be protected. */
bool LocalNode::is_to_protect(int rank) const
{
    return !copies_.are_chosen() && protector_.asks(rank);
}

/* Makes the kernel track changes in the ranks from now on, or write-protect their pages: a
 * mapping can have only one userfaultfd. */
void LocalNode::watch(const Freezer::Ranks &ranks, Freezer::Then then)
{
    std::vector<int> numbers;

    for (const StoppedRank &stopped : ranks) {
        numbers.push_back(stopped.rank);
    }
    auto order = [this](int rank) {
        RankSession *session = find(rank);
        unsigned long flags = is_to_protect(rank) ? WriteProtection::descriptor_flags()
                                                  : PageWatch::descriptor_flags();
        return (increments_.lacks(rank) || is_to_protect(rank)) && session != nullptr &&
               session->send(CKPT_MSG_WATCH, 0, {.watch = {flags}});
    };
    watching_.ask(numbers, order, [this, ranks, then = std::move(then)] {
        Freezer::Ranks watched = ranks;
        for (StoppedRank &stopped : watched) {
            stopped.process.changes = increments_.changes_of(stopped.rank);
            stopped.process.protection = protector_.take(stopped.rank);
            RankSession *session = find(stopped.rank);
            if (stopped.process.protection != nullptr && session != nullptr) {
                session->page().set_protected(true);
            }
        }
        then(watched);
    });
}

void LocalNode::watched(RankSession *session, const ckpt_message &message)
{
    if (message.as.watched.state == CKPT_WATCHED_OPEN) {
        return; /* the rank still has to close its own descriptor */
    }
    Fd descriptor = session->take_passed();

    fault_kill("agent-at-watched");
    watching_.answered(session->rank(), [&] {
        int error = static_cast<int>(message.as.watched.error);
        if (is_to_protect(session->rank())) {
            protector_.add(session->rank(), session->pid(), std::move(descriptor), error);
        } else if (increments_.lacks(session->rank())) {
            increments_.add(session->rank(), session->pid(), std::move(descriptor), error);
        }
    });
}

/* Orders the ranks to make copies of themselves, if the snapshot method needs copies. */
void LocalNode::freeze(const Freezer::Ranks &ranks, Freezer::Then then)
{
    const bool is_copying = copies_.are_chosen() ||
                            settings_.snapshot == SnapshotMethod::cow ||
                            settings_.snapshot == SnapshotMethod::cll;
    std::set<int> unprotected;
    for (const StoppedRank &stopped : ranks) {
        if (stopped.process.protection == nullptr) {
            unprotected.insert(stopped.rank);
        }
    }
    auto order = [&](int rank) {
        RankSession *session = find(rank);
        return is_copying && unprotected.count(rank) > 0 && session != nullptr &&
               session->send(CKPT_MSG_FREEZE, 0,
                             {.freeze = {static_cast<std::uint64_t>(getpid())}});
    };
    freezer_.ask(ranks,
                 copies_.are_chosen() ? FrozenCopy::Use::kept : FrozenCopy::Use::read_once, order,
                 std::move(then));
}

void LocalNode::capture(const std::filesystem::path &directory,
                        const RankSnapshots &snapshots)
{
    Freezer::Ranks ranks;

    for (auto [rank, snapshot] : snapshots) {
        if (find(rank) != nullptr || salvage_.is_proxy(rank)) {
            ranks.push_back(stopped(rank, snapshot));
        }
    }
    begin_image(directory, {});
    make_directory(directory);
    copies_.choose(ranks);
    prepare(ranks, [this](const Freezer::Ranks &ranks) {
        copies_.propose(ranks);
        work([this, ranks](const Image &image) {
            tell_written(image, image->write(ranks, tell_captured(image)));
        });
    });
}

/* Only the coordinator knows the name under which the job is saved. */
void LocalNode::open_log_in(const std::filesystem::path &job) const
{
    try {
        open_log(job, settings_.host);
    } catch (const std::exception &error) {
        spdlog::warn("{}", error.what());
    }
}

/* Makes the checkpoint's directory, if this node does not see the coordinator's. Ranks write
 * their logs into it: they get its path in CUT as soon as it exists. */
void LocalNode::make_directory(const std::filesystem::path &directory)
{
    is_making_directory_ = true;
    work([this, directory](const Image &image) {
        open_log_in(directory.parent_path());
        make_checkpoint_directory(directory);
        tell(image, [this](NodeEvents &) { send_held_cuts(); });
    });
}

void LocalNode::send_held_cuts()
{
    CKPT_EXPECT(is_making_directory_);
    is_making_directory_ = false;
    for (const auto &[order, epoch] : std::exchange(held_cuts_, {})) {
        send(order, epoch);
    }
}

void LocalNode::open_piece(const std::filesystem::path &directory)
{
    std::vector<int> ranks;

    for (auto &[rank, session] : ranks_) {
        ranks.push_back(rank);
    }
    copies_.decline("the protocol saves the ranks one by one");
    begin_image(directory, ranks);
    make_directory(directory);
    work([](const Image &image) { image->open(); });
}

void LocalNode::add_to_piece(int rank, std::uint64_t snapshot)
{
    prepare({stopped(rank, snapshot)}, [this](const Freezer::Ranks &ranks) {
        CKPT_INVARIANT(ranks.size() == 1);
        work([this, rank = ranks.front()](const Image &image) {
            image->add(rank, tell_captured(image));
        });
    });
}

void LocalNode::close_piece(const std::vector<int> &ranks)
{
    work([this, ranks](const Image &image) {
        tell_written(image, image->close(ranks));
    });
}

std::uint64_t LocalNode::saved(const std::filesystem::path &directory) const
{
    return image_ != nullptr && image_->directory() == directory ? image_->saved() : 0;
}

void LocalNode::undo()
{
    end_image();
    copies_.withdraw();
    worker_.run([this] { /* runs after the tasks that end now */
                         worker_.reply([this] {
                             if (events_ != nullptr) {
                                 events_->undone(*this);
                             }
                         });
    });
}

/* Ranks need not ask any more before they give memory back to the kernel. */
void LocalNode::unprotect()
{
    for (auto &[rank, session] : ranks_) {
        session->page().set_protected(false);
    }
}

void LocalNode::committed(std::uint64_t number)
{
    CKPT_EXPECT(number > 0);
    copies_.commit(number);
    make_twins();
    hooks_.committed();
    unprotect();
    protector_.committed();
    for (auto &tracker : increments_.committed(number)) {
        worker_.run([tracker] { tracker->committed(); });
    }
    for (auto &[rank, session] : ranks_) {
        session->page().set_committed(number);
    }
    try_direct_io();
    fold();
}

void LocalNode::make_twins()
{
    if (copies_.number() == 0) {
        return;
    }
    worker_.run([this, number = copies_.number(), kept = copies_.kept()] {
        KeptCopies::ByRank twins;
        try {
            twins = twins_of(kept);
        } catch (const std::exception &problem) {
            spdlog::warn("{}", problem.what());
        }
        worker_.reply([this, number, twins = std::move(twins)] {
            if (copies_.number() == number) {
                copies_.add_twins(twins);
                hooks_.twins();
            }
        });
    });
}

/* Folds a piece in the background, if there is one to fold. */
void LocalNode::fold()
{
    if (is_unsound()) {
        return; /* the piece must stay as it is */
    }
    auto next = increments_.begin_folding();
    if (!next) {
        return;
    }
    WriterOptions options;
    options.codec = settings_.codec;
    options.write_limit = settings_.write_limit;
    auto then = [this, number = next->checkpoint](const std::optional<Piece> &folded) {
        worker_.reply([this, number, folded] {
            increments_.end_folding(number, folded.has_value());
            if (folded && events_ != nullptr && !is_unsound()) {
                events_->folded(*this, number, *folded);
            }
        });
    };
    keeper_.fold(std::make_unique<PieceFold>(next->directory, next->identity, options),
                 then);
}

void LocalNode::copy_piece(const std::filesystem::path &from,
                           const std::filesystem::path &to, const Piece &piece)
{
    auto then = [this, file = piece.file](const std::string &error) {
        worker_.reply([this, file, error] {
            if (events_ != nullptr) {
                events_->copied(*this, file, error);
            }
        });
    };
    keeper_.copy(std::make_unique<PieceCopy>(from, to, piece, settings_.write_limit), then);
}

void LocalNode::set_job_key(const MessageKey &key)
{
    sweep_.set_job_key(key);
    redundancy_.serve(key);
    blocks_ = redundancy_.place();
}

void LocalNode::write_redundancy(const RedundancyOrder &order)
{
    redundancy_.write(order, [this, number = order.number](const std::string &error) {
        worker_.reply([this, number, error] {
            if (events_ != nullptr) {
                events_->redundancy_written(*this, number, error);
            }
        });
    });
}

void LocalNode::discard(const std::filesystem::path &job, std::uint64_t end,
                        const std::set<std::uint64_t> &stay)
{
    remover_.run([job, end, stay] {
        try {
            Store(job.parent_path()).discard(job.filename(), end, stay);
            remove_job_directory_if_empty(job);
        } catch (const std::exception &error) {
            spdlog::warn("{}", error.what());
        }
    });
}

/* ---- The sweep -------------------------------------------------------------- */

NodeSweep::Hooks LocalNode::sweep_hooks()
{
    return {[this] {
                if (events_ != nullptr) {
                    events_->sweep_opened(*this);
                }
            },
            [this](int rank, std::uint64_t messages) {
                tell_swept(rank, messages);
            },
            [this](const std::string &reason) {
                if (events_ != nullptr) {
                    events_->sweep_failed(*this, reason);
                }
            }};
}

void LocalNode::set_sweep_plan(const SweepPlan &plan)
{
    sweep_.set_plan(plan);
}

void LocalNode::open_sweep(std::uint64_t epoch)
{
    swept_epoch_ = epoch;
    sweep_.open(epoch);
}

/* When a rank answers CUT, its page has the counts of its cut. */
void LocalNode::note_cut(const RankSession &session, const ckpt_message &message)
{
    const bool is_cut = message.type == CKPT_MSG_READY ||
                        message.type == CKPT_MSG_REFUSED;

    if (!is_cut || message.epoch != swept_epoch_) {
        return;
    }
    std::vector<std::uint64_t> sent;
    for (int peer = 0; peer < session.rank_count(); peer++) {
        sent.push_back(session.page().sent(peer));
    }
    sweep_.cut(session.rank(), message.epoch, sent);
}

void LocalNode::tell_swept(int rank, std::uint64_t messages)
{
    send({rank, CKPT_MSG_SWEPT, true, {.swept = {messages}}, {}}, swept_epoch_);
}

/* Refuses on behalf of a rank that does not get the signal and so cannot answer. */
void LocalNode::refuse_for(int rank, std::uint64_t epoch, const std::string &why)
{
    spdlog::warn("rank {}: {}", rank, why);
    if (events_ != nullptr) {
        events_->rank_said(rank, make_refusal(epoch, CKPT_REFUSAL_SIGNAL_BLOCKED, why));
    }
}

/* ---- One rank has died ------------------------------------------------------- */

Salvage::Hooks LocalNode::salvage_hooks()
{
    return {[this](int rank) { return obstacle_without(rank); },
            [this](int rank, const RankCut &cut) { events_->proxy_here(*this, rank, cut); },
            [this](int rank, const ckpt_message &message) {
                worker_.reply([this, rank, message] { /* runs later: the listener has just given
                                                         the order */
                                                      if (events_ != nullptr &&
                                                          salvage_.is_proxy(rank)) {
                                                          events_->rank_said(rank, message);
                                                      }
                });
            },
            [this](const SalvageEvent &news) { hooks_.salvage(news); }};
}

bool LocalNode::has_finished(int rank) const
{
    const auto found = finished_.find(rank);
    return found != finished_.end() && found->second;
}

std::string LocalNode::obstacle_to_going_back(int rank) const
{
    if (events_ == nullptr) {
        return "there is no coordinating agent";
    }
    for (const auto &[other, is_finished] : finished_) {
        if (is_finished && other != rank) {
            return fmt::format("rank {} has called MPI_Finalize", other);
        }
    }
    return {};
}

std::string LocalNode::obstacle_without(int rank) const
{
    if (const std::string why = obstacle_to_going_back(rank); !why.empty()) {
        return why;
    }
    const int all = ranks_.empty() ? 1 : ranks_.begin()->second->rank_count();
    if (std::ssize(ranks_) != all - 1) {
        return fmt::format("{} of {} other ranks are on this node", ranks_.size(), all - 1);
    }
    return {};
}

void LocalNode::salvage_over(std::uint64_t number, const Refusal &why)
{
    salvage_.over(number, why);
}

/* ---- Orders ---------------------------------------------------------------
 */

void LocalNode::set_targets(int rank, const std::vector<std::uint64_t> &targets)
{
    if (RankSession *session = find(rank)) {
        session->page().set_targets(targets);
    } else if (salvage_.is_proxy(rank)) {
        salvage_.set_targets(targets);
    }
}

void LocalNode::set_expected(int rank,
                             const std::vector<std::uint64_t> &expected)
{
    if (RankSession *session = find(rank)) {
        session->page().set_expected(expected);
    } else if (salvage_.is_proxy(rank)) {
        salvage_.set_expected(expected);
    }
}

void LocalNode::send(const action::Send &order, std::uint64_t epoch)
{
    if (order.type == CKPT_MSG_CUT && is_making_directory_) {
        held_cuts_.emplace_back(order, epoch);
        return;
    }
    RankSession *session = find(order.rank);

    if (session == nullptr) {
        if (salvage_.is_proxy(order.rank)) {
            salvage_.send(order, epoch);
        }
        return;
    }
    if (order.type == CKPT_MSG_REQUEST) {
        if (is_unsound()) { /* the coordinator of another node does not know */
            worker_.reply([this] { give_up(); });
        }
        signal_watch_.ask(*session, epoch);
    } else if (order.type == CKPT_MSG_RESUME) {
        signal_watch_.forget(order.rank);
    }
    if (!session->send(order.type, epoch, order.body, order.text)) {
        /* the loop handles the end of the connection when it sees it */
        ::shutdown(session->descriptor(), SHUT_RDWR);
    } else if (order.signal) {
        session->signal();
    }
}

/* Reports the violated invariant of this agent to the coordinator. */
void LocalNode::give_up()
{
    CKPT_EXPECT(is_unsound());
    if (events_ != nullptr) {
        events_->failed(refusal_of_violation());
    }
}

void LocalNode::kill()
{
    salvage_.stop();
    hooks_.kills();
    for (auto &[rank, session] : ranks_) {
        session->kill();
    }
    shells_.kill();
}

std::vector<ckpt_clock> LocalNode::clocks(int rank) const
{
    if (salvage_.is_proxy(rank)) {
        return salvage_.clocks();
    }
    RankSession *session = find(rank);
    return session == nullptr ? std::vector<ckpt_clock>() : session->page().clocks();
}

std::uint64_t LocalNode::sent(int rank, int peer) const
{
    if (salvage_.is_proxy(rank)) {
        return salvage_.copy().counts.sent.at(peer);
    }
    RankSession *session = find(rank);
    return session == nullptr ? 0 : session->page().sent(peer);
}

std::uint64_t LocalNode::received(int rank, int peer) const
{
    if (salvage_.is_proxy(rank)) {
        return salvage_.copy().counts.received.at(peer);
    }
    RankSession *session = find(rank);
    return session == nullptr ? 0 : session->page().received(peer);
}

RankSeen LocalNode::seen(int rank, std::uint64_t epoch) const
{
    RankSession *session = find(rank);
    if (session == nullptr) {
        return {};
    }
    RankSeen seen = session->page().seen();
    if (session == ranks_.begin()->second && epoch == swept_epoch_) {
        seen.sweep = sweep_.seen();
    }
    return seen;
}

} // namespace ckpt
