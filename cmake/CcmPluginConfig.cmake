# find_package(CcmPlugin 1.0): the target ccm::sdk (headers, libccm-plugin.a) and the function ccm_add_plugin. The version is that of
# the plugin ABI, not of ccmd.
include(${CMAKE_CURRENT_LIST_DIR}/CcmPluginTargets.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/CcmPlugin.cmake)
