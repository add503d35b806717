// SPDX-License-Identifier: Apache-2.0
#ifdef __CLING__
#pragma link C++ struct Shift + ;
#pragma link C++ struct Watch + ;
#pragma link C++ struct Record + ;
#pragma link C++ class std::vector < TDatime> + ;
#pragma link C++ class std::vector < TTimeStamp> + ;
#pragma link C++ class std::vector < Shift> + ;
#endif
