# The fake host: for the unit tests of this tree, and installed for those of plugins elsewhere, so without CCM_TESTS too.
add_library(ccm_fake_host STATIC
  tests/support/fake_host.c tests/support/fake_http.c tests/support/fake_cluster.c tests/support/fake_raw.c
  tests/support/fake_write.c)
add_library(ccm::fake_host ALIAS ccm_fake_host)
set_target_properties(ccm_fake_host PROPERTIES ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/support)
target_include_directories(ccm_fake_host PUBLIC ${CMAKE_SOURCE_DIR}/tests)
target_link_libraries(ccm_fake_host PUBLIC ccm::flags ccm::sdk ccm::util)

ccm_install_archive(ccm_fake_host ccm-fake-host)
install(FILES tests/support/fake_host.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ccm COMPONENT sdk)
ccm_install_pc(ccm-fake-host)
