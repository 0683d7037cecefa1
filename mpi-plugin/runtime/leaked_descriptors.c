/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * leaked_descriptors.c - close descriptors that a launcher left open by mistake.
 */
#include "runtime/leaked_descriptors.h"

#include "lower/ancestors.h"
#include "sys/syscall.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

/* Programs that start ranks and leak descriptors, by their names in the kernel. */
static const char *const proxies[] = {"hydra_pmi_proxy", "slurmstepd"};

static int is_proxy(uint64_t pid)
{
    char path[64], name[32] = "";
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%lu/comm", (unsigned long)pid);
    file = fopen(path, "re");
    if (file == NULL) {
        return 0;
    }
    (void)!fgets(name, sizeof(name), file);
    fclose(file);
    name[strcspn(name, "\n")] = '\0';
    for (size_t i = 0; i < sizeof(proxies) / sizeof(proxies[0]); i++) {
        if (strcmp(name, proxies[i]) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Returns the proxy that started this process, or 0. */
static uint64_t find_proxy(void)
{
    uint64_t pid = (uint64_t)ckpt_sys_getpid();

    for (int i = 0; i < CKPT_ANCESTORS_MAX && pid != 0; i++) {
        pid = ckpt_parent_of(pid);
        if (pid != 0 && is_proxy(pid)) {
            return pid;
        }
    }
    return 0;
}

static int is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Returns 1 if the process has the same pipe or socket open. */
static int is_open_in(uint64_t pid, const struct stat *wanted)
{
    char path[320];
    struct dirent *entry;
    struct stat status;
    DIR *directory;
    int found = 0;

    snprintf(path, sizeof(path), "/proc/%lu/fd", (unsigned long)pid);
    directory = opendir(path);
    while (directory != NULL && !found &&
           (entry = readdir(directory)) != NULL) {
        snprintf(path, sizeof(path), "/proc/%lu/fd/%s", (unsigned long)pid,
                 entry->d_name);
        found = stat(path, &status) == 0 && is_same(&status, wanted);
    }
    if (directory != NULL) {
        closedir(directory);
    }
    return found;
}

/* Returns 1 if it is one of the standard streams under another number. */
static int is_stream(const struct stat *status)
{
    struct stat stream;

    for (int i = 0; i <= 2; i++) {
        if (fstat(i, &stream) == 0 && is_same(&stream, status)) {
            return 1;
        }
    }
    return 0;
}

/* This process cannot see the descriptors of a proxy that runs as root. But a listening
 * socket that root has made is not the user's. */
static int is_of_root(int fd, const struct stat *status)
{
    int listens = 0;
    socklen_t size = sizeof(listens);

    return S_ISSOCK(status->st_mode) && status->st_uid == 0 && geteuid() != 0 &&
           getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens;
}

static int is_leaked(int fd, uint64_t proxy)
{
    struct stat status;

    return fstat(fd, &status) == 0 &&
           (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)) &&
           !is_stream(&status) &&
           (is_open_in(proxy, &status) || is_of_root(fd, &status));
}

void ckpt_leaked_descriptors_close(void)
{
    const char *channel = getenv("PMI_FD");
    uint64_t proxy = find_proxy();
    DIR *directory = proxy == 0 ? NULL : opendir("/proc/self/fd");
    struct dirent *entry;

    if (directory == NULL) {
        return;
    }
    while ((entry = readdir(directory)) != NULL) {
        int fd = atoi(entry->d_name);

        if (fd > 2 && fd != dirfd(directory) && (channel == NULL || fd != atoi(channel)) &&
            is_leaked(fd, proxy)) {
            (void)close(fd);
        }
    }
    closedir(directory);
}
