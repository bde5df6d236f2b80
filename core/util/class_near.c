#include "util/class_near.h"

#include "util/suggest.h"
#include "util/text.h"

#include <string.h>

#define SHOWN_MAX 100 /* bytes of a class that a message repeats */

bool ccm_class_is_near(const char *name, const char *known)
{
    struct ccm_suggest suggest = { .wanted = name };
    const char *slash = strchr(known, '/');

    if (name[0] == '\0' || strcmp(name, known) == 0) {
        return false;
    }
    if (slash != NULL && strncmp(name, known, (size_t)(slash - known) + 1) == 0) {
        return true;
    }
    ccm_suggest_offer(&suggest, known);
    return ccm_suggest_best(&suggest) != NULL;
}

void ccm_class_write_near(const char *name, const char *known, char ret[CCM_CLASS_NEAR_TEXT])
{
    const size_t shown = ccm_text_utf8_cut(name, SHOWN_MAX);

    ccm_text_printf(ret, CCM_CLASS_NEAR_TEXT,
                    "spec.loadBalancerClass [%.*s] is none that is known here, so nobody makes a "
                    "load balancer: did you mean %s? A class cannot be changed: delete the Service "
                    "and create it again",
                    (int)shown, name, known);
}
