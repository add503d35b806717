// SPDX-License-Identifier: Apache-2.0
#ifdef __CLING__
#pragma link C++ struct Matrix + ;
#pragma link C++ struct Row + ;
#pragma link C++ struct Letter + ;
#pragma link C++ struct Byte + ;
#pragma link C++ struct Steps + ;
#pragma link C++ struct Text + ;
#pragma link C++ struct Choice + ;
#pragma link C++ struct Entry + ;
#pragma link C++ struct Track + ;
#pragma link C++ class std::vector < Matrix> + ;
#pragma link C++ class std::vector < Row> + ;
#pragma link C++ class std::vector < Entry> + ;
#pragma link C++ class std::vector < Text> + ;
#pragma link C++ class std::vector < Track> + ;
#endif
