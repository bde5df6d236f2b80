/* What every test program here includes before cmocka. */
#ifndef CCM_ALICLOUD_TESTS_CHECK_H
#define CCM_ALICLOUD_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
