# SPDX-License-Identifier: Apache-2.0
# Makes the program one that needs the C library alone, 2.34 or newer: packaging/make-portable configures such a build.

# What the client of XRootD looks up by name (xrootd_plugins.cpp), each with its version; and what it does so without.
set(xrootd_symbols XrdSecGetProtocol XrdSecgetService XrdSecProtObjectP XrdCryptosslFactoryObject)
foreach(way gsi sss unix ztn)
  list(APPEND xrootd_symbols XrdSecProtocol${way}Object)
  list(APPEND xrootd_functions XrdSecProtocol${way}Init)
endforeach()
foreach(symbol ${xrootd_symbols})
  list(APPEND xrootd_functions ${symbol} ${symbol}_)
endforeach()

set(directory ${PROJECT_SOURCE_DIR}/packaging/portable)
target_sources(tfilefs PRIVATE ${directory}/old_c_library.cpp)
target_link_libraries(tfilefs PRIVATE tfile_remote)
target_link_options(tfilefs PRIVATE -static-libstdc++ -static-libgcc LINKER:--wrap=hypot)
if(TFILEFS_XROOTD)
  target_sources(tfile_remote PRIVATE ${directory}/xrootd_plugins.cpp)
  # Whole, and before all else: what it makes before main() must be there when its headers ask for it in our files.
  target_link_options(tfile_remote INTERFACE LINKER:--whole-archive ${XROOTD_CLIENT} LINKER:--no-whole-archive)
  foreach(symbol ${xrootd_functions})
    target_link_options(tfile_remote INTERFACE LINKER:--require-defined=${symbol} LINKER:--export-dynamic-symbol=${symbol})
  endforeach()
endif()
