/* cmocka wants these before its own header. */
#ifndef CCM_ALILB_TESTS_CHECK_H
#define CCM_ALILB_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
