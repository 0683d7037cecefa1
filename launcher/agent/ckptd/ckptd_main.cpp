/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ckptd_main.cpp - options of the node agent, and how the agent becomes
 * independent of the rank that started it.
 */
#include "config.h"

#include "agent/ckptd/agent.hpp"
#include "agent/base/log.hpp"
#include "common/error.hpp"
#include "common/files/files.hpp"
#include "common/memory.hpp"
#include "common/files/run_directory.hpp"
#include "common/standard_streams.hpp"
#include "fabric/endpoint.hpp"
#include "image/seal/image_key.hpp"
#include "settings/declare.hpp"
#include "settings/environment.hpp"
#include "settings/values.hpp"

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
    settings::Values values;
    bool foreground = false;
};

void declare(CLI::App &app, Options &options)
{
    app.add_option("--namespace", options.launch_namespace,
                   "Name of the launch, as PMIx gives it")
        ->required();
    for (const settings::Setting *setting : settings::options_of("ckptd")) {
        settings::declare(app, *setting, options.values.given(setting->variable),
                          settings::Target::keeps_empty);
    }
    app.add_flag("--foreground", options.foreground,
                 "Stay in the foreground, keep stderr");
    app.set_version_flag("--version", PACKAGE_STRING);
}

/* The agent also checks what the processes of the job read: they inherit the same variables, and
 * cannot refuse a value. */
Settings settings_from(const Options &options)
{
    settings::check_other_variables("ckptd",
                                    settings::agent_reads | settings::process_reads);
    Settings settings(options.values);
    settings.launch_namespace = options.launch_namespace;
    return settings;
}

/*
 * Runs before the agent reports that it is ready. Without its key the agent ends, and the job is
 * not saved: it must not be saved in clear. Only sns takes a key, as the other protocols write
 * message logs in clear.
 */
void take_key(const Options &options, Settings &settings)
{
    use_image_key(options.values.text(key_variable));
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
    if (options.values.number("CKPT_INCREMENTAL") != settings.increments) {
        spdlog::warn("--incremental is not used: with --levels each checkpoint is full");
    }
    const std::string snapshot = options.values.text("CKPT_SNAPSHOT");
    if (settings.snapshot != snapshot_method_from(snapshot)) {
        spdlog::info("--snapshot {} is used instead of {}, because of --incremental",
                     snapshot_method_name(settings.snapshot), snapshot);
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
    try {
        app.parse(argc, argv);
        ckpt::hold_standard_streams();
        ckpt::run(options, argv);
    } catch (const CLI::ParseError &problem) {
        return app.exit(problem);
    } catch (const std::exception &error) {
        fmt::print(stderr, "ckptd: {}\n", error.what());
        return 1;
    }
    return 0;
}
