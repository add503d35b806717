// SPDX-License-Identifier: Apache-2.0
#ifdef __CLING__
#pragma link C++ class Quark + ;
#pragma link C++ class Linked + ;
#pragma link C++ class Odd + ;
#pragma link C++ class Even + ;
#endif
