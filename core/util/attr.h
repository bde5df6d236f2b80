/* Compiler attributes, behind names of our own. Every thread. */
#ifndef CCM_UTIL_ATTR_H
#define CCM_UTIL_ATTR_H

#define CCM_PRINTF(text, first) __attribute__((format(printf, text, first)))
#define CCM_NODISCARD           __attribute__((warn_unused_result))
#define CCM_UNUSED              __attribute__((unused))

/* The local variable is handed (by address) to fn when it goes out of scope. */
#define CCM_CLEANUP(fn) __attribute__((cleanup(fn)))

#define CCM_ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#endif
