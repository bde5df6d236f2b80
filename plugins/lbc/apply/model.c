#include "lbc/apply/model.h"

#include "lbc/model/annotation.h"
#include "lbc/model/settings.h"
#include "util/text.h"

#include <stdlib.h>
#include <string.h>

void lbc_model_init(struct lbc_model *model, struct lbc_state *want,
                    const struct ccm_service *service)
{
    const struct ccm_object *meta = &service->meta;

    model->want = want;
    model->reused = lbc_anno_get(meta, "id")[0] != '\0';
    model->override = ccm_text_equal(lbc_anno_get(meta, "force-override-listeners"), "true");
    model->preserve = lbc_setting_preserve(service);
}

void lbc_model_fini(struct lbc_model *model)
{
    for (size_t i = 0; model->sets != NULL && i < model->want->group_count; i++) {
        lbc_candidates_fini(&model->sets[i]);
    }
    free(model->sets);
    lbc_node_table_fini(&model->nodes);
    memset(model, 0, sizeof(*model));
}

bool lbc_model_has_listeners(const struct lbc_model *model)
{
    return !model->reused || model->override;
}

void lbc_model_finish(struct lbc_model *model, struct lbc_resolved *resolved)
{
    for (size_t i = 0; i < model->want->group_count; i++) {
        struct lbc_group *group = model->want->groups[i];

        group->backends = resolved[i].backends;
        memset(&resolved[i].backends, 0, sizeof(resolved[i].backends));
        group->add_only = resolved[i].invalid.len > 0;
    }
}
