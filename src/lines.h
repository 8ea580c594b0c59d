/* A text file line by line, in constant memory, with errors that name the
 * line. */
#ifndef LINES_H
#define LINES_H

#include "failure.h"

enum { LINE_BYTES_MAX = 65536 }; /* the longest line with its end */

struct lines {
    int fd;
    const char *name;  /* of the file, for messages; the caller's */
    struct failure *f; /* where failures go; the caller's */
    int64_t number;    /* of the current line, from 1 */
    int64_t size;      /* of the file when it was opened */
    int64_t offset;    /* in the file, of the first byte not yet read */
    size_t begin, end; /* what the buffer holds beyond the current line */
    char *at, *stop;   /* the part of the current line that is not parsed
                        * yet; a 0 at stop */
    char buffer[LINE_BYTES_MAX + 1];
};

/* NULL after a failure. */
struct lines *lines_open(const char *path, const char *name,
                         struct failure *f);
void lines_close(struct lines *l);

/* The next line, or the next one that holds anything but a % comment; false
 * at the end of the file and after a failure. */
bool lines_next(struct lines *l);
bool lines_next_data(struct lines *l);

/* Step over spaces; false at the end of the line. */
bool lines_word(struct lines *l);

/* Characters of the word at l->at, as many as a message should show. */
int lines_word_length(const struct lines *l);

/* An integer with an optional sign, in 63 bits; `what` it is, for the
 * message.  False after a failure, as below. */
bool lines_integer(struct lines *l, const char *what, int64_t *value);

/* A matrix entry.  nan and inf are passed on where they are spelled out; a
 * finite number too large for a double is refused. */
bool lines_value(struct lines *l, bool integer, double *value);

/* Nothing but spaces is left on the line. */
bool lines_finished(struct lines *l);

/* A failure on the current line. */
__attribute__((format(printf, 2, 3)))
void lines_fail(struct lines *l, const char *format, ...);

#endif
