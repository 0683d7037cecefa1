/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * main.c - calls every function of mpi.h with one bad argument at a time.
 *
 *   fuzz inside|outside FILE [EVERY [SKIP]]
 *
 * Inside: with bad arguments; outside: before MPI_Init and after MPI_Finalize. EVERY: runs one of
 * EVERY cases; 1 runs all. SKIP: a file with the names of cases to leave out, one a line. FILE is
 * made and used for MPI-IO.
 *
 * Prints one line for each case: `FUNCTION CASE -> OUTCOME`. Each case runs in its own process,
 * forked from one in which all objects exist, so that a crash or a hang is an outcome, too. The
 * last line says that all cases have run.
 */
#include "fuzz.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTCOME   256
#define LAST_LINE "all cases have run"

/* Limits in seconds after which a call counts as hanging: of computing, and of waiting. */
#define MOST_BUSY 1
#define MOST_IDLE 5

static char handled[OUTCOME]; /* reports of error handlers */
static char outputs[OUTCOME]; /* content of the call's outputs */

static long every = 1, seen;
static char *skipped = "\n"; /* each name between two newlines */

/* Returns the class of an error code; an invalid code is returned as it is. */
static int class_of(int code)
{
    int class = code;

    if (code > 0 && code <= MPI_ERR_LASTCODE) {
        MPI_Error_class(code, &class);
    }
    return class;
}

void note_handler(const char *kind, int code)
{
    size_t used = strlen(handled);

    snprintf(handled + used, sizeof handled - used, ", handler of a %s: %d",
             kind, class_of(code));
}

void note_handle(const char *name, int written, int is_null)
{
    size_t used = strlen(outputs);

    snprintf(outputs + used, sizeof outputs - used, ", %s %s", name,
             !written ? "untouched" : is_null ? "null"
                                              : "some handle");
}

void note_number(const char *name, int number, int known)
{
    size_t used = strlen(outputs);

    if (number == UNTOUCHED) {
        snprintf(outputs + used, sizeof outputs - used, ", %s untouched", name);
    } else if (known) {
        snprintf(outputs + used, sizeof outputs - used, ", %s %d", name, number);
    } else {
        snprintf(outputs + used, sizeof outputs - used, ", %s written", name);
    }
}

static void describe(char *text, const struct fuzzed *function, long result)
{
    int started = 0, ended = 0;

    MPI_Initialized(&started);
    MPI_Finalized(&ended);
    if (function->returns_handle == 1) {
        snprintf(text, OUTCOME, "%s handle", result ? "some" : "null");
    } else if (function->returns_handle == -1) {
        snprintf(text, OUTCOME, "number%s", result < 0 ? " below 0" : "");
    } else if (strncmp(function->name, "T_", 2) == 0 || !started || ended) {
        snprintf(text, OUTCOME, "code %ld", result);
    } else {
        snprintf(text, 2 * OUTCOME, "class %d%s", class_of((int)result),
                 handled);
    }
}

/* Makes a crash end the process at once, without a core file. */
static void limit_time(void)
{
    const struct itimerval busy = {.it_value.tv_sec = MOST_BUSY};
    const struct rlimit no_core = {0, 0};

    signal(SIGPROF, SIG_DFL);
    signal(SIGALRM, SIG_DFL);
    signal(SIGSEGV, SIG_DFL);
    signal(SIGABRT, SIG_DFL);
    signal(SIGBUS, SIG_DFL);
    signal(SIGFPE, SIG_DFL);
    signal(SIGILL, SIG_DFL);
    setrlimit(RLIMIT_CORE, &no_core);
    setitimer(ITIMER_PROF, &busy, NULL);
    alarm(MOST_IDLE);
}

/* In the process of one case: writes the outcome to the pipe. */
static void run_here(const struct fuzzed *function, int which, int pipe)
{
    char text[3 * OUTCOME];
    int nowhere = open("/dev/null", O_RDWR);

    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    limit_time();
    handled[0] = '\0';
    outputs[0] = '\0';
    describe(text, function, function->call(which));
    strcat(text, outputs);
    if (write(pipe, text, strlen(text)) < 0) {
        _exit(2);
    }
    _exit(0);
}

/* Describes the end of a process that has reported no outcome. */
static void describe_end(char *text, int status)
{
    if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGPROF ||
                                WTERMSIG(status) == SIGALRM)) {
        snprintf(text, OUTCOME, "hangs");
    } else if (WIFSIGNALED(status)) {
        snprintf(text, OUTCOME, "crashes");
    } else {
        snprintf(text, OUTCOME, "ends the process");
    }
}

static void run_case(const char *when, const struct fuzzed *function, int which)
{
    char text[3 * OUTCOME] = "";
    int ends[2], status = 0;
    ssize_t length;
    pid_t child;

    if (pipe(ends) != 0 || (child = fork()) < 0) {
        perror("fuzz");
        exit(2);
    }
    if (child == 0) {
        close(ends[0]);
        run_here(function, which, ends[1]);
    }
    close(ends[1]);
    length = read(ends[0], text, sizeof text - 1);
    close(ends[0]);
    waitpid(child, &status, 0);
    if (length <= 0) {
        describe_end(text, status);
    }
    printf("%s%s %s -> %s\n", when, function->name, function->names[which],
           text);
}

static int is_chosen(const char *when, const struct fuzzed *function, int which)
{
    char name[OUTCOME];

    if (function->names[which][0] == '\0' || seen++ % every != 0) {
        return 0;
    }
    snprintf(name, sizeof name, "\n%s%s %s\n", when, function->name,
             function->names[which]);
    return strstr(skipped, name) == NULL;
}

/* Every case, or only the good one. */
static void run_all(const char *when, int good_only)
{
    for (int i = 0; i < fuzzed_count; i++) {
        for (int c = 0; fuzzed[i].names[c] != NULL; c++) {
            if ((c == 0 || !good_only) && is_chosen(when, &fuzzed[i], c)) {
                run_case(when, &fuzzed[i], c);
            }
        }
    }
    fflush(stdout);
}

static void read_skipped(const char *path)
{
    const size_t room = 1 << 22;
    FILE *file = fopen(path, "r");
    size_t size;

    skipped = calloc(1, room + 2);
    if (file == NULL || skipped == NULL) {
        perror(path);
        exit(2);
    }
    skipped[0] = '\n';
    size = fread(skipped + 1, 1, room, file);
    skipped[1 + size] = '\0';
    fclose(file);
}

/* The first process makes the calls. The others only take part in its windows, and wait without
 * computing. */
static void wait_for_all(void)
{
    MPI_Request request;
    int done = 0;

    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    while (!done) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        usleep(10000);
    }
}

/* Calls before MPI_Init and after MPI_Finalize. */
static void run_outside(int *argc, char ***argv, int calls)
{
    if (calls) {
        run_all("before MPI_Init: ", 1);
    }
    MPI_Init(argc, argv);
    MPI_Finalize();
    if (calls) {
        run_all("after MPI_Finalize: ", 1);
        printf("%s\n", LAST_LINE);
    }
}

/* Some cases have left the windows, which all processes share, in a state that MPI_Finalize cannot
 * handle. */
static void run_inside(int *argc, char ***argv, int calls)
{
    MPI_Init(argc, argv);
    stage_make();
    if (handled[0] != '\0') {
        fprintf(stderr, "fuzz: no objects%s\n", handled);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (calls) {
        run_all("", 0);
        printf("%s\n", LAST_LINE);
        fflush(stdout);
    }
    wait_for_all();
    MPI_Abort(MPI_COMM_WORLD, 0);
}

int main(int argc, char **argv)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");
    const int calls = rank == NULL || strcmp(rank, "0") == 0;

    if (argc < 3) {
        fprintf(stderr, "usage: fuzz inside|outside FILE [EVERY [SKIP]]\n");
        return 2;
    }
    every = argc > 3 ? strtol(argv[3], NULL, 10) : 1;
    if (argc > 4) {
        read_skipped(argv[4]);
    }
    setvbuf(stdout, NULL, _IOFBF, 1 << 20);
    snprintf(stage_path, 4096, "%s", argv[2]);
    if (strcmp(argv[1], "outside") == 0) {
        run_outside(&argc, &argv, calls);
    } else {
        run_inside(&argc, &argv, calls);
    }
    return 0;
}
