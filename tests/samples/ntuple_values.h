// SPDX-License-Identifier: Apache-2.0
// fill(dice, value) sets a random value of any type in these samples. put(out, value) prints it as JSON in the form of
// an RNTuple: a class is an object of its sub-fields (a base is named ":_0"); pairs, tuples and items of maps have
// "_0", "_1". NaN and infinities are "nan", "inf", "-inf". Enums and bytes are numbers. An empty optional or variant is
// null; a variant is {"alternative": from 1, "value"}.
#pragma once
#include <ROOT/RNTupleTypes.hxx>
#include <ROOT/RVec.hxx>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <ostream>
#include <random>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "ntuple.h"

using Dice = std::mt19937_64;

inline int few(Dice& dice) { return dice() % 40 == 0 ? 20 : int(dice() % 4); }

// Double32_t is double in C++, but float in the file.
struct Narrow {
  double& value;
};

template <class V>
void members(Empty&, V) {}
template <class V>
void members(Empties& of, V visit) {
  visit("first", of.first), visit("second", of.second);
}
template <class V>
void members(Point& of, V visit) {
  visit("x", of.x), visit("n", of.n);
}
template <class V>
void members(PointRecord& of, V visit) {
  visit("x", of.x), visit("n", of.n);
}
template <class V>
void members(Base& of, V visit) {
  visit("id", of.id), visit("codes", of.codes);
}
template <class V>
void members(Middle& of, V visit) {
  visit(":_0", static_cast<Base&>(of)), visit("weight", of.weight);
}
template <class V>
void members(Mixin& of, V visit) {
  visit("note", of.note);
}
template <class V>
void members(Derived& of, V visit) {
  visit(":_0", static_cast<Middle&>(of)), visit(":_1", static_cast<Mixin&>(of)), visit("point", of.point);
}
template <class T, class V>
void members(Box<T>& of, V visit) {
  visit("inside", of.inside), visit("more", of.more);
}
template <class V>
void members(Jet& of, V visit) {
  visit("pt", of.pt), visit("name", of.name), visit("hits", of.hits), visit("axis", of.axis);
}
template <class V>
void members(Event& of, V visit) {
  visit("flag", of.flag), visit("letter", of.letter), visit("byte", of.byte), visit("wind", of.wind);
  visit("size", of.size), visit("counter", of.counter), visit("bits", of.bits), visit("narrow", Narrow{of.narrow});
  visit("perhaps", of.perhaps), visit("jet", of.jet), visit("matrix", of.matrix), visit("names", of.names);
  visit("points", of.points), visit("groups", of.groups), visit("index", of.index), visit("either", of.either);
  visit("pair", of.pair), visit("nothing", of.nothing);
}
template <class V>
void members(Heir& of, V visit) {
  visit(":_0", static_cast<TObject&>(of)), visit("n", of.n), visit("text", of.text);
}
template <class V>
void members(Unsplit& of, V visit) {
  visit("n", of.n), visit("numbers", of.numbers), visit("text", of.text);
}

template <class T>
concept Described = requires(T& value) {
  members(value, [](const char*, auto&&) {});
};
template <class T>
concept Enum = std::is_enum_v<T> && !std::is_same_v<T, std::byte>;
template <class T>
concept Map = requires {
  typename T::mapped_type;
};
template <class T>
concept Container = requires(T& value) {
  value.begin(), value.insert(value.end(), *value.begin());
}
&&!Map<T>;
template <class T>
concept Holder = requires(T& value) {
  value.reset(), static_cast<bool>(value), *value;
};

// Several of these call each other through types of std::, for which argument-dependent lookup does not come here.
template <class T>
struct Value;
template <class T>
void fill(Dice& dice, T&& value) {
  Value<std::remove_cvref_t<T>>::fill(dice, value);
}
template <class T>
void put(std::ostream& out, const T& value) {
  Value<T>::put(out, value);
}

template <class C>
void put_items(std::ostream& out, const C& values) {
  const char* comma = "";
  out << "[";
  for (auto item = std::begin(values); item != std::end(values); ++item) {
    using Item = typename std::iterator_traits<decltype(item)>::value_type;  // of vector<bool>: bool
    out << comma, put<Item>(out, *item);
    comma = ", ";
  }
  out << "]";
}

// `visit_all(visit)` calls visit(name, value) for each member.
template <class All>
void put_members(std::ostream& out, All visit_all) {
  const char* comma = "";
  out << "{";
  visit_all([&](const std::string& name, const auto& value) {
    out << comma << '"' << name << "\": ";
    put(out, value);
    comma = ", ";
  });
  out << "}";
}

template <std::integral T>
struct Value<T> {
  static void fill(Dice& dice, T& value) {
    using Limits = std::numeric_limits<T>;
    const auto kind = dice() % 8;
    value = kind == 0 ? Limits::min() : kind == 1 ? Limits::max() : kind < 6 ? T(dice() % 100) : T(dice());
  }
  static void put(std::ostream& out, T value) { out << +value; }
};

template <>
struct Value<bool> {
  static void fill(Dice& dice, bool& value) { value = dice() % 2; }
  static void put(std::ostream& out, bool value) { out << (value ? "true" : "false"); }
};

template <>
struct Value<std::byte> {
  static void fill(Dice& dice, std::byte& value) { value = std::byte(dice() % 256); }
  static void put(std::ostream& out, std::byte value) { out << int(value); }
};

template <std::floating_point T>
struct Value<T> {
  static void fill(Dice& dice, T& value) {
    using Limits = std::numeric_limits<T>;
    const T special[] = {0,
                         T(-0.0),
                         Limits::infinity(),
                         -Limits::infinity(),
                         Limits::quiet_NaN(),
                         Limits::max(),
                         Limits::lowest(),
                         Limits::min(),
                         Limits::denorm_min()};
    const auto kind = dice() % 36;
    value = kind < std::size(special) ? special[kind] : (T(dice() % 2000001) - 1000000) / T(kind < 20 ? 64 : 777);
  }
  static void put(std::ostream& out, T value) {
    char text[40];
    if (std::isfinite(value)) {
      std::snprintf(text, sizeof text, "%.17g", double(value));
      const bool whole = std::string_view(text).find_first_of(".e") == std::string_view::npos;
      out << text << (whole ? ".0" : "");
    } else {
      out << (std::isnan(value) ? "\"nan\"" : value > 0 ? "\"inf\"" : "\"-inf\"");
    }
  }
};

template <>
struct Value<Narrow> {
  static void fill(Dice& dice, Narrow value) {
    float narrow;
    ::fill(dice, narrow);
    value.value = double(narrow);
  }
  static void put(std::ostream& out, Narrow value) { ::put(out, value.value); }
};

template <Enum T>
struct Value<T> {
  static void fill(Dice& dice, T& value) {
    const auto few = dice() % 3;
    if constexpr (std::is_same_v<T, Wind>)
      value = few == 0 ? kWest : few == 1 ? kNorth : kEast;
    else
      value = few == 0 ? Size::kSmall : Size::kLarge;
  }
  static void put(std::ostream& out, T value) { ::put(out, std::underlying_type_t<T>(value)); }
};

template <class T>
struct Value<std::atomic<T>> {
  static void fill(Dice& dice, std::atomic<T>& value) {
    T plain;
    ::fill(dice, plain);
    value = plain;
  }
  static void put(std::ostream& out, const std::atomic<T>& value) { ::put(out, value.load()); }
};

template <class T>
struct Value<ROOT::RNTupleCardinality<T>> {
  static void put(std::ostream& out, const ROOT::RNTupleCardinality<T>& value) { out << T(value); }
};

template <>
struct Value<std::string> {
  static void fill(Dice& dice, std::string& value) {
    static const char* const parts[] = {"a", "Zeta", "\"quoted\\\"", "\n\t", "\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e",
                                        " "};
    value.clear();
    for (int i = few(dice); i > 0; i--) value += parts[dice() % std::size(parts)];
    if (dice() % 30 == 0) value += '\0';
    if (dice() % 50 == 0) value += std::string(300, 'l');
  }
  static void put(std::ostream& out, const std::string& value) {
    out << '"';
    for (const char c : value) {
      char text[8];
      std::snprintf(text, sizeof text, "\\u%04x", static_cast<unsigned char>(c));
      const bool escaped = static_cast<unsigned char>(c) < 32 || c == '"' || c == '\\';
      escaped ? out << text : out << c;
    }
    out << '"';
  }
};

template <std::size_t N>
struct Value<std::bitset<N>> {
  static void fill(Dice& dice, std::bitset<N>& value) {
    for (std::size_t i = 0; i < N; i++) value[i] = dice() % 3 == 0;
  }
  static void put(std::ostream& out, const std::bitset<N>& value) {
    std::vector<bool> bits;
    for (std::size_t i = 0; i < N; i++) bits.push_back(value[i]);
    put_items(out, bits);
  }
};

template <Container T>
struct Value<T> {
  // A new collection: previous content of a hashed one would change the order of its items.
  static void fill(Dice& dice, T& values) {
    values = T{};
    for (int i = few(dice); i > 0; i--) {
      typename T::value_type item{};
      ::fill(dice, item);
      values.insert(values.end(), std::move(item));
    }
  }
  static void put(std::ostream& out, const T& values) { put_items(out, values); }
};

template <Map T>
struct Value<T> {
  static void fill(Dice& dice, T& values) {
    values = T{};
    for (int i = few(dice); i > 0; i--) {
      std::pair<typename T::key_type, typename T::mapped_type> item{};
      ::fill(dice, item);
      values.insert(std::move(item));
    }
  }
  static void put(std::ostream& out, const T& values) { put_items(out, values); }
};

template <class T>
struct Value<Bag<T>> {
  static void fill(Dice& dice, Bag<T>& bag) { ::fill(dice, bag.items); }
  static void put(std::ostream& out, const Bag<T>& bag) { ::put(out, bag.items); }
};

template <class T, std::size_t N>
struct Value<std::array<T, N>> {
  static void fill(Dice& dice, std::array<T, N>& values) {
    for (T& value : values) ::fill(dice, value);
  }
  static void put(std::ostream& out, const std::array<T, N>& values) { put_items(out, values); }
};

template <class T, std::size_t N>
struct Value<T[N]> {
  static void fill(Dice& dice, T (&values)[N]) {
    for (T& value : values) ::fill(dice, value);
  }
  static void put(std::ostream& out, const T (&values)[N]) {
    out << "[";
    for (std::size_t i = 0; i < N; i++) out << (i > 0 ? ", " : ""), ::put(out, values[i]);
    out << "]";
  }
};

template <Holder T>
struct Value<T> {
  static void fill(Dice& dice, T& value) {
    using Item = std::remove_cvref_t<decltype(*value)>;
    value.reset();
    if (dice() % 3 == 0) return;
    if constexpr (std::is_same_v<T, std::unique_ptr<Item>>)
      value = std::make_unique<Item>();
    else
      value.emplace();
    ::fill(dice, *value);
  }
  static void put(std::ostream& out, const T& value) { value ? ::put(out, *value) : void(out << "null"); }
};

template <class... T>
struct Value<std::variant<T...>> {
  struct Refuse {
    operator Jet() const { throw 0; }
  };
  static void fill(Dice& dice, std::variant<T...>& value) {
    // An exception while a value is made may leave the variant without one; that never happens for types that the
    // library moves in.
    if constexpr ((std::is_same_v<T, Jet> || ...)) {
      if (dice() % 10 == 0) {
        value.template emplace<0>();
        try {
          value.template emplace<Jet>(Refuse());
        } catch (int) {
        }
        return;
      }
    }
    fill_one(dice, value, dice() % sizeof...(T), std::index_sequence_for<T...>());
  }
  // By number, since several may have the same type.
  template <std::size_t... I>
  static void fill_one(Dice& dice, std::variant<T...>& value, std::size_t chosen, std::index_sequence<I...>) {
    ((I == chosen ? ::fill(dice, value.template emplace<I>()) : void()), ...);
  }
  static void put(std::ostream& out, const std::variant<T...>& value) {
    // A variant without a value reads as in ROOT, even for types for which the library assumes one.
    if (value.index() >= sizeof...(T)) {
      out << "null";
      return;
    }
    out << "{\"alternative\": " << value.index() + 1 << ", \"value\": ";
    std::visit([&](const auto& held) { ::put(out, held); }, value);
    out << "}";
  }
};

template <class T>
concept Tuple = requires {
  std::tuple_size<T>::value;
}
&&!requires(T & value) { value.begin(); };

template <Tuple T>
struct Value<T> {
  static void fill(Dice& dice, T& value) {
    std::apply([&](auto&... item) { (::fill(dice, const_cast<std::remove_cvref_t<decltype(item)>&>(item)), ...); },
               value);
  }
  static void put(std::ostream& out, const T& value) {
    put_members(out, [&](auto visit) {
      int n = 0;
      std::apply([&](const auto&... item) { (visit("_" + std::to_string(n++), item), ...); }, value);
    });
  }
};

template <>
struct Value<TObject> {
  static constexpr unsigned kUnsaved = TObject::kIsOnHeap | TObject::kNotDeleted;  // ROOT clears these in the file
  static void fill(Dice& dice, TObject& value) {
    value.SetUniqueID(unsigned(dice() % 100000));
    value.SetBit(BIT(14), dice() % 2);
    value.SetBit(BIT(23), dice() % 2);
  }
  static void put(std::ostream& out, const TObject& value) {
    out << "{\"fUniqueID\": " << value.GetUniqueID() << ", \"fBits\": " << (value.TestBits(~0u) & ~kUnsaved) << "}";
  }
};

template <Described T>
struct Value<T> {
  static void fill(Dice& dice, T& value) {
    members(value, [&](const char*, auto&& member) { ::fill(dice, member); });
  }
  static void put(std::ostream& out, const T& value) {
    put_members(out, [&](auto visit) { members(const_cast<T&>(value), visit); });
  }
};

template <>
struct Value<PointSoA> {
  static void fill(Dice& dice, PointSoA& soa) {
    std::vector<PointRecord> records;
    ::fill(dice, records);
    soa.x.clear(), soa.n.clear();
    for (const PointRecord& record : records) soa.x.push_back(record.x), soa.n.push_back(record.n);
  }
  static void put(std::ostream& out, const PointSoA& soa) {
    std::vector<PointRecord> records(soa.x.size());
    for (std::size_t i = 0; i < records.size(); i++) records[i].x = soa.x[i], records[i].n = soa.n[i];
    ::put(out, records);
  }
};
