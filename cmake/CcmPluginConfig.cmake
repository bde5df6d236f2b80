# find_package(CcmPlugin 1.0): the target ccm::sdk (headers, libccm-plugin.a) and the function ccm_add_plugin. The version is that of
# the plugin ABI, not of ccmd.
include(${CMAKE_CURRENT_LIST_DIR}/CcmPluginTargets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/CcmPlugin.cmake)

# The prefix under which ccmd is, and so its lib/ccmd/plugins.
get_filename_component(CCM_SDK_PREFIX ${CMAKE_CURRENT_LIST_DIR} REALPATH)
string(REGEX REPLACE "/lib[^/]*(/[^/]+)?/cmake/CcmPlugin$" "" CCM_SDK_PREFIX ${CCM_SDK_PREFIX})
