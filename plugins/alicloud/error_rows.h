/* The tables behind error.h, as data. Every thread. */
#ifndef CCM_ALICLOUD_ERROR_ROWS_H
#define CCM_ALICLOUD_ERROR_ROWS_H

#include "alicloud/error.h"

extern const struct ali_error_row ali_error_rows[];
extern const size_t ali_error_row_count;

/* What NLB and VPC add; looked at first. */
extern const struct ali_error_row ali_error_rows_nlb[];
extern const size_t ali_error_row_nlb_count;
extern const struct ali_error_row ali_error_rows_vpc[];
extern const size_t ali_error_row_vpc_count;

#endif
