// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tfile {

// A parsed C++ type. It can be written with std:: added where necessary, and shows the classes that it names.
struct CppType {
  std::string name;  // qualified, without arguments: "vector", "A::B", "unsigned int", "3"
  bool has_arguments = false;
  std::vector<CppType> arguments;
  std::vector<CppType> inner;  // a name inside a template: "A<int>::B" is A<int> with inner B
  std::string suffix;          // "*", "&", "[3]"
  bool is_const = false;

  // The name by which a class is known here: without pointers, references and const.
  std::string key() const;
  // As C++ code in which no other name can hide its names: "const ::std::vector<::A>*".
  std::string code() const;
  bool is_pointer() const { return suffix.find_first_of("*&") != suffix.npos; }
};

// Any text gives a type; nesting deeper than 32 is cut off.
CppType parse_cpp_type(std::string_view text);

bool is_fundamental(std::string_view name);  // also ROOT's typedefs, and numbers
bool is_of_std(std::string_view name);       // "vector", "std::string"
const char* std_include(std::string_view name);

// Whether ROOT itself declares the class, and in which header.
bool is_of_root(std::string_view name);
std::string root_include(std::string_view name);

}  // namespace tfile
