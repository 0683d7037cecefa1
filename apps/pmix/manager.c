/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * manager.c NAMESPACE RANK... - requests a checkpoint as a resource manager may. Sends an event
 * PMIX_JCTRL_CHECKPOINT to ranks of a job, or to all if none is named, and prints the answer.
 *
 * With the variables PMIX_* of a rank in its environment, it is a client of that rank's server.
 * With MANAGER_SERVER, a process id, it is a tool of that server. A server must not get a second
 * tool, because mpirun 5.0.11 then never ends. So the tool always has the same name, which a server
 * accepts only once. MANAGER_DEFAULT: default handlers may process the event, too.
 */
#include <pmix_tool.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RANKS_MAX 8
#define TIMEOUT   30 /* seconds */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static int registered, answer; /* guarded by the mutex */
static char id[64];            /* of this request: servers also remember old answers */

static void note(int *place, int value)
{
    pthread_mutex_lock(&mutex);
    *place = value;
    pthread_cond_signal(&news);
    pthread_mutex_unlock(&mutex);
}

/* Waits until *place is not 0; returns its value, or 0 after the timeout. */
static int await(const int *place)
{
    struct timespec end;
    int value, error = 0;

    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += TIMEOUT;
    pthread_mutex_lock(&mutex);
    while (*place == 0 && error == 0) {
        error = pthread_cond_timedwait(&news, &mutex, &end);
    }
    value = *place;
    pthread_mutex_unlock(&mutex);
    return value;
}

static void is_registered(pmix_status_t status, size_t handler, void *unused)
{
    (void)handler, (void)unused;
    note(&registered, status == PMIX_SUCCESS ? 1 : status);
}

/* Ignores answers to other requests. */
static void answered(size_t handler, pmix_status_t status,
                     const pmix_proc_t *source, pmix_info_t info[], size_t count,
                     pmix_info_t *results, size_t result_count,
                     pmix_event_notification_cbfunc_fn_t done, void *done_data)
{
    (void)handler, (void)source, (void)results, (void)result_count;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(info[i].key, PMIX_JOB_CTRL_ID) == 0 &&
            strcmp(info[i].value.data.string, id) == 0) {
            note(&answer, status);
        }
    }
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, done_data);
}

static void fail(const char *what, pmix_status_t status)
{
    printf("%s: error %d\n", what, status);
    fflush(stdout);
    /* Does not finalize in the name of the rank. */
    _exit(1);
}

static void connect_to_server(pmix_proc_t *self)
{
    const char *server = getenv("MANAGER_SERVER");
    pmix_info_t info[] = {
        {.key = PMIX_SERVER_PIDINFO, .value = {.type = PMIX_PID}},
        {.key = PMIX_TOOL_NSPACE, .value = {PMIX_STRING, {.string = "manager"}}},
        {.key = PMIX_TOOL_RANK, .value = {PMIX_PROC_RANK, {.rank = 0}}},
    };
    pmix_status_t status;

    if (server != NULL) {
        info[0].value.data.pid = atoi(server);
        status = PMIx_tool_init(self, info, 3);
    } else {
        status = PMIx_Init(self, NULL, 0);
    }
    if (status != PMIX_SUCCESS) {
        fail("no server", status);
    }
}

static void ask(const pmix_proc_t *self, const char *space, char *ranks[], size_t count)
{
    pmix_proc_t to[RANKS_MAX] = {0};
    pmix_data_array_t range = {.type = PMIX_PROC, .size = count, .array = to};
    pmix_info_t info[] = {
        {.key = PMIX_JOB_CTRL_ID, .value = {PMIX_STRING, {.string = id}}},
        {.key = PMIX_EVENT_CUSTOM_RANGE, .value = {PMIX_DATA_ARRAY, {.darray = &range}}},
        {.key = PMIX_EVENT_NON_DEFAULT, .value = {PMIX_BOOL, {.flag = true}}},
    };
    pmix_status_t status;

    for (size_t i = 0; i < count; i++) {
        strncpy(to[i].nspace, space, sizeof(to[i].nspace) - 1);
        to[i].rank = (pmix_rank_t)atoi(ranks[i]);
    }
    if (count == 0) {
        range.size = 1;
        strncpy(to[0].nspace, space, sizeof(to[0].nspace) - 1);
        to[0].rank = PMIX_RANK_WILDCARD;
    }
    status = PMIx_Notify_event(PMIX_JCTRL_CHECKPOINT, self, PMIX_RANGE_CUSTOM, info,
                               getenv("MANAGER_DEFAULT") == NULL ? 3 : 2, NULL, NULL);
    if (status != PMIX_SUCCESS && status != PMIX_OPERATION_SUCCEEDED) {
        fail("the event is not taken", status);
    }
}

int main(int argc, char **argv)
{
    pmix_status_t answers[] = {PMIX_JCTRL_CHECKPOINT_COMPLETE,
                               PMIX_ERR_PROC_CHECKPOINT};
    pmix_proc_t self;

    if (argc < 2 || argc > 2 + RANKS_MAX) {
        return 2;
    }
    snprintf(id, sizeof(id), "manager-%d-%ld", (int)getpid(), (long)time(NULL));
    connect_to_server(&self);
    PMIx_Register_event_handler(answers, 2, NULL, 0, answered, is_registered, NULL);
    if (await(&registered) != 1) {
        fail("no handler", registered);
    }
    ask(&self, argv[1], argv + 2, (size_t)argc - 2);
    printf("asked\n");
    printf("answer %d\n", await(&answer));
    fflush(stdout);
    if (getenv("MANAGER_SERVER") != NULL) {
        PMIx_tool_finalize();
        /* Slurm kills the step if a connection is lost. */
    } else {
        PMIx_Finalize(NULL, 0);
    }
    return 0;
}
