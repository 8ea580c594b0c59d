/* Checkpoints of a run of the program.
 *
 *     FILE.part   while it is written
 *     FILE        the newest one that is whole
 *     FILE.old    the one before
 *
 * A checkpoint that cannot be written is no reason to end a run: a line on
 * standard error says so, the older ones stay, and the next one is tried when
 * it is due.  Only a run that was told to stop ends with that failure.
 *
 * A run goes on from FILE; if that cannot be used, from FILE.old, and says
 * so. */
#include "keep.h"

#include "part.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static void name_with(char name[KEEP_NAME_MAX], const char *path,
                      const char *suffix)
{
    snprintf(name, KEEP_NAME_MAX, "%s%s", path, suffix);
}

static void check_checkpoint(const char *path, struct failure *f)
{
    char name[KEEP_NAME_MAX];
    if (strlen(path) + sizeof ".part" > KEEP_NAME_MAX)
        fail_io(f, path, "the name is too long");
    if (!failed(f))
        checkpoint_name_check(path, f);
    name_with(name, path, ".old");
    if (!failed(f))
        checkpoint_name_check(name, f);
    name_with(name, path, ".part");
    if (!failed(f))
        unlink(name); /* left by a run that was killed */
}

peigh_status keep_names_apart(const struct command *c, struct failure *f)
{
    const char *const name[] = {c->log_path, c->checkpoint_path,
                                c->values_path, c->vectors_path, c->json_path,
                                c->matrix};
    enum { WRITTEN_ON_THE_WAY = 2, NAMES = sizeof name / sizeof *name };
    for (int k = 0; k < WRITTEN_ON_THE_WAY; k++)
        for (int l = k + 1; name[k] && l < NAMES; l++)
            if (name[l] && output_same(name[k], name[l]))
                fail(f, PEIGH_ERR_ARGUMENT, "%.150s and %.150s are the same "
                     "file; one would replace the other", name[k], name[l]);
    return f->status;
}

peigh_status keep_check(const struct command *c, struct failure *f)
{
    if (c->checkpoint_path && !failed(f))
        check_checkpoint(c->checkpoint_path, f);
    if (c->log_path && !failed(f))
        output_check(c->log_path, f);
    return f->status;
}

peigh_status keep_open(struct keep *k, struct ring *ring, const double *a,
                       double every, struct failure *f)
{
    const struct origin *o = &k->origin;
    if (!k->path && !k->resume)
        return PEIGH_OK;
    if (checkpoint_fingerprint(ring, o->layout, o->options->uplo, a,
                               &k->origin.matrix, f))
        return f->status;
    if (k->path) {
        name_with(k->old, k->path, ".old");
        interrupt_start(&k->interrupt, every);
    }
    return PEIGH_OK;
}

void keep_close(struct keep *k)
{
    if (k->path)
        interrupt_end();
}

static bool due(void *context, struct ring *ring, struct failure *f)
{
    struct keep *k = context;
    if (!k->path)
        return false;
    k->wish = interrupt_wish(&k->interrupt, ring, f);
    return k->wish != WISH_NONE;
}

/* Told to stop, and the checkpoint is there. */
static peigh_status stop(const struct keep *k, struct ring *ring,
                         const struct state *state, struct failure *f)
{
    int64_t number = interrupt_signal(); /* perhaps of another rank only */
    if (ring_max_int64(ring, &number, 1, f))
        return f->status;
    return fail(f, PEIGH_ERR_INTERRUPTED, "interrupted by %s in sweep %d; go "
                "on with --resume %.300s",
                number == SIGINT ? "SIGINT" : "SIGTERM",
                state->report.sweeps + 1, k->path);
}

static void warn(const struct ring *ring, const char *message,
                 const char *what_now)
{
    if (ring->rank == 0)
        fprintf(stderr, "peigh: %s; %s\n", message, what_now);
}

static peigh_status save(void *context, struct ring *ring,
                         const struct cells *cells, const struct state *state,
                         struct failure *f)
{
    struct keep *k = context;
    struct failure mine = {.status = PEIGH_OK};
    double start = MPI_Wtime();
    checkpoint_write(&k->origin, k->path, k->spare_old ? NULL : k->old, ring,
                     cells, state, &mine);
    double seconds = MPI_Wtime() - start;
    interrupt_served(&k->interrupt);
    k->run->seconds.checkpoint += seconds;
    bool stopping = k->wish == WISH_STOP;
    if (failed(&mine)) {
        k->run->checkpoints.failed++;
        k->unwritten = stopping;
        if (stopping || mine.status == PEIGH_ERR_MPI)
            *f = mine;
        else
            warn(ring, mine.message, "going on without this checkpoint");
        return f->status;
    }
    k->spare_old = false;
    k->run->checkpoints.written++;
    log_checkpoint(k->log, k->path, state, seconds);
    return stopping ? stop(k, ring, state, f) : PEIGH_OK;
}

/* Of both reasons, that of the newer one; and of the older if there is one. */
static void refuse_both(const struct keep *k, const struct failure *newer,
                        const struct failure *older, struct failure *f)
{
    char name[KEEP_NAME_MAX];
    name_with(name, k->resume, ".old");
    bool there = access(name, F_OK) == 0;
    fail(f, newer->status, "%.250s%s%.230s", newer->message,
         there ? "; " : "", there ? older->message : "");
}

static peigh_status load(void *context, struct ring *ring,
                         const struct cells *cells, struct state *state,
                         struct failure *f)
{
    struct keep *k = context;
    struct failure newer = {.status = PEIGH_OK}, older = newer;
    char name[KEEP_NAME_MAX];
    name_with(name, k->resume, "");
    if (checkpoint_read(&k->origin, name, ring, cells, state, &newer)) {
        name_with(name, k->resume, ".old");
        if (newer.status == PEIGH_ERR_MPI ||
            checkpoint_read(&k->origin, name, ring, cells, state, &older)) {
            refuse_both(k, &newer, &older, f);
            return ring_agree(ring, f);
        }
        warn(ring, newer.message, "going on from the one before it, .old");
        k->spare_old = k->path && output_same(k->path, k->resume);
    }
    k->run->resumed.from = k->resume;
    k->run->resumed.older = failed(&newer);
    k->run->resumed.sweep = state->report.sweeps + 1;
    k->run->resumed.step = state->step;
    return PEIGH_OK;
}

struct seam keep_seam(struct keep *k)
{
    return (struct seam){.context = k, .due = due, .save = save,
                         .load = k->resume ? load : NULL};
}
