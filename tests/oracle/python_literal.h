// SPDX-License-Identifier: Apache-2.0
// Prints C++ values as Python literals that read back to the same value: this is how tests get the results of ROOT.
#pragma once
#include <array>
#include <bitset>
#include <cmath>
#include <cstdio>
#include <deque>
#include <list>
#include <map>
#include <ostream>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace literal {

template <class T>
std::enable_if_t<std::is_arithmetic_v<T>> put(std::ostream& out, T value) {
  if constexpr (std::is_same_v<T, bool>) {
    out << (value ? "True" : "False");
  } else if constexpr (std::is_floating_point_v<T>) {
    char text[40];
    if (std::isnan(value)) {
      std::snprintf(text, sizeof text, "nan");
    } else if (std::isinf(value)) {
      std::snprintf(text, sizeof text, value > 0 ? "inf" : "-inf");
    } else {
      std::snprintf(text, sizeof text, "%.17g", double(value));
      if (std::string(text).find_first_of(".e") == std::string::npos)
        out << text, std::snprintf(text, sizeof text, ".0");
    }
    out << text;
  } else {
    out << +value;
  }
}

inline void put_bytes(std::ostream& out, const char* data, std::size_t size) {
  out << "b'";
  for (std::size_t i = 0; i < size; i++) {
    char text[8];
    std::snprintf(text, sizeof text, "\\x%02x", static_cast<unsigned char>(data[i]));
    out << text;
  }
  out << "'";
}

inline void put(std::ostream& out, const std::string& value) { put_bytes(out, value.data(), value.size()); }

template <class A, class B>
void put(std::ostream& out, const std::pair<A, B>&);

template <class T, class = void>
struct IsMap : std::false_type {};
template <class T>
struct IsMap<T, std::void_t<typename T::mapped_type>> : std::true_type {};

template <class T>
std::enable_if_t<IsMap<T>::value> put(std::ostream&, const T&);

template <std::size_t N>
void put(std::ostream& out, const std::bitset<N>& bits) {
  out << "[";
  for (std::size_t i = 0; i < N; i++) out << (bits[i] ? "True," : "False,");
  out << "]";
}

// Any collection except maps. This is C++17, since dictionaries are compiled with it. std::string prefers the overload
// above.
template <class T>
std::enable_if_t<!IsMap<T>::value, std::void_t<typename T::value_type, typename T::const_iterator>> put(
    std::ostream& out, const T& values) {
  out << "[";
  for (auto iterator = values.begin(); iterator != values.end(); ++iterator) {
    put(out, static_cast<const typename T::value_type&>(*iterator));
    out << ",";
  }
  out << "]";
}

template <class A, class B>
void put(std::ostream& out, const std::pair<A, B>& value) {
  out << "{'first':";
  put(out, value.first);
  out << ",'second':";
  put(out, value.second);
  out << "}";
}

template <class T>
std::enable_if_t<IsMap<T>::value> put(std::ostream& out, const T& values) {
  out << "[";
  for (const auto& item : values) {
    out << "{'key':";
    put(out, item.first);
    out << ",'value':";
    put(out, item.second);
    out << "},";
  }
  out << "]";
}

template <class T>
void put_array(std::ostream& out, const T* values, std::size_t size) {
  out << "[";
  for (std::size_t i = 0; i < size; i++) put(out, values[i]), out << ",";
  out << "]";
}

}  // namespace literal
