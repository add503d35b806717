# SPDX-License-Identifier: Apache-2.0
# One package of a tree that was installed: packaging/make-packages runs cpack with this file. In its environment are TREE,
# NAME, VERSION, MACHINE, CHANGES, a file, and MADE_ON: the system whose libraries it needs, nothing for the portable program.
set(NAME "$ENV{NAME}")
set(VERSION "$ENV{VERSION}")
set(MADE_ON "$ENV{MADE_ON}")
if(NAME STREQUAL "tfilefs")
  set(summary "mount ROOT files as directories")
  set(description "A tree of a ROOT file becomes a directory of columns. Each column is a file of\nplain numbers, which any program can read. Neither ROOT nor any knowledge of it\nis needed.")
  set(CPACK_DEBIAN_PACKAGE_SECTION science)
  # Which C library an .rpm needs, rpm finds in the program.
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "fuse3, libc6 (>= 2.34)")
  set(CPACK_DEBIAN_PACKAGE_RECOMMENDS ca-certificates)
  if(MADE_ON)
    set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
    set(CPACK_DEBIAN_PACKAGE_DEPENDS fuse3)
    # Which `serve` loads.
    set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "ca-certificates, libmicrohttpd12")
  endif()
  set(CPACK_RPM_PACKAGE_REQUIRES fuse3)
  set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
  set(payload "\n%define _binary_payload w6.xzdio")
elseif(NAME STREQUAL "libtfile-dev")
  set(summary "library that reads and writes ROOT files")
  set(description "The static library and the headers of tfile, which tfilefs is made of. It reads\nand writes the bytes of ROOT files without ROOT. Experimental until 1.0.")
  set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
  set(CPACK_DEBIAN_PACKAGE_DEPENDS
      "libdeflate-dev, libisal-dev, zlib1g-dev, liblzma-dev, liblz4-dev, libzstd-dev, libxxhash-dev, libexpected-dev")
else()
  # Large, and for few: it is to be made quickly.
  set(CPACK_DEBIAN_COMPRESSION_TYPE gzip)
  set(payload "\n%define _binary_payload w1.gzdio")
  set(summary "debug symbols for tfilefs")
  set(description "With them gdb names the functions and lines of tfilefs.")
  set(CPACK_DEBIAN_PACKAGE_SECTION debug)
  set(CPACK_DEBIAN_PACKAGE_DEPENDS "tfilefs (= ${VERSION})")
  set(CPACK_RPM_PACKAGE_REQUIRES "tfilefs = ${VERSION}")
endif()
if(MADE_ON)
  string(APPEND description "\nBuilt on ${MADE_ON}, and for it alone.")
endif()

set(CPACK_CMAKE_GENERATOR Ninja)
set(CPACK_INSTALL_CMAKE_PROJECTS "")
set(CPACK_INSTALLED_DIRECTORIES "$ENV{TREE};/")
set(CPACK_TOPLEVEL_TAG packages)
set(CPACK_PACKAGING_INSTALL_PREFIX "/")
set(CPACK_SET_DESTDIR OFF)
set(CPACK_PACKAGE_NAME ${NAME})
set(CPACK_PACKAGE_VERSION ${VERSION})
set(CPACK_PACKAGE_FILE_NAME ${NAME}-${VERSION})
set(CPACK_PACKAGE_VENDOR "tfilefs")
set(CPACK_PACKAGE_CONTACT "The authors of tfilefs <tfilefs@tfilefs.invalid>")
set(CPACK_PACKAGE_HOMEPAGE_URL "https://tfilefs.invalid")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${summary})
set(CPACK_PACKAGE_DESCRIPTION ${description})
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "${description}")
if("$ENV{MACHINE}" STREQUAL "aarch64")
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
endif()
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_ARCHITECTURE "$ENV{MACHINE}")
set(CPACK_RPM_CHANGELOG_FILE "$ENV{CHANGES}")
set(CPACK_RPM_PACKAGE_GROUP "Productivity/Scientific/Physics")
# Of the program, and of all that is in it: share/doc/tfilefs/licenses.
set(CPACK_RPM_PACKAGE_LICENSE
    "Apache-2.0 AND BSD-2-Clause AND BSD-3-Clause AND BSL-1.0 AND CC0-1.0 AND curl AND LGPL-2.1-only AND LGPL-2.1-or-later AND LGPL-3.0-or-later AND MIT AND Zlib")
string(SUBSTRING ${summary} 0 1 first)
string(TOUPPER ${first} first)
string(REGEX REPLACE "^." ${first} first ${summary})
set(CPACK_RPM_PACKAGE_SUMMARY ${first})
set(CPACK_RPM_PACKAGE_DESCRIPTION ${description})
# The tree has compressed and stripped what is to be. The name of this machine and the time do not go into the package.
set(CPACK_RPM_SPEC_MORE_DEFINE "%define __os_install_post %{nil}
%define debug_package %{nil}
%define _build_id_links none
%define _buildhost localhost
%define packager ${CPACK_PACKAGE_CONTACT}
%define use_source_date_epoch_as_buildtime 1
%define clamp_mtime_to_source_date_epoch 1${payload}")
# Directories that belong to other packages.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION
    /usr/bin /usr/sbin /usr/lib /usr/lib/cmake /usr/lib/debug /usr/lib/pkgconfig /usr/lib/systemd /usr/lib/systemd/user
    /usr/libexec /usr/include /usr/share /usr/share/applications /usr/share/bash-completion
    /usr/share/bash-completion/completions /usr/share/doc /usr/share/fish /usr/share/fish/vendor_completions.d
    /usr/share/man /usr/share/man/man1 /usr/share/man/man5 /usr/share/man/man8 /usr/share/mime /usr/share/mime/packages
    /usr/share/zsh /usr/share/zsh/site-functions)
