/* The log of a run, one JSON object a line:
 *
 *     {"sweep": ...}        after each sweep
 *     {"checkpoint": ...}   after each checkpoint
 *     the report            at the end, as --json writes it, in one line
 *
 * Each line is flushed when it is complete, so a log tells how far a run is,
 * and how far one was that is no more.  What cannot be written is an error of
 * the end, not of the middle: results are more than their log. */
#include "log.h"

#include "part.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

peigh_status log_open(struct log *log, const char *path, bool append,
                      double start, struct failure *f)
{
    *log = (struct log){.path = path, .start = start};
    log->stream = fopen(path, append ? "a" : "w");
    if (!log->stream)
        fail_io(f, path, strerror(errno));
    return f->status;
}

static double elapsed(const struct log *log)
{
    return MPI_Wtime() - log->start;
}

void log_sweep(struct log *log, const peigh_sweep *s)
{
    if (!log->stream)
        return;
    fprintf(log->stream, "{\"sweep\": %d, \"off_norm\": ", s->sweep);
    json_number(log->stream, s->off_norm);
    fprintf(log->stream, ", \"rotations\": %" PRId64 ", \"seconds\": %.6f, "
            "\"remaining\": %.6f, \"elapsed\": %.6f}\n", s->rotations,
            s->seconds, s->remaining, elapsed(log));
    fflush(log->stream);
}

void log_checkpoint(struct log *log, const char *path,
                    const struct state *state, double seconds)
{
    if (!log->stream)
        return;
    fprintf(log->stream, "{\"checkpoint\": ");
    json_string(log->stream, path);
    fprintf(log->stream, ", \"in_sweep\": %d, \"step\": %" PRId64
            ", \"seconds\": %.6f, \"elapsed\": %.6f}\n",
            state->report.sweeps + 1, state->step, seconds, elapsed(log));
    fflush(log->stream);
}

/* Line breaks are blanks to JSON; strings have none (json_string). */
void log_report(struct log *log, const struct run *run)
{
    char *text = NULL;
    size_t length = 0;
    FILE *memory = log->stream ? open_memstream(&text, &length) : NULL;
    if (!memory)
        return;
    print_json(memory, run);
    fclose(memory);
    for (size_t k = 0; k + 1 < length; k++)
        fputc(text[k] == '\n' ? ' ' : text[k], log->stream);
    fputc('\n', log->stream);
    fflush(log->stream);
    free(text);
}

peigh_status log_close(struct log *log, struct failure *f)
{
    if (!log->stream)
        return f->status;
    bool bad = ferror(log->stream) != 0;
    if (fclose(log->stream) || bad)
        fail_io(f, log->path, bad ? "not all of the log could be written"
                                  : strerror(errno));
    log->stream = NULL;
    return f->status;
}
