# Warning set and hardening of every target of the tree (linked through ccm::flags).
add_library(ccm_flags INTERFACE)
add_library(ccm::flags ALIAS ccm_flags)

target_compile_definitions(ccm_flags INTERFACE _POSIX_C_SOURCE=200809L)
target_compile_options(ccm_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wvla -Wmissing-prototypes
  -Wstrict-prototypes -Wformat=2 -Wundef -Wwrite-strings -Werror
  -fno-common -fstack-protector-strong)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  target_compile_options(ccm_flags INTERFACE -Wlogical-op -Wduplicated-cond
    -fstack-clash-protection)
endif()
if(CMAKE_C_COMPILER_ID MATCHES "Clang")
  # A macro argument list may be empty: supported by both compilers we build with.
  target_compile_options(ccm_flags INTERFACE -Wno-gnu-zero-variadic-macro-arguments)
endif()
target_link_options(ccm_flags INTERFACE -Wl,-z,relro,-z,now -Wl,-z,noexecstack)
if(CMAKE_BUILD_TYPE MATCHES "Rel")
  target_compile_definitions(ccm_flags INTERFACE _FORTIFY_SOURCE=2)
endif()

# Programs are position independent executables.
include(CheckPIESupported)
check_pie_supported(LANGUAGES C)
