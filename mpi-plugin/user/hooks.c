/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hooks.c - the list of hooks. A lock guards changes of the list. The lock is
 * not held while hooks run: a hook may take any time, and may use code that
 * takes locks.
 */
#include "user/hooks.h"

#include "base/invariant.h"
#include "user/deferral.h"

#define CKPT_INTERFACE_ONLY
#include "user/ckpt.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#define CAPACITY 64

struct entry {
    int id;
    struct ckpt_hooks hooks;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct entry entries[CAPACITY];
static int count;
static int last_id;

/* Copy of the hooks whose `before` has run, as the list may change until
 * `after`. */
static struct entry running[CAPACITY];
static int running_count;

int ckpt_hooks_insert(const struct ckpt_hooks *hooks)
{
    int id = -ENOSPC;

    pthread_mutex_lock(&mutex);
    if (count < CAPACITY) {
        id = ++last_id;
        entries[count++] = (struct entry){id, *hooks};
        ckpt_deferral_count_hooks(1);
    }
    pthread_mutex_unlock(&mutex);
    return id;
}

void ckpt_hooks_erase(int id)
{
    pthread_mutex_lock(&mutex);
    for (int i = 0; i < count; i++) {
        if (entries[i].id == id) {
            CKPT_INVARIANT(count > 0 && count <= CAPACITY);
            memmove(&entries[i], &entries[i + 1],
                    (size_t)(count - i - 1) * sizeof(entries[0]));
            count--;
            ckpt_deferral_count_hooks(-1);
            break;
        }
    }
    pthread_mutex_unlock(&mutex);
}

int ckpt_hooks_before(void)
{
    int all;

    pthread_mutex_lock(&mutex);
    all = count;
    memcpy(running, entries, (size_t)all * sizeof(entries[0]));
    pthread_mutex_unlock(&mutex);
    CKPT_INVARIANT(running_count == 0 && all <= CAPACITY);
    for (running_count = 0; running_count < all; running_count++) {
        const struct ckpt_hooks *hooks = &running[running_count].hooks;

        if (hooks->before != NULL && hooks->before(hooks->data) != 0) {
            ckpt_hooks_after(CKPT_REFUSED);
            return 0;
        }
    }
    return 1;
}

void ckpt_hooks_after(int answer)
{
    while (running_count > 0) {
        const struct ckpt_hooks *hooks = &running[--running_count].hooks;

        if (hooks->after != NULL) {
            hooks->after(answer, hooks->data);
        }
    }
}
