/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * host_control.c - commands of the lower half to the agent, as those of `ckpt`.
 */
#include "config.h"
#include "lower/host_control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* What is in the line with the last word of the agent. In a text the quotation
 * marks would have a backslash. */
#define DONE "\"event\":\"result\""
#define NOT_DONE "\"event\":\"error\""
#define NAME "\"name\":\""
#define REASON "\"error\":\""

/* flags: SOCK_NONBLOCK, if nobody may wait for an agent that takes no connections.
 * Returns a descriptor or -errno. */
static int open_control(const char *path, int flags)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd, error;

    if (strlen(path) >= sizeof(address.sun_path)) {
        return -ENAMETOOLONG;
    }
    strcpy(address.sun_path, path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
    if (fd < 0) {
        return -errno;
    }
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        error = -errno;
        close(fd);
        return error;
    }
    return fd;
}

/* A line fits into an empty socket. */
static int send_line(int fd, const char *line)
{
    const ssize_t sent = send(fd, line, strlen(line), MSG_NOSIGNAL);

    return sent < 0 ? -errno : (size_t)sent == strlen(line) ? 0 : -EMSGSIZE;
}

int ckpt_host_control_tell(const char *path, const char *line)
{
    const int fd = open_control(path, SOCK_NONBLOCK);
    int error;

    if (fd < 0) {
        return fd;
    }
    error = send_line(fd, line);
    close(fd);
    return error;
}

/* Copies the text that begins behind `start`, if that is in the line. */
static void copy_text(const char *line, const char *start, char *text, size_t size)
{
    const char *from = strstr(line, start);
    size_t length = 0;

    from = from == NULL ? "" : from + strlen(start);
    for (; *from != '\0' && *from != '"' && length + 1 < size; from++) {
        if (*from == '\\' && from[1] != '\0') {
            from++;
        }
        text[length++] = *from;
    }
    text[length] = '\0';
}

/* Reads up to the last word. */
static int await_answer(FILE *agent, char *text, size_t size)
{
    char *line = NULL;
    size_t room = 0;
    int answer = -EPIPE; /* the agent has died */

    while (answer == -EPIPE && getline(&line, &room, agent) >= 0) {
        if (strstr(line, DONE) != NULL) {
            copy_text(line, NAME, text, size);
            answer = 0;
        } else if (strstr(line, NOT_DONE) != NULL) {
            copy_text(line, REASON, text, size);
            answer = -ECANCELED;
        }
    }
    free(line);
    return answer;
}

int ckpt_host_control_ask(const char *path, const char *line, char *text,
                          size_t size)
{
    const int fd = open_control(path, 0);
    FILE *agent;
    int error;

    snprintf(text, size, "the agent does not answer");
    if (fd < 0) {
        return fd;
    }
    agent = fdopen(fd, "r");
    if (agent == NULL) {
        close(fd);
        return -ENOMEM;
    }
    error = send_line(fd, line);
    if (error == 0) {
        error = await_answer(agent, text, size);
    }
    fclose(agent);
    return error;
}
