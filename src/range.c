/* Which pairs are written.
 *
 *     I:J         number I to J - 1 of the ascending spectrum, counted from 0,
 *                 as a slice in Python: a negative number counts from the end,
 *                 one that is left out is the first or the end.  Unlike there,
 *                 a number that does not exist is an error.
 *     value:A:B   eigenvalues with A < lambda <= B, as LAPACK's range = 'V';
 *                 there may be none */
#include "range.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static peigh_status misread(const char *text, struct failure *f)
{
    return fail(f, PEIGH_ERR_ARGUMENT, "--range %.200s: expected I:J (from 0, "
                "without J) or value:A:B with A < B", text);
}

/* An integer, or nothing, up to the character `end`. */
static bool take_number(const char **at, char end, bool *absent, int64_t *x)
{
    char *stop;
    errno = 0;
    *absent = **at == end;
    *x = 0;
    if (!*absent) {
        if (**at == ' ' || **at == '+')
            return false;
        *x = strtoll(*at, &stop, 10);
        if (errno || stop == *at || *stop != end)
            return false;
        *at = stop;
    }
    *at += end != 0;
    return true;
}

static bool take_value(const char **at, char end, double *x)
{
    char *stop;
    *x = strtod(*at, &stop);
    if (stop == *at || *stop != end || isnan(*x))
        return false;
    *at = stop + (end != 0);
    return true;
}

peigh_status range_read(struct range *range, const char *text,
                        struct failure *f)
{
    static const char by_value[] = "value:";
    const char *at = text;
    bool absent;
    *range = (struct range){0};
    if (strncmp(text, by_value, sizeof by_value - 1) == 0) {
        at += sizeof by_value - 1;
        range->by_value = take_value(&at, ':', &range->low) &&
                          take_value(&at, 0, &range->high) &&
                          range->low < range->high;
        return range->by_value ? PEIGH_OK : misread(text, f);
    }
    range->by_number = take_number(&at, ':', &absent, &range->from) &&
                       take_number(&at, 0, &range->to_end, &range->to);
    return range->by_number ? PEIGH_OK : misread(text, f);
}

peigh_status range_check(struct range *range, int64_t n, struct failure *f)
{
    if (!range->by_number)
        return PEIGH_OK;
    if (range->from < 0 && range->from >= -n)
        range->from += n;
    if (range->to_end)
        range->to = n;
    else if (range->to < 0 && range->to >= -n)
        range->to += n;
    range->to_end = false;
    if (range->from < 0 || range->to > n || range->to < range->from)
        return fail(f, PEIGH_ERR_ARGUMENT, "--range: there are no pairs %lld "
                    "to %lld (counted from 0) in a spectrum of %lld",
                    (long long)range->from, (long long)range->to - 1,
                    (long long)n);
    return PEIGH_OK;
}

peigh_status range_find(const struct range *range, struct ring *ring,
                        const peigh_layout *layout, const double *values,
                        int64_t *from, int64_t *to, struct failure *f)
{
    int64_t below[2] = {0, 0}; /* eigenvalues <= low, <= high */
    *from = range->by_number ? range->from : 0;
    *to = range->by_number ? range->to : layout->n;
    if (!range->by_value)
        return PEIGH_OK;
    for (int64_t k = 0; k < layout->count; k++) {
        below[0] += values[k] <= range->low;
        below[1] += values[k] <= range->high;
    }
    if (ring_sum_int64(ring, below, 2, f))
        return f->status;
    *from = below[0];
    *to = below[1];
    return PEIGH_OK;
}
