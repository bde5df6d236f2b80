/*
 * In place of core/config/stamp.c, by link order. The files of a simulated process never change: a
 * look at them each virtual second would only cost real time.
 */
#include "config/load.h"

struct config_stamp config_stamp_of(const char *path)
{
    (void)path;
    return (struct config_stamp){ .size = 1 };
}

bool config_stamp_equal(const struct config_stamp *a, const struct config_stamp *b)
{
    (void)a;
    (void)b;
    return true;
}
