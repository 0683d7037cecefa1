/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * credentials.c - reads credentials from /proc, and sets them in an order that keeps the
 * privilege to set the rest.
 */
#include "task/credentials.h"

#include "base/invariant.h"
#include "base/text.h"
#include "sys/syscall.h"
#include "task/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/prctl.h>

#define TEXT_SIZE    32768 /* CKPT_GROUPS numbers, and all other lines */
#define CAPABILITIES 64

static struct ckpt_credentials start; /* as set by the launcher */
static struct ckpt_credentials now;   /* at the checkpoint */
static int is_own;                    /* 1: the program has changed them */
static char text[TEXT_SIZE];

static int read_status(int tid)
{
    char path[64] = "/proc/thread-self/status";
    long size = 0, got;
    int fd;

    if (tid != 0) {
        ckpt_text_format(path, sizeof(path), "/proc/self/task/%d/status", tid);
    }
    fd = (int)ckpt_sys_open(path, O_RDONLY | O_CLOEXEC, 0);
    if (fd < 0) {
        return fd;
    }
    while (size < TEXT_SIZE - 1 &&
           (got = ckpt_sys_read(fd, text + size, (size_t)(TEXT_SIZE - 1 - size))) > 0) {
        size += got;
    }
    ckpt_sys_close(fd);
    text[size] = '\0';
    return size < TEXT_SIZE - 1 ? 0 : -E2BIG;
}

/* Returns the text after `name` at the beginning of a line, or NULL. */
static const char *after(const char *name)
{
    const size_t length = ckpt_text_length(name);
    const char *line = text;

    while (line != NULL && strncmp(line, name, length) != 0) {
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
    return line == NULL ? NULL : line + length;
}

/* Reads decimal numbers up to the end of the line. Returns their number, or -E2BIG. */
static int read_numbers(const char *name, uint32_t *numbers, int most)
{
    const char *at = after(name);
    uint64_t number;
    int count = 0;

    while (at != NULL && *at != '\n' && *at != '\0') {
        const char *end = ckpt_text_decimal(at, &number);

        if (end == NULL) {
            at++; /* a separator */
            continue;
        }
        if (count == most) {
            return -E2BIG;
        }
        numbers[count++] = (uint32_t)number;
        at = end;
    }
    return count;
}

static uint64_t read_set(const char *name)
{
    const char *at = after(name);
    uint64_t set = 0;

    if (at != NULL) {
        ckpt_text_hexadecimal(at, &set);
    }
    return set;
}

int ckpt_credentials_read(int tid, struct ckpt_credentials *credentials)
{
    int status = read_status(tid), count;

    memset(credentials, 0, sizeof(*credentials));
    if (status != 0) {
        return status;
    }
    count = read_numbers("Groups:\t", credentials->groups, CKPT_GROUPS);
    if (count < 0) {
        return count;
    }
    if (read_numbers("Uid:\t", credentials->user, 4) != 4 ||
        read_numbers("Gid:\t", credentials->group, 4) != 4) {
        return -EPROTO;
    }
    CKPT_INVARIANT(count <= CKPT_GROUPS);
    credentials->group_count = (uint32_t)count;
    credentials->inheritable = read_set("CapInh:\t");
    credentials->permitted = read_set("CapPrm:\t");
    credentials->effective = read_set("CapEff:\t");
    credentials->bounding = read_set("CapBnd:\t");
    credentials->ambient = read_set("CapAmb:\t");
    (void)read_numbers("Seccomp:\t", &credentials->seccomp, 1);
    (void)read_numbers("Seccomp_filters:\t", &credentials->filters, 1);
    return 0;
}

_Static_assert(sizeof(struct ckpt_credentials) ==
                   (4 + 4 + 1 + CKPT_GROUPS + 1) * sizeof(uint32_t) + 5 * sizeof(uint64_t) +
                       2 * sizeof(uint32_t),
               "padding would be compared");

static int are_equal(const struct ckpt_credentials *one, const struct ckpt_credentials *other)
{
    return memcmp(one, other, sizeof(*one)) == 0;
}

void ckpt_credentials_open(void)
{
    if (ckpt_credentials_read(0, &start) != 0) {
        memset(&start, 0, sizeof(start)); /* matches no restart */
    }
}

static int compare_thread(const struct ckpt_thread *thread, struct ckpt_failure *failure)
{
    static struct ckpt_credentials its;
    const int error = ckpt_credentials_read(thread->tid, &its);

    if (error != 0 || !are_equal(&its, &now)) {
        return ckpt_refuse(failure, CKPT_REFUSAL_OTHER_CREDENTIALS, error != 0 ? error : -ENOTSUP,
                           "thread %d (%s) has other credentials, or another filter of system "
                           "calls, than the thread that is asked for a checkpoint",
                           thread->tid, thread->name);
    }
    return 0;
}

int ckpt_credentials_save(struct ckpt_failure *failure)
{
    const struct ckpt_thread *threads;
    const size_t count = ckpt_threads_list(&threads);
    int error = ckpt_credentials_read(0, &now);

    if (error != 0) {
        return ckpt_fail(failure, error, "the credentials cannot be read (error %d)", -error);
    }
    CKPT_INVARIANT(now.group_count <= CKPT_GROUPS && now.zero == 0);
    if (now.seccomp != start.seccomp || now.filters != start.filters) {
        return ckpt_refuse(failure, CKPT_REFUSAL_OTHER_CREDENTIALS, -ENOTSUP,
                           "the program has set a filter of its system calls (seccomp), which "
                           "could not be set again");
    }
    for (size_t i = 0; i < count && error == 0; i++) {
        error = compare_thread(&threads[i], failure);
    }
    is_own |= !are_equal(&now, &start);
    return error;
}

int ckpt_credentials_are_own(void)
{
    return is_own;
}

struct ckpt_credentials ckpt_credentials_wanted(const struct ckpt_credentials *saved,
                                                const struct ckpt_credentials *here, int own)
{
    struct ckpt_credentials wanted = *saved;

    if (own || memcmp(saved->user, here->user, sizeof(saved->user)) != 0 ||
        memcmp(saved->group, here->group, sizeof(saved->group)) != 0) {
        return wanted;
    }
    /* Same user: keep only what both the program had and this launcher gives. */
    wanted.group_count = here->group_count;
    memcpy(wanted.groups, here->groups, sizeof(wanted.groups));
    wanted.inheritable &= here->inheritable;
    wanted.permitted &= here->permitted;
    wanted.effective &= here->effective;
    wanted.bounding &= here->bounding;
    wanted.ambient &= here->ambient;
    /* A restart gives no right that the program did not have. */
    CKPT_INVARIANT((wanted.permitted & ~saved->permitted) == 0);
    CKPT_INVARIANT((wanted.effective & ~saved->effective) == 0);
    CKPT_INVARIANT((wanted.bounding & ~saved->bounding) == 0);
    CKPT_INVARIANT((wanted.ambient & ~saved->ambient) == 0);
    return wanted;
}

static void drop_bounds(uint64_t wanted)
{
    for (int i = 0; i < CAPABILITIES; i++) {
        if ((wanted >> i & 1u) == 0 && ckpt_sys_prctl(PR_CAPBSET_READ, (unsigned long)i, 0, 0,
                                                      0) == 1) {
            (void)ckpt_sys_prctl(PR_CAPBSET_DROP, (unsigned long)i, 0, 0, 0);
        }
    }
}

static void set_ids(const struct ckpt_credentials *wanted)
{
    const uint32_t *user = wanted->user, *group = wanted->group;
    const long keeps = ckpt_sys_prctl(PR_GET_KEEPCAPS, 0, 0, 0, 0);
    const long dumpable = ckpt_sys_prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);

    (void)ckpt_syscall3(SYS_setgroups, wanted->group_count, (long)wanted->groups, 0);
    (void)ckpt_sys_prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0);
    (void)ckpt_syscall3(SYS_setresgid, group[0], group[1], group[2]);
    (void)ckpt_syscall3(SYS_setfsgid, group[3], 0, 0);
    (void)ckpt_syscall3(SYS_setresuid, user[0], user[1], user[2]);
    (void)ckpt_syscall3(SYS_setfsuid, user[3], 0, 0);
    (void)ckpt_sys_prctl(PR_SET_KEEPCAPS, (unsigned long)keeps, 0, 0, 0);
    (void)ckpt_sys_prctl(PR_SET_DUMPABLE, (unsigned long)dumpable, 0, 0, 0);
}

static void set_capabilities(const struct ckpt_credentials *wanted)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2];

    for (int i = 0; i < 2; i++) {
        data[i].effective = (uint32_t)(wanted->effective >> 32 * i);
        data[i].permitted = (uint32_t)(wanted->permitted >> 32 * i);
        data[i].inheritable = (uint32_t)(wanted->inheritable >> 32 * i);
    }
    (void)ckpt_syscall3(SYS_capset, (long)&header, (long)data, 0);
    (void)ckpt_sys_prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    for (int i = 0; i < CAPABILITIES; i++) {
        if ((wanted->ambient >> i & 1u) != 0) {
            (void)ckpt_sys_prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, (unsigned long)i, 0, 0);
        }
    }
}

/* Each step may fail; the function checks the result at the end. */
int ckpt_credentials_restore(struct ckpt_failure *failure)
{
    static struct ckpt_credentials here, wanted;
    int error = ckpt_credentials_read(0, &here);

    if (error == 0) {
        wanted = ckpt_credentials_wanted(&now, &here, is_own);
        wanted.seccomp = here.seccomp;
        wanted.filters = here.filters;
        start = here; /* now as set by the new launcher */
        if (are_equal(&wanted, &here)) {
            return 0;
        }
        drop_bounds(wanted.bounding);
        set_ids(&wanted);
        set_capabilities(&wanted);
        error = ckpt_credentials_read(0, &here);
    }
    if (error != 0 || !are_equal(&wanted, &here)) {
        return ckpt_refuse(failure, CKPT_REFUSAL_OTHER_KERNEL, error != 0 ? error : -EPERM,
                           "the program ran as user %u and group %u with rights that this "
                           "restart, as user %u and group %u, cannot give it",
                           now.user[1], now.group[1], start.user[1], start.group[1]);
    }
    return 0;
}
