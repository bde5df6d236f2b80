# Labels of ctest entries; what each is for and how to skip one: docs/testing.md.
#   quick        part of `make quick`
#   unit         a program that tests parts of the product in its own process
#   lint         looks at the sources, or at what was built of them
#   integration  the real processes
#   sim          the simulators and the tests' own tools
#   package      what is installed, packed or followed from a page; needs a compiler, or minutes
#
# ccm_add_test(NAME SOURCES a.c [LIBRARIES target ...])
#
# One cmocka program per test file, one ctest entry each: a crash of one is named and stops no other.
function(ccm_add_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_link_libraries(${name} PRIVATE ccm::flags ${arg_LIBRARIES} PkgConfig::CMOCKA)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 LABELS "quick;unit")
endfunction()
