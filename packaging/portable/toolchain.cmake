# SPDX-License-Identifier: Apache-2.0
# Compilers and libraries of the portable program: those of Debian 12, and what packaging/portable/libraries made.
# TFILEFS_MACHINE is x86_64 or aarch64, TFILEFS_LIBRARIES the directory of the libraries.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TFILEFS_MACHINE TFILEFS_LIBRARIES)
if(TFILEFS_MACHINE STREQUAL "x86_64")
  set(triple x86_64-linux-gnu)
  set(CMAKE_C_COMPILER gcc-12)
  set(CMAKE_CXX_COMPILER g++-12)
else()
  set(triple aarch64-linux-gnu)
  set(CMAKE_SYSTEM_NAME Linux)
  set(CMAKE_SYSTEM_PROCESSOR aarch64)
  set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc-12)
  set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++-12)
  # What is built here and run here: the maker of the manual, and tests.
  set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-aarch64-static;-L;/usr/aarch64-linux-gnu")
endif()

# Libraries of this machine are not taken, only headers that have none.
set(CMAKE_FIND_ROOT_PATH ${TFILEFS_LIBRARIES})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE BOTH)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE BOTH)
set(ENV{PKG_CONFIG_LIBDIR} ${TFILEFS_LIBRARIES}/usr/lib/${triple}/pkgconfig:${TFILEFS_LIBRARIES}/usr/lib/pkgconfig)
set(CMAKE_C_STANDARD_INCLUDE_DIRECTORIES ${TFILEFS_LIBRARIES}/usr/include ${TFILEFS_LIBRARIES}/usr/include/${triple})
set(CMAKE_CXX_STANDARD_INCLUDE_DIRECTORIES ${CMAKE_C_STANDARD_INCLUDE_DIRECTORIES})

# What the libraries need themselves: an archive is searched once, so these come last.
set(libraries "-L${TFILEFS_LIBRARIES}/usr/lib -L${TFILEFS_LIBRARIES}/usr/lib/${triple}")
if(TFILEFS_PORTABLE)
  string(APPEND libraries " -lnghttp2 -lssl -lcrypto -luuid -lzstd -lz")
endif()
set(CMAKE_CXX_STANDARD_LIBRARIES_INIT ${libraries})
