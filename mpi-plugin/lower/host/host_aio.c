/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_aio.c - asynchronous file access of the lower half (OMPIO's).
 *
 * libc runs it on threads that it creates internally, without our
 * pthread_create. A checkpoint would take them for the application's. Here one
 * thread, made like all others of the lower half, runs the requests in their
 * order.
 *
 * Context of the exported functions: normal (lower half).
 */
#include "config.h"

#include "lower/host/export.h"
#include "base/invariant.h"

#include <aio.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

struct job {
    struct job *next;
    struct aiocb *control;
    int writes;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work; /* the queue is not empty */
    pthread_cond_t done; /* a job is complete */
    struct job *first, **end;
    int running; /* the thread exists */
} queue = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .work = PTHREAD_COND_INITIALIZER,
    .done = PTHREAD_COND_INITIALIZER,
    .end = &queue.first,
};

static void perform(const struct job *job)
{
    struct aiocb *control = job->control;
    void *buffer = (void *)control->aio_buf;
    ssize_t result;

    do {
        result = job->writes ? pwrite(control->aio_fildes, buffer,
                                      control->aio_nbytes, control->aio_offset)
                             : pread(control->aio_fildes, buffer,
                                     control->aio_nbytes, control->aio_offset);
    } while (result < 0 && errno == EINTR);
    control->__return_value = result;
    __atomic_store_n(&control->__error_code, result < 0 ? errno : 0,
                     __ATOMIC_RELEASE);
}

static void *serve(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&queue.lock);
    for (;;) {
        struct job *job = queue.first;

        CKPT_INVARIANT(job != NULL || queue.end == &queue.first);
        if (job == NULL) {
            pthread_cond_wait(&queue.work, &queue.lock);
            continue;
        }
        queue.first = job->next;
        if (queue.first == NULL) {
            queue.end = &queue.first;
        }
        pthread_mutex_unlock(&queue.lock);
        perform(job);
        free(job);
        pthread_mutex_lock(&queue.lock);
        pthread_cond_broadcast(&queue.done);
    }
    return NULL;
}

/* Starts the thread if it does not exist. Context: with the lock. */
static int start(void)
{
    pthread_t thread;
    int error = 0;

    if (!queue.running) {
        error = pthread_create(&thread, NULL, serve, NULL);
        if (error == 0) {
            queue.running = 1;
            pthread_detach(thread);
        }
    }
    return error;
}

static int enqueue(struct aiocb *control, int writes)
{
    struct job *job = malloc(sizeof(*job));
    int error;

    if (job == NULL || (control->aio_sigevent.sigev_notify != SIGEV_NONE &&
                        control->aio_sigevent.sigev_notify != SIGEV_SIGNAL)) {
        free(job);
        errno = job == NULL ? EAGAIN : ENOSYS;
        return -1;
    }
    *job = (struct job){NULL, control, writes};
    control->__error_code = EINPROGRESS;
    pthread_mutex_lock(&queue.lock);
    error = start();
    if (error == 0) {
        CKPT_INVARIANT(*queue.end == NULL); /* `end` is behind the last job */
        *queue.end = job;
        queue.end = &job->next;
        pthread_cond_signal(&queue.work);
    }
    pthread_mutex_unlock(&queue.lock);
    if (error != 0) {
        free(job);
        errno = EAGAIN;
    }
    return error == 0 ? 0 : -1;
}

CKPT_EXPORT int aio_read(struct aiocb *control)
{
    return enqueue(control, 0);
}

CKPT_EXPORT int aio_write(struct aiocb *control)
{
    return enqueue(control, 1);
}

CKPT_EXPORT int aio_error(const struct aiocb *control)
{
    return __atomic_load_n(&control->__error_code, __ATOMIC_ACQUIRE);
}

CKPT_EXPORT ssize_t aio_return(struct aiocb *control)
{
    return control->__return_value;
}

/* Requests cannot be cancelled. */
CKPT_EXPORT int aio_cancel(int fd, struct aiocb *control)
{
    (void)fd;
    return control != NULL && aio_error(control) != EINPROGRESS
               ? AIO_ALLDONE
               : AIO_NOTCANCELED;
}

static int any_done(const struct aiocb *const list[], int count)
{
    for (int i = 0; i < count; i++) {
        if (list[i] != NULL && aio_error(list[i]) != EINPROGRESS) {
            return 1;
        }
    }
    return 0;
}

CKPT_EXPORT int aio_suspend(const struct aiocb *const list[], int count,
                            const struct timespec *timeout)
{
    struct timespec end;
    int error = 0;

    if (timeout != NULL) {
        clock_gettime(CLOCK_REALTIME, &end);
        end.tv_sec += timeout->tv_sec;
        end.tv_nsec += timeout->tv_nsec;
        if (end.tv_nsec >= 1000000000) {
            end.tv_sec++;
            end.tv_nsec -= 1000000000;
        }
    }
    pthread_mutex_lock(&queue.lock);
    while (error == 0 && !any_done(list, count)) {
        error = timeout == NULL
                    ? pthread_cond_wait(&queue.done, &queue.lock)
                    : pthread_cond_timedwait(&queue.done, &queue.lock, &end);
    }
    pthread_mutex_unlock(&queue.lock);
    errno = EAGAIN;
    return error == 0 ? 0 : -1;
}

/* The same functions under the names for 64-bit offsets, which are equivalent
 * on x86-64. */
_Static_assert(sizeof(struct aiocb64) == sizeof(struct aiocb) &&
                   offsetof(struct aiocb64, aio_offset) == offsetof(struct aiocb, aio_offset),
               "one function for both names");

CKPT_EXPORT int aio_read64(struct aiocb64 *control)
{
    return aio_read((struct aiocb *)control);
}

CKPT_EXPORT int aio_write64(struct aiocb64 *control)
{
    return aio_write((struct aiocb *)control);
}

CKPT_EXPORT int aio_error64(const struct aiocb64 *control)
{
    return aio_error((const struct aiocb *)control);
}

CKPT_EXPORT ssize_t aio_return64(struct aiocb64 *control)
{
    return aio_return((struct aiocb *)control);
}
