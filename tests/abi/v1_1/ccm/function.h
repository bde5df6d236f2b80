/*
 * How the few functions of these headers come to a plugin: in place, so that nothing has to be
 * linked, or from a library, for languages that call C but do not compile it.
 *
 * With CCM_EXTERN_FUNCTIONS defined the headers only declare them, under the same names; the
 * definitions are in libccm-plugin.a, which is installed beside the headers (ccmd-plugin.pc and the
 * CMake package name it to the linker). It is position independent, needs the C library alone, and
 * nothing of it is visible outside of the plugin.
 */
#ifndef CCM_FUNCTION_H
#define CCM_FUNCTION_H

#ifdef CCM_EXTERN_FUNCTIONS
#define CCM_FUNCTION extern
#elif !defined(CCM_FUNCTION)
#define CCM_FUNCTION static inline
#endif

#endif
