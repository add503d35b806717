// SPDX-License-Identifier: Apache-2.0
#ifdef __CLING__
#pragma link C++ enum Wind;
#pragma link C++ enum Size;
#pragma link C++ struct Empty + ;
#pragma link C++ struct Empties + ;
#pragma link C++ struct Point + ;
#pragma link C++ struct Base + ;
#pragma link C++ struct Middle + ;
#pragma link C++ struct Mixin + ;
#pragma link C++ struct Derived + ;
#pragma link C++ struct Box < std::int32_t> + ;
#pragma link C++ struct Box < std::string> + ;
#pragma link C++ struct Jet + ;
#pragma link C++ struct Event + ;
#pragma link C++ class Heir + ;
#pragma link C++ options = rntupleStreamerMode(true) struct Unsplit + ;
#pragma link C++ struct Bag < float> + ;
#pragma link C++ struct Bag < Point> + ;
#pragma link C++ class PointRecord + ;
#pragma link C++ options = rntupleSoARecord(PointRecord) class PointSoA + ;
#pragma link C++ class std::vector < Point> + ;
#pragma link C++ class std::vector < Jet> + ;
#pragma link C++ class std::set < std::int32_t> + ;
#pragma link C++ class std::multiset < std::string> + ;
#pragma link C++ class std::unordered_set < std::int32_t> + ;
#pragma link C++ class std::unordered_multiset < std::string> + ;
#pragma link C++ class std::map < std::string, float> + ;
#pragma link C++ class std::map < std::string, std::vector < Point>> + ;
#pragma link C++ class std::multimap < std::int16_t, std::string> + ;
#pragma link C++ class std::unordered_map < std::string, double> + ;
#pragma link C++ class std::unordered_multimap < std::int32_t, std::vector < float>> + ;
#endif
