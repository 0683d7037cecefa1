/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * threads_joined.c - threads that live across the checkpoint, and are joined
 * after it.
 */
#include "probes/probe.h"

#include <pthread.h>

#define THREADS 4

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static int is_open;
static _Thread_local uint64_t own_value;
static pthread_key_t key;

/* Half of the threads wait on a condition, half compute all the time. */
static void *work(void *argument)
{
    intptr_t index = (intptr_t)argument;
    uint64_t turns = 0;

    own_value = mix((uint64_t)index);
    pthread_setspecific(key, &own_value);
    pthread_mutex_lock(&mutex);
    while (!is_open) {
        if (index % 2 == 0) {
            pthread_cond_wait(&opened, &mutex);
            continue;
        }
        pthread_mutex_unlock(&mutex);
        turns = mix(turns);
        pthread_mutex_lock(&mutex);
    }
    pthread_mutex_unlock(&mutex);
    CHECK(own_value == mix((uint64_t)index));
    CHECK(pthread_getspecific(key) == &own_value);
    return (void *)(index + 100);
}

static void *finished(void *argument)
{
    return argument;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS], dead, fresh;
    void *result;

    probe_begin(argc, argv, 2);
    pthread_key_create(&key, NULL);
    for (intptr_t i = 0; i < THREADS; i++) {
        CHECK(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    }
    CHECK(pthread_create(&dead, NULL, finished, &mutex) == 0);
    probe_gate();
    pthread_mutex_lock(&mutex);
    is_open = 1;
    pthread_cond_broadcast(&opened);
    pthread_mutex_unlock(&mutex);
    for (intptr_t i = 0; i < THREADS; i++) {
        CHECK(pthread_join(threads[i], &result) == 0);
        CHECK(result == (void *)(i + 100));
    }
    CHECK(pthread_join(dead, &result) == 0 && result == &mutex);
    CHECK(pthread_create(&fresh, NULL, finished, &key) == 0);
    CHECK(pthread_join(fresh, &result) == 0 && result == &key);
    return probe_end();
}
