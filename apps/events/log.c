/* SPDX-License-Identifier: BSD-3-Clause */
/* log.c - see log.h. */
#include "log.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

int world_rank, world_size;

static uint64_t own[MAX_RANKS];
static int file = -1;

void log_open(void)
{
    char name[32];

    snprintf(name, sizeof name, "events.%d", world_rank);
    file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CHECK(file >= 0);
}

void log_close(void)
{
    CHECK(close(file) == 0);
}

const uint64_t *log_clock(void)
{
    return own;
}

void log_event(struct event event, const uint64_t *clock)
{
    struct {
        struct event event;
        uint64_t clock[MAX_RANKS];
    } record;
    size_t words = (size_t)world_size;
    size_t bytes = sizeof event + words * sizeof *own;
    struct timespec now;

    for (size_t i = 0; clock != NULL && i < words; i++) {
        own[i] = clock[i] > own[i] ? clock[i] : own[i];
    }
    own[world_rank]++;
    clock_gettime(CLOCK_REALTIME, &now);
    event.time = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    record.event = event;
    memcpy(record.clock, own, words * sizeof *own);
    CHECK(write(file, &record, bytes) == (ssize_t)bytes);
}
