/* What the file formats share: opening, reading, naming.  Files are read with
 * pread(2), so a descriptor has no position that readers could disturb. */
#include "source_file.h"

#include "source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NAME_LONGEST = 300 }; /* leaves 200 characters for the reason */

void file_name(char name[PEIGH_MESSAGE_MAX], const char *path)
{
    size_t length = strlen(path);
    bool whole = length <= NAME_LONGEST;
    snprintf(name, PEIGH_MESSAGE_MAX, "%s%s", whole ? "" : "...",
             whole ? path : path + length - NAME_LONGEST);
}

int file_open(const char *path, const char *name, int64_t *size,
              struct failure *f)
{
    struct stat status;
    const char *reason = NULL;
    /* O_NONBLOCK: a named pipe is refused below instead of waited for. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &status) != 0)
        reason = strerror(errno);
    else if (S_ISDIR(status.st_mode))
        reason = strerror(EISDIR);
    else if (!S_ISREG(status.st_mode))
        reason = "not a regular file";
    if (reason == NULL) {
        *size = (int64_t)status.st_size;
        return fd;
    }
    fail(f, PEIGH_ERR_IO, "%s: %s", name, reason);
    if (fd >= 0)
        close(fd);
    return -1;
}

ssize_t file_read(int fd, void *buffer, size_t bytes, int64_t offset)
{
    size_t have = 0;
    while (have < bytes) {
        ssize_t got = pread(fd, (char *)buffer + have, bytes - have,
                            (off_t)(offset + (int64_t)have));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (got == 0)
            break;
        have += (size_t)got;
    }
    return (ssize_t)have;
}

bool file_is_gzip(const void *head, size_t bytes)
{
    return bytes >= 2 && memcmp(head, "\x1f\x8b", 2) == 0;
}

peigh_status source_check_order(struct source *source, int64_t n,
                                struct failure *f)
{
    if (n >= 0 && source->n != n) {
        fail(f, PEIGH_ERR_ARGUMENT,
             "%s: the matrix has order %lld, not %lld as asked for",
             source->name, (long long)source->n, (long long)n);
        source->close(source);
        memset(source, 0, sizeof *source);
    }
    return f->status;
}

int file_open_shared(const char *path, MPI_File *file)
{
    char here[] = "./x";
    here[2] = path[0];
    bool single = path[0] && !path[1];
    return MPI_File_open(MPI_COMM_SELF, single ? here : path, MPI_MODE_RDONLY,
                         MPI_INFO_NULL, file);
}
