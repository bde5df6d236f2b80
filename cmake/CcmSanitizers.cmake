# CCM_SANITIZE=address|thread|fuzz switches the whole tree; "address" includes UBSan, "fuzz" is that for libFuzzer.
set(CCM_SANITIZE "" CACHE STRING "address, thread, fuzz, or empty")
set_property(CACHE CCM_SANITIZE PROPERTY STRINGS "" address thread fuzz)

if(CCM_SANITIZE STREQUAL "address")
  set(ccm_san -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
elseif(CCM_SANITIZE STREQUAL "thread")
  set(ccm_san -fsanitize=thread -fno-omit-frame-pointer)
elseif(CCM_SANITIZE STREQUAL "fuzz")
  set(ccm_san -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
elseif(NOT CCM_SANITIZE STREQUAL "")
  message(FATAL_ERROR "CCM_SANITIZE: '${CCM_SANITIZE}' is not address, thread, fuzz or empty")
endif()

if(ccm_san)
  target_compile_options(ccm_flags INTERFACE ${ccm_san})
  target_link_options(ccm_flags INTERFACE ${ccm_san})
endif()
