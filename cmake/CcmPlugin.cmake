# ccm_add_plugin(NAME SOURCES a.c b.c [LIBRARIES target ...] [NO_INSTALL])
#
# Builds the plugin NAME.so; the same function serves this tree and, through find_package(CcmPlugin), any other.
# The version script leaves ccm_plugin as the only exported symbol, also when a static library inside carries
# default visibility. In this tree the file goes to the plugin directory of the build tree, elsewhere to the
# current binary directory; it is installed to lib/ccmd/plugins, where the daemon
# looks by itself: without a CMAKE_INSTALL_PREFIX of yours, under the prefix of the SDK.
include(GNUInstallDirs)

function(ccm_add_plugin name)
  cmake_parse_arguments(arg "NO_INSTALL" "" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT name MATCHES "^[a-z0-9-]+$")
    message(FATAL_ERROR "ccm_add_plugin: '${name}' has other characters than a-z, 0-9 and '-'")
  endif()
  if(NOT arg_SOURCES OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "ccm_add_plugin(NAME SOURCES a.c b.c [LIBRARIES target ...] [NO_INSTALL])")
  endif()
  set(map ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/plugin.map)
  add_library(${name} MODULE ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES
    PREFIX "" SUFFIX ".so" OUTPUT_NAME ${name}
    C_VISIBILITY_PRESET hidden
    CXX_VISIBILITY_PRESET hidden
    LINK_DEPENDS ${map}
    # The same when it is built as when it is installed. CMake's own way would leave an empty element in the file of the
    # build tree, the folder that a process happens to run in; ccmd refuses that.
    BUILD_WITH_INSTALL_RPATH ON)
  if(CCM_PLUGIN_OUTPUT_DIRECTORY)
    set_target_properties(${name} PROPERTIES
      LIBRARY_OUTPUT_DIRECTORY ${CCM_PLUGIN_OUTPUT_DIRECTORY}
      INSTALL_RPATH "\$ORIGIN/..") # libraries of this tree stand one folder up
  endif()
  target_link_libraries(${name} PRIVATE
    $<TARGET_NAME_IF_EXISTS:ccm::flags> ccm::sdk ${arg_LIBRARIES})
  target_link_options(${name} PRIVATE
    -Wl,--version-script=${map} -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
  if(NOT CCM_SANITIZE)
    # Missing functions are found by the linker, not by the daemon.
    target_link_options(${name} PRIVATE -Wl,-z,defs)
  endif()
  if(NOT arg_NO_INSTALL)
    # Before anybody has chosen one, CMake's prefix is /usr/local, where the daemon of a package does not look.
    if(CMAKE_INSTALL_PREFIX_INITIALIZED_TO_DEFAULT AND CCM_SDK_PREFIX)
      set(CMAKE_INSTALL_PREFIX ${CCM_SDK_PREFIX} CACHE PATH "Where ccmd and its SDK are" FORCE)
    endif()
    install(TARGETS ${name} LIBRARY DESTINATION lib/ccmd/plugins)
  endif()
endfunction()
