/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ckptd_main.cpp - options of the node agent, and how the agent becomes
 * independent of the rank that started it.
 */
#include "config.h"

#include "agent/ckptd/agent.hpp"
#include "agent/base/log.hpp"
#include "common/durations.hpp"
#include "common/error.hpp"
#include "common/files/files.hpp"
#include "common/host.hpp"
#include "common/memory.hpp"
#include "common/files/run_directory.hpp"
#include "common/standard_streams.hpp"
#include "fabric/endpoint.hpp"
#include "image/seal/image_key.hpp"
#include "image/store/job_owner.hpp"
#include "image/store/tiers.hpp"

#include <CLI/CLI.hpp>
#include <spdlog/spdlog.h>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>

namespace ckpt
{

namespace
{

constexpr int ready_descriptor = 3; /* the process that started the agent waits for one byte */

struct Options {
    std::string launch_namespace;
    std::string directory = "ckpt";
    std::string copy_interval = "0";
    std::string redundancy = "none";
    std::string domains;
    std::string fabric = "auto";
    std::string name;
    std::string host;
    std::string interval = "0";
    std::string mtbf;
    std::string timeout = "30m";
    std::string protocol = "sns";
    std::string stagger = "auto";
    unsigned sweep_dimensions = 0;
    std::string key;
    std::string codec = "zstd";
    std::string snapshot = "auto";
    std::size_t pool = 0;
    std::size_t granule = default_granule;
    std::string share_pages = "auto";
    std::string direct_io = "auto";
    std::uint64_t write_rate = 0;
    std::string restart_job;
    std::uint64_t restart_number = 0;
    std::uint64_t incarnation = 0;
    std::string supervisor;
    std::string owner_token;
    unsigned increments = 0;
    unsigned keep = 2;
    int nodes = 0;
    std::string metrics;
    bool foreground = false;
};

void declare(CLI::App &app, Options &options)
{
    app.add_option("--namespace", options.launch_namespace,
                   "Name of the launch, as PMIx gives it")
        ->required();
    app.add_option("--dir", options.directory, "Directory of the checkpoints, or FAST,SLOW")
        ->envname("CKPT_DIR");
    app.add_option("--copy-interval", options.copy_interval,
                   "Time between two checkpoints that are copied to SLOW, at least (0: each "
                   "one is)")
        ->envname("CKPT_COPY_INTERVAL");
    app.add_option("--redundancy", options.redundancy,
                   "How nodes protect each other's pieces in a FAST of their own: none, "
                   "partner, parity or rsLOSSES, with /NODES of a group")
        ->envname("CKPT_REDUNDANCY");
    app.add_option("--domains", options.domains,
                   "File that says which nodes fail together: lines NODE... : DOMAIN")
        ->envname("CKPT_DOMAINS");
    app.add_option("--fabric", options.fabric,
                   "Network over which nodes read each other's pieces: auto, off (TCP), or a "
                   "provider of libfabric")
        ->envname("CKPT_FABRIC");
    app.add_option("--name", options.name, "Name of the job")
        ->envname("CKPT_NAME");
    app.add_option("--interval", options.interval,
                   "Time from the end of one checkpoint to the next, or auto (0: "
                   "none)")
        ->envname("CKPT_INTERVAL");
    app.add_option("--mtbf", options.mtbf,
                   "Mean time between failures, for the interval auto (observed)")
        ->envname("CKPT_MTBF");
    app.add_option("--timeout", options.timeout,
                   "After this time a checkpoint is given up")
        ->envname("CKPT_TIMEOUT");
    app.add_option("--protocol", options.protocol,
                   "How the ranks agree on a checkpoint: sns, cl, ns, auto or independent")
        ->envname("CKPT_PROTOCOL")
        ->check(CLI::IsMember({"sns", "cl", "ns", "auto", "independent"}));
    app.add_option("--stagger", options.stagger,
                   "Ranks that are saved one after the other: those of a node, "
                   "of a file server (storage), of the job, or no")
        ->envname("CKPT_STAGGER")
        ->check(CLI::IsMember({"no", "node", "storage", "job", "auto"}));
    app.add_option("--sweep-dimensions", options.sweep_dimensions,
                   "Dimensions of the mesh of nodes (0: a hypercube)")
        ->envname("CKPT_SWEEP_DIMENSIONS")
        ->check(CLI::Range(0u, 32u));
    app.add_option("--key", options.key,
                   "File with the key that checkpoints are encrypted with, or |COMMAND that "
                   "prints it")
        ->envname(key_variable);
    app.add_option("--codec", options.codec, "none, lz4, zstd, zstd:LEVEL or auto")
        ->envname("CKPT_CODEC");
    app.add_option("--snapshot", options.snapshot,
                   "How long ranks stand still: stop, memory, cow, cll or auto")
        ->envname("CKPT_SNAPSHOT");
    app.add_option("--pool", options.pool,
                   "Memory for copies of pages that ranks write to before they are saved (cll): "
                   "64M, 1G (0: up to a quarter of the free memory)")
        ->envname("CKPT_POOL")
        ->transform(CLI::AsSizeValue(false));
    app.add_option("--granule", options.granule,
                   "Bytes that are copied at once (cll): 4K to 1M, a power of two")
        ->envname("CKPT_GRANULE")
        ->transform(CLI::AsSizeValue(false));
    app.add_option("--share-pages", options.share_pages,
                   "Store pages that are alike once: auto, on or off")
        ->envname("CKPT_SHARE_PAGES");
    app.add_option("--direct-io", options.direct_io,
                   "Write past the page cache: auto, on or off")
        ->envname("CKPT_DIRECT_IO");
    app.add_option("--write-rate", options.write_rate,
                   "At most so many bytes per second: 200M, 1G (0: no limit)")
        ->envname("CKPT_WRITE_RATE")
        ->transform(CLI::AsSizeValue(false));
    app.add_option("--incremental", options.increments,
                   "Number of checkpoints with only the changed pages after each full one")
        ->envname("CKPT_INCREMENTAL");
    app.add_option("--keep", options.keep, "Committed checkpoints to keep")
        ->envname("CKPT_KEEP")
        ->check(CLI::Range(1u, UINT_MAX));
    app.add_option("--restart-job", options.restart_job,
                   "Job that this launch goes on with")
        ->envname("CKPT_RESTART_JOB");
    app.add_option("--restart-number", options.restart_number,
                   "Checkpoint it was restarted from")
        ->envname("CKPT_RESTART_NUMBER");
    app.add_option("--supervisor", options.supervisor,
                   "File that says where `ckpt run` is to be found")
        ->envname("CKPT_SUPERVISOR");
    app.add_option("--owner", options.owner_token,
                   "Token of the launch, by which its agent takes the job over from its command")
        ->envname(owner_variable);
    app.add_option("--incarnation", options.incarnation,
                   "Which launch of the job this is: agents of different ones do not "
                   "talk to each other")
        ->envname("CKPT_INCARNATION");
    app.add_option("--host", options.host, "Name of this node")
        ->envname("CKPT_HOST");
    app.add_option("--nodes", options.nodes,
                   "Nodes of the job (0: found out from the launcher)")
        ->envname("CKPT_NODES");
    app.add_option("--metrics", options.metrics,
                   "File with metrics of the job for Prometheus; %h is the host, %j the "
                   "job")
        ->envname("CKPT_METRICS");
    app.add_flag("--foreground", options.foreground,
                 "Stay in the foreground, keep stderr");
    app.set_version_flag("--version", PACKAGE_STRING);
}

Settings settings_from(const Options &options)
{
    Settings settings;

    settings.launch_namespace = options.launch_namespace;
    const auto tiers = TierDirectories::parse(options.directory);
    settings.directory = tiers.fast;
    settings.slow_directory = tiers.slow;
    settings.copy_interval = parse_duration(options.copy_interval);
    settings.redundancy = redundancy::Scheme::parse(options.redundancy);
    settings.domains = options.domains;
    settings.fabric = fabric::Choice::parse(options.fabric);
    settings.run_directory = run_directory();
    settings.name = options.name;
    settings.host = options.host.empty() ? host_name() : options.host;
    settings.restart_job = options.restart_job;
    settings.restart_number = options.restart_number;
    settings.incarnation = options.incarnation;
    settings.supervisor = options.supervisor;
    settings.owner_token =
        options.owner_token.empty() ? make_owner_token() : options.owner_token;
    settings.interval = CheckpointInterval::parse(options.interval);
    if (!options.mtbf.empty()) {
        settings.interval.give_mtbf(
            std::chrono::duration<double>(parse_duration(options.mtbf)).count());
    }
    settings.timeout = parse_duration(options.timeout);
    settings.protocol = options.protocol;
    settings.stagger = options.stagger;
    settings.sweep_dimensions = options.sweep_dimensions;
    settings.codec = Codec::parse(options.codec);
    settings.snapshot = snapshot_method_from(options.snapshot);
    /* An increment is useless without the checkpoints before it, which may be on a lost node. */
    const bool is_redundant = settings.redundancy.kind != redundancy::Scheme::Kind::none;
    settings.increments = is_redundant ? 0 : options.increments;
    if (settings.increments > 0 && settings.snapshot == SnapshotMethod::cll) {
        settings.snapshot = SnapshotMethod::cow; /* a mapping can have only one userfaultfd */
    }
    settings.pool = options.pool;
    settings.granule = require_granule(options.granule);
    settings.share_pages = switch_from(options.share_pages);
    settings.direct_io = switch_from(options.direct_io);
    settings.write_limit = options.write_rate;
    settings.keep = options.keep;
    settings.node_count = options.nodes;
    if (!options.metrics.empty()) {
        settings.metrics = std::filesystem::absolute(options.metrics);
    }
    return settings;
}

/*
 * Runs before the agent reports that it is ready. Without its key the agent ends, and the job is
 * not saved: it must not be saved in clear. Only sns takes a key, as the other protocols write
 * message logs in clear.
 */
void take_key(const Options &options, Settings &settings)
{
    use_image_key(options.key);
    if (!image_key()) {
        return;
    }
    const rlimit none{};
    if (setrlimit(RLIMIT_CORE, &none) < 0) {
        fail_errno(errno, "cannot keep the key out of core files");
    }
    if (settings.protocol == "auto") {
        settings.protocol = "sns";
    }
    if (settings.protocol != "sns") {
        fail("--protocol {} does not take a key: only sns does", settings.protocol);
    }
}

/* Raises the limit of descriptors, which the agent inherits from the program. Each rank, node
 * and command takes one or two. */
void take_all_descriptors()
{
    rlimit limit{};

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit); /* the inherited limit is enough for most jobs */
    }
}

/* Closes the job's descriptors: a launcher may wait for end of file on its
 * pipes, and so may the application. */
void close_inherited()
{
    close_range(ready_descriptor + 1, UINT_MAX, 0);
    unsetenv("LD_PRELOAD");
}

void use_null(int descriptor)
{
    Fd null(open("/dev/null", O_RDWR | O_CLOEXEC));

    if (!null || dup2(null.get(), descriptor) < 0) {
        fail_errno(errno, "cannot open /dev/null");
    }
}

/* Libraries of some fabrics set handlers for these signals when they are loaded. Those handlers
 * write files into the working directory. */
constexpr int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

/*
 * The agent outlives its job while it still has to write, and then ends by
 * itself. So it ignores the signals that the launcher sends to the job's
 * processes when the job ends. SIGKILL still works, and harms only the
 * checkpoint under way.
 */
void ignore_signals()
{
    sigset_t none;

    for (int number : crashes) {
        signal(number, SIG_DFL);
    }
    for (int number : {SIGHUP, SIGINT, SIGTERM, SIGPIPE, SIGXFSZ, SIGTSTP,
                       SIGTTIN, SIGTTOU}) {
        signal(number, SIG_IGN);
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, nullptr);
}

/* Lets the agent run on all processors that the system allows. The agent
 * inherits the core that mpirun binds the first rank to. While that rank's
 * threads use the core, the agent would wait for minutes. */
void use_all_processors()
{
    std::array<unsigned char, 8192 / CHAR_BIT> all{};

    all.fill(UCHAR_MAX);
    (void)sched_setaffinity(0, all.size(),
                            reinterpret_cast<const cpu_set_t *>(all.data()));
}

void leave_the_job(bool foreground)
{
    ignore_signals();
    use_all_processors();
    umask(077);
    if (chdir("/") < 0) {
        fail_errno(errno, "cannot enter /");
    }
    if (foreground) {
        return;
    }
    if (setsid() < 0 && errno != EPERM) { /* EPERM: this process already leads a group */
        fail_errno(errno, "cannot start a session");
    }
    use_null(STDIN_FILENO);
    use_null(STDOUT_FILENO);
}

void tell_ready(bool foreground)
{
    if (!foreground) {
        use_null(STDERR_FILENO); /* errors before this point reach the user */
    }
    if (fcntl(ready_descriptor, F_GETFD) >= 0) {
        (void)!write(ready_descriptor, "", 1);
        close(ready_descriptor);
    }
}

/* Makes the directory of the sockets, in which no other user may make or rename anything. */
void make_run_directory(const std::filesystem::path &directory)
{
    struct stat status;

    make_private_directory(directory);
    if (stat(directory.c_str(), &status) < 0 || (status.st_mode & 077) != 0) {
        fail("{} must have mode 0700", directory.string());
    }
}

/*
 * Loading libfabric takes a fifth of a second where Omni-Path's libraries come with it, and the job
 * waits for the agent. So there is a second program, the same but linked with libfabric. It runs
 * for jobs whose nodes read each other's pieces. If it is missing, the nodes use TCP.
 */
void become_one_with_fabric(const Settings &settings, char *argv[])
{
    if (fabric::is_linked() || settings.fabric.is_off() ||
        settings.redundancy.kind == redundancy::Scheme::Kind::none) {
        return;
    }
    const auto self = std::filesystem::read_symlink("/proc/self/exe");
    (void)execv((self.parent_path() / "fabric" / "ckptd").c_str(), argv);
}

/* ckpt run refuses the first combination, but the environment of the job may add an option. */
void log_replaced(const Options &options, const Settings &settings)
{
    if (options.increments != settings.increments) {
        spdlog::warn("--incremental is not used: with --levels each checkpoint is full");
    }
    if (settings.snapshot != snapshot_method_from(options.snapshot)) {
        spdlog::info("--snapshot {} is used instead of {}, because of --incremental",
                     snapshot_method_name(settings.snapshot), options.snapshot);
    }
}

void run(const Options &options, char *argv[])
{
    Settings settings = settings_from(options);
    become_one_with_fabric(settings, argv);
    take_key(options, settings);
    make_run_directory(settings.run_directory);
    auto socket = settings.run_directory /
                  (control::namespace_hash(settings.launch_namespace) + ".sock");
    if (is_listening(socket, SOCK_SEQPACKET)) {
        tell_ready(options.foreground); /* another agent serves this launch */
        return;
    }
    leave_the_job(options.foreground);
    /* Programs that the agent starts must not inherit the ready pipe. */
    fcntl(ready_descriptor, F_SETFD, FD_CLOEXEC);
    start_log();
    log_replaced(options, settings);
    Agent agent(settings);
    tell_ready(options.foreground);
    try {
        agent.run();
    } catch (const std::exception &error) {
        spdlog::critical("{}", error.what());
        throw;
    }
}

} // namespace

} // namespace ckpt

int main(int argc, char *argv[])
{
    CLI::App app("The node agent of ckpt: started by the first rank of a job "
                 "on a node, ends with the last.");
    ckpt::Options options;

    ckpt::spare_address_space();
    ckpt::take_all_descriptors();
    ckpt::close_inherited();
    ckpt::declare(app, options);
    CLI11_PARSE(app, argc, argv);
    try {
        ckpt::hold_standard_streams();
        ckpt::run(options, argv);
    } catch (const std::exception &error) {
        fmt::print(stderr, "ckptd: {}\n", error.what());
        return 1;
    }
    return 0;
}
