/* What the file formats share: opening, reading, naming. */
#ifndef SOURCE_FILE_H
#define SOURCE_FILE_H

#include "failure.h"

#include <sys/types.h>

/* Largest order of a file's matrix, as in layout.c: n * n doubles still fit
 * 63 bits. */
enum { FILE_ORDER_MAX = PEIGH_ORDER_MAX };

/* The path as messages show it: all of it, or "..." and its end, so that the
 * reason behind it always fits. */
void file_name(char name[PEIGH_MESSAGE_MAX], const char *path);

/* Open a regular file for reading; *size is its length in bytes.  Returns
 * the descriptor, or -1 with the failure recorded under `name`. */
int file_open(const char *path, const char *name, int64_t *size,
              struct failure *f);

/* Read `bytes` bytes at `offset`, however many calls and interruptions it
 * takes.  Returns what was read, less only at the end of the file, or -1 with
 * errno set. */
ssize_t file_read(int fd, void *buffer, size_t bytes, int64_t offset);

/* Open for reading by MPI-IO, for this rank alone; MPI's code.  Open MPI 4.1
 * fails for a name of one character, unless there is a folder before it. */
int file_open_shared(const char *path, MPI_File *file);

/* Compressed by gzip (RFC 1952: the first two bytes are 1f 8b)? */
bool file_is_gzip(const void *head, size_t bytes);

#endif
