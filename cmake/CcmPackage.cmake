# `make deb`: one package with the daemon and its plugins, one with the SDK. Dependencies come from the binaries.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ccmd)
set(CPACK_PACKAGE_VENDOR "ccmd")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Cloud controller manager for Kubernetes on Alibaba Cloud")
set(CPACK_PACKAGE_CONTACT "${CCM_MAINTAINER}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL Unspecified sdk)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)

set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_NAME ccmd)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_UNSPECIFIED_DESCRIPTION
  "Turns Services of type LoadBalancer into Classic or Network Load Balancers, and\nnode pod CIDRs into VPC routes. Providers are plugins.")
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_RECOMMENDS ca-certificates)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_CONTROL_EXTRA
  ${CMAKE_SOURCE_DIR}/etc/debian/conffiles ${CMAKE_SOURCE_DIR}/etc/debian/prerm ${CMAKE_SOURCE_DIR}/etc/debian/postinst ${CMAKE_SOURCE_DIR}/etc/debian/postrm)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_SDK_PACKAGE_NAME ccmd-dev)
set(CPACK_DEBIAN_SDK_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_SDK_DESCRIPTION
  "Headers, libraries, CMake packages, pkg-config files and template to build a\nplugin of ccmd, among them the engine of its load balancer controllers.")
# What the headers and the .pc file of the load balancer engine ask for.
set(CPACK_DEBIAN_SDK_PACKAGE_DEPENDS "libcjson-dev, libssl-dev")
include(CPack)
