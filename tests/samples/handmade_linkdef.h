// SPDX-License-Identifier: Apache-2.0
#pragma link C++ class Packed-;
#pragma link C++ class Holder+;
#pragma link C++ class Plain+;
#pragma link C++ class Twice-;
#pragma link C++ class std::vector<Packed>+;
