#include "lbc/model/class.h"

#include "ccm/object.h"
#include "lbc/names.h"
#include "util/parse.h"
#include "util/text.h"

#include <string.h>

static bool is_load_balancer(const struct ccm_service *service)
{
    return ccm_text_equal(service->type, "LoadBalancer");
}

bool lbc_class_is_elsewhere(const struct ccm_service *service)
{
    const char *any = lbc_names.elsewhere[0];
    const char *valued = lbc_names.elsewhere[1];

    return (any != NULL && ccm_object_annotation(&service->meta, any) != NULL) ||
           (valued != NULL && !ccm_text_empty(ccm_object_annotation(&service->meta, valued)));
}

bool lbc_class_is_default(const struct ccm_service *service)
{
    return is_load_balancer(service) && ccm_text_empty(service->load_balancer_class) &&
           !lbc_class_is_elsewhere(service);
}

bool lbc_class_is(const struct ccm_service *service, const char *name)
{
    return is_load_balancer(service) && ccm_text_equal(service->load_balancer_class, name);
}

bool lbc_class_is_in(const struct ccm_service *service, const char *list)
{
    const char *name = service->load_balancer_class;

    return is_load_balancer(service) && !ccm_text_empty(name) &&
           ccm_parse_has_piece(list, ',', name, strlen(name));
}

bool lbc_class_needs_delete(const struct ccm_service *service)
{
    return service->meta.deleted_ms != 0 || !is_load_balancer(service);
}
