/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * library.c - choose the MPI library of the lower half.
 *
 * The library and the launcher must match. So the launcher's own library is the
 * first choice, whatever library the program was built with.
 */
#include "config.h"
#include "lower/library.h"

#include "base/text.h"
#include "lower/ancestors.h"
#include "lower/environment.h"
#include "sys/syscall.h"

#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#define SONAME              "libmpi.so.40"
#define MPICH_SONAME        "libmpi.so.12"
#define MPICH_DEBIAN_SONAME "libmpich.so.12"
#define PATH_SIZE           4096
#define COUNT(array)        (sizeof(array) / sizeof((array)[0]))

/* Launchers and the libraries that belong to them. Some launchers of MPICH
 * (gforker) are called mpiexec like Open MPI's. */
struct launcher {
    const char *name;
    const char *libraries[3];
};

static const struct launcher launchers[] = {
    {"orterun", {SONAME}},
    {"mpirun", {SONAME, MPICH_SONAME}},
    {"mpiexec", {SONAME, MPICH_SONAME}},
    {"orted", {SONAME}},
    {"prterun", {SONAME}},
    {"prte", {SONAME}},
    {"prted", {SONAME}},
    {"hydra_pmi_proxy", {MPICH_SONAME, MPICH_DEBIAN_SONAME}},
    {"mpiexec.hydra", {MPICH_SONAME, MPICH_DEBIAN_SONAME}},
};

static const char *const library_directories[] = {
    "lib",
    "lib64",
    "lib/x86_64-linux-gnu",
};

struct path {
    char text[PATH_SIZE];
};

static int exists(const char *path)
{
    struct stat status;

    return ckpt_sys_stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* Cuts a path before its last slash; returns the part after the slash. */
static const char *split(char *path)
{
    char *slash = NULL;

    for (char *c = path; *c != '\0'; c++) {
        if (*c == '/') {
            slash = c;
        }
    }
    if (slash == NULL) {
        return path;
    }
    *slash = '\0';
    return slash + 1;
}

static const struct launcher *find_launcher(const char *name)
{
    for (size_t i = 0; i < COUNT(launchers); i++) {
        if (ckpt_text_equal(name, launchers[i].name)) {
            return &launchers[i];
        }
    }
    return NULL;
}

/* Searches the library directories below an installation prefix. */
static int find_below(const char *prefix, const char *library,
                      struct path *found)
{
    for (size_t i = 0; i < COUNT(library_directories); i++) {
        ckpt_text_format(found->text, sizeof(found->text), "%s/%s/%s", prefix,
                         library_directories[i], library);
        if (exists(found->text)) {
            return 1;
        }
    }
    return 0;
}

/* Finds the library installed with the launcher whose program file is
 * `program`, PREFIX/bin/NAME. Returns 1 if there is one. */
static int find_beside(struct path *program, struct path *found)
{
    const struct launcher *launcher = find_launcher(split(program->text));

    if (launcher == NULL) {
        return 0;
    }
    split(program->text);
    for (size_t i = 0; launcher->libraries[i] != NULL; i++) {
        if (find_below(program->text, launcher->libraries[i], found)) {
            return 1;
        }
    }
    return 0;
}

static int find_by_launcher(struct path *found)
{
    uint64_t pid = (uint64_t)ckpt_sys_getpid();
    struct path program;
    char link[64];

    for (int i = 0; i < CKPT_ANCESTORS_MAX; i++) {
        pid = ckpt_parent_of(pid);
        if (pid == 0) {
            break;
        }
        ckpt_text_format(link, sizeof(link), "/proc/%l/exe", (long)pid);
        if (ckpt_link_target(link, program.text, sizeof(program.text)) &&
            find_beside(&program, found)) {
            return 1;
        }
    }
    return 0;
}

/* Returns the application's run path, as its linker has it in memory, or
 * NULL. */
static const char *run_path(void)
{
    const Elf64_Phdr *segment = (const Elf64_Phdr *)getauxval(AT_PHDR);
    unsigned long count = getauxval(AT_PHNUM);
    const Elf64_Dyn *entry = NULL;
    const char *strings = NULL;
    uint64_t bias = UINT64_MAX, offset = UINT64_MAX;

    for (unsigned long i = 0; segment != NULL && i < count; i++) {
        if (segment[i].p_type == PT_PHDR) {
            bias = (uint64_t)segment - segment[i].p_vaddr;
        } else if (segment[i].p_type == PT_DYNAMIC && bias != UINT64_MAX) {
            entry = (const Elf64_Dyn *)(bias + segment[i].p_vaddr);
        }
    }
    for (; entry != NULL && entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == DT_STRTAB) {
            strings = (const char *)entry->d_un.d_ptr;
        } else if (entry->d_tag == DT_RUNPATH) {
            offset = entry->d_un.d_val;
        } else if (entry->d_tag == DT_RPATH && offset == UINT64_MAX) {
            offset = entry->d_un.d_val;
        }
    }
    return strings != NULL && offset != UINT64_MAX ? strings + offset : NULL;
}

/* Searches one directory of a run path; $ORIGIN means the program's
 * directory. */
static int find_in(const char *directory, size_t length, struct path *found)
{
    static const char *const origins[] = {"$ORIGIN", "${ORIGIN}"};
    struct path origin;
    size_t skipped = 0;

    origin.text[0] = '\0';
    for (size_t i = 0; i < COUNT(origins); i++) {
        if (ckpt_text_starts(directory, origins[i])) {
            if (!ckpt_link_target("/proc/self/exe", origin.text,
                                  sizeof(origin.text))) {
                return 0;
            }
            split(origin.text);
            skipped = ckpt_text_length(origins[i]);
        }
    }
    if (length == 0 || length < skipped) {
        return 0;
    }
    length = ckpt_text_length(origin.text) + length - skipped;
    if (length + sizeof("/" SONAME) > sizeof(found->text)) {
        return 0;
    }
    ckpt_text_format(found->text, sizeof(found->text), "%s%s", origin.text,
                     directory + skipped);
    ckpt_text_copy(found->text + length, sizeof(found->text) - length,
                   "/" SONAME);
    return exists(found->text);
}

static int find_by_run_path(struct path *found)
{
    const char *directory = run_path();
    size_t length;

    while (directory != NULL && *directory != '\0') {
        length = 0;
        while (directory[length] != ':' && directory[length] != '\0') {
            length++;
        }
        if (find_in(directory, length, found)) {
            return 1;
        }
        directory += length + (directory[length] == ':');
    }
    return 0;
}

int ckpt_lower_library(char *const environment[], char *path, size_t size)
{
    const char *choice = ckpt_environment_value(environment, "CKPT_LIBMPI");
    struct path found;

    if (choice == NULL || *choice == '\0') {
        choice = SONAME;
        if (find_by_launcher(&found) || find_by_run_path(&found)) {
            choice = found.text;
        }
    }
    if (ckpt_text_length(choice) >= size) {
        return -ENAMETOOLONG;
    }
    ckpt_text_copy(path, size, choice);
    return 0;
}
