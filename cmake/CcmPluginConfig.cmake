# find_package(CcmPlugin 1.0): the target ccm::sdk (headers, libccm-plugin.a) and the function ccm_add_plugin. The version is that of
# the plugin ABI, not of ccmd.
include(${CMAKE_CURRENT_LIST_DIR}/CcmPluginTargets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/CcmPlugin.cmake)

# ccm::fake_host, for unit tests: what a plugin is called with, without a daemon. It needs libcjson.
if(NOT TARGET ccm::fake_host)
  get_filename_component(ccm_libraries ${CMAKE_CURRENT_LIST_DIR}/../.. ABSOLUTE)
  add_library(ccm::fake_host STATIC IMPORTED)
  set_target_properties(ccm::fake_host PROPERTIES
    IMPORTED_LOCATION ${ccm_libraries}/libccm-fake-host.a
    INTERFACE_LINK_LIBRARIES "ccm::sdk;${ccm_libraries}/libccm-util.a;cjson;pthread;m")
endif()

# The prefix under which ccmd is, and so its lib/ccmd/plugins.
get_filename_component(CCM_SDK_PREFIX ${CMAKE_CURRENT_LIST_DIR} REALPATH)
string(REGEX REPLACE "/lib[^/]*(/[^/]+)?/cmake/CcmPlugin$" "" CCM_SDK_PREFIX ${CCM_SDK_PREFIX})
