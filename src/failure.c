#include "failure.h"

#include <stdarg.h>
#include <stdio.h>

peigh_status fail(struct failure *f, peigh_status status,
                  const char *format, ...)
{
    if (failed(f))
        return f->status;
    f->status = status;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(f->message, sizeof f->message, format, arguments);
    va_end(arguments);
    return status;
}

const char *peigh_status_text(peigh_status status)
{
    static const char *const text[] = {
        [PEIGH_OK] = "success",
        [PEIGH_ERR_ARGUMENT] = "bad argument",
        [PEIGH_ERR_NOT_FINITE] = "not finite",
        [PEIGH_ERR_NOT_SYMMETRIC] = "not symmetric",
        [PEIGH_ERR_NOT_DEFINITE] = "not positive definite",
        [PEIGH_ERR_MEMORY] = "out of memory",
        [PEIGH_ERR_NO_CONVERGENCE] = "no convergence",
        [PEIGH_ERR_RESULT] = "wrong result",
        [PEIGH_ERR_IO] = "input or output",
        [PEIGH_ERR_MPI] = "MPI",
        [PEIGH_ERR_INTERRUPTED] = "interrupted",
    };
    const unsigned count = sizeof text / sizeof *text;
    return (unsigned)status < count ? text[status] : "unknown status";
}
