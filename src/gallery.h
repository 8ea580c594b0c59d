/* Matrices given by a formula: what the gallery's tables and functions share.
 * source_gallery.c finds the entry and its options; gallery_formula.c and
 * gallery_spectra.c hold the matrices. */
#ifndef GALLERY_H
#define GALLERY_H

#include "failure.h"

enum {
    GALLERY_KEYS = 5,            /* a NULL name ends an entry's keys */
    GALLERY_ORDER_MAX = PEIGH_ORDER_MAX,
};

enum gallery_form {
    GALLERY_REAL,
    GALLERY_INTEGER,
    GALLERY_WORD, /* the value is the word's number */
    GALLERY_LIST, /* numbers with slashes between, into gallery.list */
};

struct gallery_key {
    const char *name;
    enum gallery_form form;
    double fallback, least, most;
    const char *const *words; /* GALLERY_WORD: NULL ends them */
};

/* One matrix with its options; the state of a source. */
struct gallery {
    const struct gallery_entry *entry;
    int64_t n;                 /* before set-up -1 when not given */
    uint64_t seed;
    double option[GALLERY_KEYS]; /* in the order of the entry's keys */
    bool given[GALLERY_KEYS];  /* by the user */
    double *list;              /* GALLERY_LIST; NULL when not given */
    int64_t list_length;
    double *d;                 /* n numbers, for the entries that need them */
    double mean;               /* of d */
    double scale;              /* of random entries */
    bool no_eigenvalues;       /* with these options */
};

struct gallery_entry {
    const char *name;
    int64_t order; /* when no n is given */
    struct gallery_key keys[GALLERY_KEYS];

    /* Check the options, set n where it follows from them, make d.  NULL:
     * any n will do.  n is not negative on entry unless order is. */
    peigh_status (*setup)(struct gallery *g, struct failure *f);

    /* A[i,j] for 0 <= i <= j < n; the rest of the matrix is its mirror. */
    double (*entry)(const struct gallery *g, int64_t i, int64_t j);

    /* All n, in any order; NULL when there is no closed form. */
    void (*eigenvalues)(const struct gallery *g, double *w);
};

/* The tables; a NULL name ends each. */
extern const struct gallery_entry gallery_formulas[];
extern const struct gallery_entry gallery_spectra[];

/* Room for n doubles in g->d. */
peigh_status gallery_allocate(struct gallery *g, struct failure *f);

/* Where the noise of entry (i, j), i <= j, is found: row by row of the lower
 * triangle, so that it does not depend on n. */
static inline uint64_t gallery_index(int64_t i, int64_t j)
{
    return (uint64_t)(j * (j + 1) / 2 + i);
}

#endif
