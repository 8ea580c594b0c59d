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
