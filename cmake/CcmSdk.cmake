# What is installed for others to build against, the component `sdk`: static libraries and .pc files.

# Paths in a .pc file follow the file when the whole tree is moved, unless they were given as absolute.
if(IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
  set(ccm_pc_prefix ${CMAKE_INSTALL_PREFIX})
else()
  file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  string(REGEX REPLACE "/$" "" up "${up}")
  set(ccm_pc_prefix "\${pcfiledir}/${up}")
endif()
foreach(what include lib)
  string(TOUPPER ${what} upper)
  set(dir_name CMAKE_INSTALL_${upper}DIR)
  set(ccm_pc_${what} ${${dir_name}})
  if(NOT IS_ABSOLUTE ${ccm_pc_${what}})
    set(ccm_pc_${what} "\${prefix}/${ccm_pc_${what}}")
  endif()
endforeach()

# ccm_install_pc(NAME): cmake/NAME.pc.in, filled in.
function(ccm_install_pc name)
  configure_file(${CMAKE_SOURCE_DIR}/cmake/${name}.pc.in ${CMAKE_BINARY_DIR}/sdk/${name}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/sdk/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT sdk)
endfunction()

# ccm_install_archive(TARGET NAME)
#
# Installs the static library TARGET of this tree for others, as libNAME.a in the component `sdk`: the same objects without
# their debugging information, whose sources nobody has there.
function(ccm_install_archive target name)
  set(archive ${CMAKE_BINARY_DIR}/sdk/lib${name}.a)
  add_custom_command(OUTPUT ${archive}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/sdk
    COMMAND ${CMAKE_STRIP} --strip-debug -o ${archive} $<TARGET_FILE:${target}>
    DEPENDS ${target} VERBATIM)
  add_custom_target(${target}_archive ALL DEPENDS ${archive})
  install(FILES ${archive} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT sdk)
endfunction()
