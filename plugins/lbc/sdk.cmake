# The engine for providers outside of this tree: libccm-lbc.a over libccm-util.a, headers in ccm-lbc/, a pkg-config file
# and a CMake package with the version of plugins/lbc/version.h.
foreach(part MAJOR MINOR)
  file(STRINGS version.h line REGEX "^#define LBC_VERSION_${part} +[0-9]+U$")
  string(REGEX REPLACE "[^0-9]*([0-9]+)U$" "\\1" LBC_VERSION_${part} "${line}")
  if(NOT LBC_VERSION_${part} MATCHES "^[0-9]+$")
    message(FATAL_ERROR "plugins/lbc/version.h does not state LBC_VERSION_${part}")
  endif()
endforeach()
set(LBC_VERSION ${LBC_VERSION_MAJOR}.${LBC_VERSION_MINOR})

# What a provider includes. What these include comes with them.
set(lbc_headers
  lbc/version.h lbc/instance.h lbc/pass.h lbc/lookup.h lbc/reuse.h lbc/health.h lbc/quota.h lbc/vswitch.h
  lbc/apply/plain.h lbc/apply/compare.h lbc/apply/record.h lbc/apply/token.h
  lbc/model/class.h lbc/rules/rows.h lbc/model/object.h lbc/rules/inside.h
  util/array.h util/base64.h util/cidr.h util/cleanup.h util/clock.h util/digest.h util/header.h util/json.h util/jsonw.h util/parse.h
  util/pause.h util/secret.h util/strmap.h util/text.h util/thread.h util/url.h)
set(lbc_include ${CMAKE_BINARY_DIR}/sdk/include/ccm-lbc)
file(GLOB lbc_header_sources CONFIGURE_DEPENDS *.h */*.h ${CMAKE_SOURCE_DIR}/core/util/*.h)
add_custom_command(OUTPUT ${lbc_include}/instance.h
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DOUTPUT=${lbc_include} "-DROOTS=${lbc_headers}"
    -P ${CMAKE_SOURCE_DIR}/cmake/EngineHeaders.cmake
  DEPENDS ${lbc_header_sources} ${CMAKE_SOURCE_DIR}/cmake/EngineHeaders.cmake
  COMMENT "Headers of libccm-lbc.a" VERBATIM)
add_custom_target(ccm_lbc_headers ALL DEPENDS ${lbc_include}/instance.h)
install(DIRECTORY ${lbc_include} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT sdk)

ccm_install_archive(ccm_util ccm-util)
ccm_install_archive(ccm_lbc ccm-lbc)

set(lbc_package ${CMAKE_INSTALL_LIBDIR}/cmake/CcmLbc)
include(CMakePackageConfigHelpers)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/CcmLbcConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/CcmLbcConfig.cmake INSTALL_DESTINATION ${lbc_package}
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/CcmLbcConfigVersion.cmake
  VERSION ${LBC_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/CcmLbcConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/CcmLbcConfigVersion.cmake
  DESTINATION ${lbc_package} COMPONENT sdk)
ccm_install_pc(ccm-lbc)
