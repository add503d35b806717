// SPDX-License-Identifier: Apache-2.0
#ifdef __CLING__
#pragma link C++ struct Part+;
#pragma link C++ class Thing+;
#pragma link C++ class std::vector<Part>+;
#endif
