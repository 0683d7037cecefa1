/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * children.c - processes that a program starts while messages are under way:
 * system, popen, posix_spawn, fork with exec and without. They inherit no
 * descriptor of ckpt; whatever a child does, the rank goes on.
 */
#include "probes/probe.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#define WORDS 50000

extern char **environ;
static volatile int ended; /* SIGCHLD */
static int descriptors;    /* of a child */

static void on_child(int signal)
{
    (void)signal;
    ended++;
}

static int exit_code(pid_t child)
{
    int status;

    while (waitpid(child, &status, 0) != child) {
        CHECK(errno == EINTR);
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int answer_of(const char *command)
{
    FILE *stream = popen(command, "r");
    int answer = -1;

    CHECK(stream != NULL && fscanf(stream, "%d", &answer) == 1);
    CHECK(pclose(stream) == 0);
    return answer;
}

static void spawn(void)
{
    char *arguments[] = {"sh", "-c", "exit 5", NULL};
    pid_t child;

    CHECK(posix_spawnp(&child, "sh", NULL, NULL, arguments, environ) == 0);
    CHECK(exit_code(child) == 5);
}

static void fork_and_execute(void)
{
    pid_t child = fork();

    if (child == 0) {
        execlp("sh", "sh", "-c", "exit 6", (char *)NULL);
        _exit(127);
    }
    CHECK(child > 0 && exit_code(child) == 6);
}

/* The child ends like a program, and runs all exit handlers. */
static void fork_and_compute(void)
{
    static unsigned char data[100000];
    pid_t child;

    fflush(stdout);
    child = fork();
    if (child == 0) {
        fill(data, sizeof data, 99);
        raise(SIGUSR2);
        exit(is_filled(data, sizeof data, 99) ? 7 : 8);
    }
    CHECK(child > 0 && exit_code(child) == 7);
}

static void start_processes(void)
{
    CHECK(WEXITSTATUS(system("exit 3")) == 3);
    CHECK(answer_of("echo 4") == 4);
    /* Some libraries leak descriptors to children; so do some launchers, whose
     * descriptors MPI_Init closes. */
    CHECK(getenv("LD_PRELOAD") == NULL ||
          answer_of("ls /proc/self/fd | wc -l") <= descriptors);
    spawn();
    fork_and_execute();
    fork_and_compute();
    CHECK(waitpid(-1, NULL, 0) < 0 && errno == ECHILD);
}

static void exchange_meanwhile(int key)
{
    static uint64_t outgoing[WORDS], incoming[WORDS];
    const int peer = 1 - probe_rank;
    MPI_Request requests[2];

    fill(outgoing, sizeof outgoing, (uint64_t)(key + probe_rank));
    memset(incoming, 0, sizeof incoming);
    MPI_Irecv(incoming, WORDS, MPI_UINT64_T, peer, key, MPI_COMM_WORLD,
              &requests[0]);
    MPI_Isend(outgoing, WORDS, MPI_UINT64_T, peer, key, MPI_COMM_WORLD,
              &requests[1]);
    start_processes();
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(is_filled(incoming, sizeof incoming, (uint64_t)(key + peer)));
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    descriptors = answer_of("ls /proc/self/fd | wc -l");
    CHECK(signal(SIGCHLD, on_child) != SIG_ERR);
    CHECK(signal(SIGUSR2, on_child) != SIG_ERR);
    probe_begin(argc, argv, 2);
    exchange_meanwhile(1);
    probe_gate();
    ended = 0;
    exchange_meanwhile(2);
    CHECK(ended >= 1);
    return probe_end();
}
