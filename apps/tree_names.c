/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * tree_names.c - files, directories, symbolic and hard links in their own directory, which are
 * made, renamed, exchanged and removed. Each step lists the directory.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include "tree_writer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAMES     8
#define DIRECTORY "names"

enum type {
    ABSENT,
    REGULAR,
    DIRECTORY_WITH_FILE,
    SYMBOLIC
};

/* The objects named n0, n1, ... Two links to one file have the same mark. */
static struct {
    enum type type;
    int mark;
} names[NAMES];

static int directory; /* its descriptor */

static const char *name(int index)
{
    static const char *const all[NAMES] = {"n0", "n1", "n2", "n3",
                                           "n4", "n5", "n6", "n7"};

    return all[index];
}

/* Returns the path of the file in a directory. */
static const char *inside(int index)
{
    static char path[16];

    snprintf(path, sizeof(path), "%s/in", name(index));
    return path;
}

static void write_mark(const char *path, int mark)
{
    const int fd =
        openat(directory, path, O_WRONLY | O_CREAT | O_EXCL, 0644);

    CHECK(fd >= 0 && dprintf(fd, "%d\n", mark) > 0 && close(fd) == 0);
}

static void make(int index)
{
    char target[16];

    names[index].type = (enum type)(1 + draw(3));
    names[index].mark = step * 10 + index;
    switch (names[index].type) {
    case REGULAR:
        write_mark(name(index), names[index].mark);
        break;
    case DIRECTORY_WITH_FILE:
        CHECK(mkdirat(directory, name(index), draw(2) == 0 ? 0755 : 0700) == 0);
        write_mark(inside(index), names[index].mark);
        break;
    default:
        snprintf(target, sizeof(target), "%d", names[index].mark);
        CHECK(symlinkat(target, directory, name(index)) == 0);
        break;
    }
}

static void drop(int index)
{
    int flags = 0;

    if (names[index].type == DIRECTORY_WITH_FILE) {
        CHECK(unlinkat(directory, inside(index), 0) == 0);
        flags = AT_REMOVEDIR;
    }
    CHECK(unlinkat(directory, name(index), flags) == 0);
    names[index].type = ABSENT;
}

static void exchange(int a, int b)
{
    const enum type type = names[a].type;
    const int mark = names[a].mark;

    CHECK(renameat2(directory, name(a), directory, name(b), RENAME_EXCHANGE) == 0);
    names[a] = names[b];
    names[b].type = type;
    names[b].mark = mark;
}

static void move(int from, int to)
{
    if (names[from].type == REGULAR && names[to].type == REGULAR &&
        names[from].mark == names[to].mark) {
        CHECK(renameat(directory, name(from), directory, name(to)) == 0);
        return; /* links to one file: both stay */
    }
    if (names[to].type != ABSENT &&
        (names[from].type == DIRECTORY_WITH_FILE ||
         names[to].type == DIRECTORY_WITH_FILE)) {
        CHECK(renameat(directory, name(from), directory, name(to)) != 0);
        return;
    }
    CHECK(renameat(directory, name(from), directory, name(to)) == 0);
    names[to] = names[from];
    names[from].type = ABSENT;
}

static void move_if_free(int from, int to)
{
    const int result =
        renameat2(directory, name(from), directory, name(to), RENAME_NOREPLACE);

    CHECK(names[to].type == ABSENT ? result == 0 : result != 0 && errno == EEXIST);
    if (result == 0) {
        names[to] = names[from];
        names[from].type = ABSENT;
    }
}

static void add_link(int from, int to)
{
    if (names[from].type == REGULAR && names[to].type == ABSENT) {
        CHECK(linkat(directory, name(from), directory, name(to), 0) == 0);
        names[to] = names[from];
    }
}

void make_names(void)
{
    CHECK(mkdir(DIRECTORY, 0755) == 0);
    directory = open(DIRECTORY, O_RDONLY | O_DIRECTORY);
    CHECK(directory >= 0);
}

void change_names(void)
{
    const int from = (int)draw(NAMES), to = (from + 1 + (int)draw(NAMES - 1)) % NAMES;

    if (names[from].type == ABSENT) {
        make(from);
        return;
    }
    switch (draw(6)) {
    case 0:
        drop(from);
        break;
    case 1:
    case 2:
        move(from, to);
        break;
    case 3:
        move_if_free(from, to);
        break;
    case 4:
        add_link(from, to);
        break;
    default:
        if (names[to].type != ABSENT) {
            exchange(from, to);
        }
        break;
    }
}

static void compare_name(int index)
{
    const char *path = names[index].type == DIRECTORY_WITH_FILE ? inside(index)
                                                                : name(index);
    char text[16] = "";
    ssize_t length;
    int fd;

    if (names[index].type == SYMBOLIC) {
        length = readlinkat(directory, path, text, sizeof(text) - 1);
    } else {
        fd = openat(directory, path, O_RDONLY);
        CHECK(fd >= 0);
        length = read(fd, text, sizeof(text) - 1);
        CHECK(close(fd) == 0);
    }
    CHECK(length > 0 && atoi(text) == names[index].mark);
}

void compare_names(void)
{
    DIR *listing = opendir(DIRECTORY);
    const struct dirent *entry;
    int expected = 0, found = 0;

    CHECK(listing != NULL);
    while ((entry = readdir(listing)) != NULL) {
        found += entry->d_name[0] != '.';
    }
    CHECK(closedir(listing) == 0);
    for (int i = 0; i < NAMES; i++) {
        if (names[i].type != ABSENT) {
            expected++;
            compare_name(i);
        }
    }
    CHECK(found == expected);
}
