/* Pages by token or by number, as ECS and VPC have them. With the cloud's lock held. */
#ifndef CCM_CLOUD_PAGE_H
#define CCM_CLOUD_PAGE_H

#include "cloud.h"

struct ccm_cloud_page {
    bool by_token;
    int64_t size;
    int64_t number; /* from 1 */
    uint64_t after; /* sequence number of the last object of the page before */
    uint64_t last;
    int64_t total;
    int64_t written;
    bool more;
};

/* Read MaxResults and NextToken, or PageNumber and PageSize; sizes outside min..max are moved
 * inside, `usual` is used when none is given. 0 or -EPROTO. */
CCM_NODISCARD int ccm_cloud_page_read(struct ccm_cloud_call *call, int64_t min, int64_t max,
                                      int64_t usual, struct ccm_cloud_page *ret);

/* Whether this object, which fits the filters, is on the page. Objects come in order of creation.
 */
bool ccm_cloud_page_takes(struct ccm_cloud_page *page, uint64_t seq);

/* Text of the token of the next page, "" on the last one. */
void ccm_cloud_page_token(const struct ccm_cloud_page *page, char *text, size_t size);

/* TotalCount, PageNumber, PageSize, and NextToken where there are tokens. */
void ccm_cloud_page_write(struct ccm_jsonw *w, const struct ccm_cloud_page *page);

#endif
