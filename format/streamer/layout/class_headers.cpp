// SPDX-License-Identifier: Apache-2.0
#include "streamer/layout/class_headers.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "streamer/info/cpp_type.h"
#include "streamer/info/element_form.h"
#include "streamer/layout/class_layout.h"

namespace tfile {
namespace {

using namespace element_type;

// Limits for the number of classes, and of members of one class: a file must not claim more text than can be compiled.
constexpr std::size_t kClassesMax = 20'000, kMembersMax = 10'000;
constexpr int kDepthMax = 40;  // of bases, and of classes in classes

bool is_identifier(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && is_letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

std::string as_identifier(std::string_view name) {
  static const std::set<std::string_view> kKeywords = {
      "class", "struct", "new",   "delete",   "this",     "default",  "int",      "float", "double", "char",
      "bool",  "long",   "short", "operator", "private",  "public",   "union",    "enum",  "for",    "and",
      "or",    "not",    "xor",   "signed",   "unsigned", "template", "register", "auto",  "const"};
  std::string out;
  for (const char c : name) out += is_identifier(std::string("_") + c) ? c : '_';
  if (out.empty() || (out[0] >= '0' && out[0] <= '9')) out.insert(0, 1, '_');
  if (kKeywords.count(out)) out += '_';
  return out;
}

// In one line, and without a '\' at the end that would continue it.
std::string as_comment(std::string_view text) {
  std::string out;
  for (const char c : text) out += static_cast<unsigned char>(c) < ' ' || c == 127 ? ' ' : c;
  while (!out.empty() && out.back() == '\\') out.pop_back();
  return out;
}

// "A::B<int>::C" as its parts: A, B<int>, C.
std::vector<CppType> parts_of(const CppType& type) {
  std::vector<CppType> parts;
  std::string_view rest = type.name;
  for (auto at = rest.find("::"); at != rest.npos; at = rest.find("::")) {
    parts.emplace_back().name = rest.substr(0, at);
    rest.remove_prefix(at + 2);
  }
  CppType last;
  last.name = rest;
  last.has_arguments = type.has_arguments;
  last.arguments = type.arguments;
  parts.push_back(std::move(last));
  for (const CppType& within : type.inner) {
    for (CppType& part : parts_of(within)) parts.push_back(std::move(part));
  }
  return parts;
}

struct Class {
  std::vector<CppType> parts;  // the scopes around it, and its own name
  const StreamerInfo* info = nullptr;
  bool is_defined = false;  // else only its name is needed
  std::string outer;        // the class around it
  std::vector<std::string> nested;
  std::set<std::string> complete, named, includes;  // classes, and headers of others
  const CppType& own() const { return parts.back(); }
};

class Writer {
 public:
  explicit Writer(const StreamerInfos& infos);
  std::vector<ClassHeader> headers();

 private:
  static bool is_foreign(const CppType& type);

  // False for "(anonymous)" and the like.
  static bool is_writable(const CppType& type);
  static bool is_writable_or_foreign(const CppType& type);
  Class& add(const CppType& type, const StreamerInfo* info);

  // Parameters of a template are types, or values if an instance has a number in their place.
  void note_template(const std::vector<CppType>& parts);
  static bool is_number(std::string_view name) { return (name[0] >= '0' && name[0] <= '9') || name[0] == '-'; }
  static std::string template_key(const std::vector<CppType>& parts);

  // Notes what the class `user` needs in order to name the type.
  void mention(Class& user, const CppType& type, bool complete, int depth = 0);
  void look_at_members(Class& one);
  // Whether the type is a template of a class inside this one, which cannot be declared before this one.
  static bool reaches_inside(const Class& one, const CppType& type, int depth);
  static bool is_base(const StreamerElement& e) { return e.kind == ElementKind::base; }
  static bool is_number_member(const StreamerElement& e);
  // Enumerations are stored as numbers, and the file does not have the names of their values.
  static std::string number_type(const StreamerElement& e);

  // Whether the class derives from TObject.
  bool is_object(const Class& one, int depth) const;

  // Finds the classes inside other classes: their scope is itself a class, or an instance of a template.
  void nest();
  static CppType joined(const CppType& scope, const CppType& part);
  const std::string& outermost(const std::string& key) const;

  struct Needs {
    std::set<std::string> complete, named, includes;
  };
  // Collects the needs of a class and of all classes inside it.
  void collect(const std::string& key, Needs& needs, int depth) const;
  std::string header(const std::string& key) const;

  // The declarations and includes before the class.
  std::string declarations(const std::string& key, const Needs& needs) const;

  // Whether the class is a template instance with an argument that is declared only inside another class.
  bool has_nested_argument(const std::string& key) const;
  std::pair<std::string, std::string> namespaces(const Class& one) const;

  // Declares the class, after the classes that its template arguments name.
  void declare(const std::string& key, std::set<std::string>& declared, std::string& to, int depth) const;
  std::string declaration(const Class& one, bool is_outermost) const;
  static std::string local_name(const Class& one);
  void define(const std::string& key, std::string& to, const std::string& indent, int depth) const;

  // Defines nested classes in the order in which they need each other.
  void define_nested(const Class& one, std::string& to, const std::string& indent, int depth) const;
  std::string bases(const Class& one) const;
  void members(const Class& one, std::string& to, const std::string& indent) const;

  std::map<std::string, Class> classes_;          // by key
  std::map<std::string, std::string> templates_;  // their parameters, by scopes and name
  std::map<std::string, std::string> stems_;      // of files, by key
};

Writer::Writer(const StreamerInfos& infos) {
  std::map<std::string, const StreamerInfo*> newest;
  for (const auto& info : infos.from_file()) {
    const StreamerInfo*& known = newest[parse_cpp_type(info->class_name).key()];
    if (!known || known->version < info->version) known = info.get();
  }
  for (const auto& [key, info] : newest) {
    const CppType type = parse_cpp_type(info->class_name);
    if (!is_foreign(type) && is_writable(type) && classes_.size() < kClassesMax) add(type, info);
  }
  for (const auto& [key, info] : newest) {
    if (const auto found = classes_.find(key); found != classes_.end() && found->second.info == info)
      look_at_members(found->second);
  }
  nest();
}

std::vector<ClassHeader> Writer::headers() {
  std::set<std::string> taken;
  for (const auto& [key, one] : classes_) {
    if (!one.is_defined) continue;
    std::string stem = as_identifier(key), name = stem;
    for (int n = 2; !taken.insert(name).second; ++n) name = stem + "_" + std::to_string(n);
    stems_[key] = name;
  }
  std::vector<ClassHeader> made;
  for (const auto& [key, name] : stems_) made.push_back({name + ".h", header(key)});
  std::sort(made.begin(), made.end(),
            [](const ClassHeader& a, const ClassHeader& b) { return a.file_name < b.file_name; });
  return made;
}

bool Writer::is_foreign(const CppType& type) {
  return is_fundamental(type.name) || is_of_std(type.name) || is_of_root(type.name);
}

bool Writer::is_writable(const CppType& type) {
  for (const CppType& part : parts_of(type)) {
    if (!is_foreign(part) && !is_identifier(part.name)) return false;
    for (const CppType& argument : part.arguments) {
      if (!is_foreign(argument) && !is_writable(argument)) return false;
      if (is_foreign(argument) &&
          !std::all_of(argument.arguments.begin(), argument.arguments.end(), is_writable_or_foreign))
        return false;
    }
  }
  return true;
}

bool Writer::is_writable_or_foreign(const CppType& type) {
  if (!is_foreign(type)) return is_writable(type);
  return std::all_of(type.arguments.begin(), type.arguments.end(), is_writable_or_foreign);
}

Class& Writer::add(const CppType& type, const StreamerInfo* info) {
  Class& one = classes_[type.key()];
  if (one.parts.empty()) {
    one.parts = parts_of(type);
    for (const CppType& part : one.parts) {
      for (const CppType& argument : part.arguments) mention(one, argument, false);
    }
    note_template(one.parts);
  }
  if (info) one.info = info;
  one.is_defined |= info != nullptr;
  return one;
}

void Writer::note_template(const std::vector<CppType>& parts) {
  if (!parts.back().has_arguments) return;
  std::string parameters;
  bool has_value = false;
  for (const CppType& argument : parts.back().arguments) {
    const bool is_value =
        !argument.name.empty() && (is_number(argument.name) || argument.name == "true" || argument.name == "false");
    has_value |= is_value;
    parameters += (parameters.empty() ? "" : ", ") + std::string(is_value ? "auto" : "typename");
  }
  templates_.emplace(template_key(parts), has_value ? parameters : "typename...");
}

std::string Writer::template_key(const std::vector<CppType>& parts) {
  std::string key;
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) key += parts[i].key() + "::";
  return key + parts.back().name;
}

void Writer::mention(Class& user, const CppType& type, bool complete, int depth) {
  if (depth > kDepthMax) return;
  complete = complete && !type.is_pointer();
  if (is_fundamental(type.name)) {
    if (type.name.ends_with("_t"))
      user.includes.insert(type.name[0] >= 'A' && type.name[0] <= 'Z' ? "\"Rtypes.h\"" : "<cstdint>");
    if (type.name == "size_t") user.includes.insert("<cstddef>");
    return;
  }
  if (const char* header = std_include(type.name)) {
    user.includes.insert("<" + std::string(header) + ">");
    for (const CppType& argument : type.arguments) mention(user, argument, true, depth + 1);
  } else if (is_of_root(type.name)) {
    user.includes.insert("\"" + root_include(type.name) + "\"");
    for (const CppType& argument : type.arguments) mention(user, argument, false, depth + 1);
  } else if (is_writable(type) && classes_.size() < kClassesMax) {
    Class& used = add(type, nullptr);
    used.is_defined |= complete;
    (complete ? user.complete : user.named).insert(type.key());
    user.includes.insert(used.includes.begin(), used.includes.end());
  }
}

void Writer::look_at_members(Class& one) {
  for (const StreamerElement& e : one.info->elements) {
    if (reaches_inside(one, parse_cpp_type(e.type_name), 0)) continue;
    if (is_base(e)) {
      mention(one, parse_cpp_type(e.name), true);
    } else if (!is_number_member(e)) {
      mention(one, parse_cpp_type(e.type_name), true);
    } else {
      mention(one, parse_cpp_type(number_type(e)), true);
    }
  }
  if (is_object(one, 0)) one.includes.insert("\"TObject.h\"");
}

bool Writer::reaches_inside(const Class& one, const CppType& type, int depth) {
  std::string key;
  for (const CppType& part : one.parts) key += part.key() + "::";
  return depth < kDepthMax && std::any_of(type.arguments.begin(), type.arguments.end(), [&](const CppType& argument) {
           return (!is_of_std(type.name) && argument.key().starts_with(key)) ||
                  reaches_inside(one, argument, depth + 1);
         });
}

bool Writer::is_number_member(const StreamerElement& e) {
  return e.kind == ElementKind::basic || e.kind == ElementKind::basic_pointer;
}

std::string Writer::number_type(const StreamerElement& e) {
  const CppType type = parse_cpp_type(e.type_name);
  return is_fundamental(type.name) && !type.name.empty() ? e.type_name : "int" + type.suffix;
}

bool Writer::is_object(const Class& one, int depth) const {
  if (!one.info || depth > kDepthMax) return false;
  return std::any_of(one.info->elements.begin(), one.info->elements.end(), [&](const StreamerElement& e) {
    if (!is_base(e)) return false;
    if (is_of_root(e.name))
      return e.name.rfind("TAtt", 0) != 0 && e.name.rfind("TArray", 0) != 0 && e.name != "TString";
    const auto base = classes_.find(parse_cpp_type(e.name).key());
    return base != classes_.end() && is_object(base->second, depth + 1);
  });
}

void Writer::nest() {
  std::vector<std::string> keys;
  for (const auto& [key, one] : classes_) keys.push_back(key);
  for (std::size_t i = 0; i < keys.size() && classes_.size() < kClassesMax; ++i) {
    const std::vector<CppType> parts = classes_[keys[i]].parts;
    for (std::size_t n = parts.size() - 1; n > 0; --n) {
      CppType scope;
      for (std::size_t k = 0; k < n; ++k) scope = joined(scope, parts[k]);
      const std::string key = scope.key();
      if (!classes_.count(key) && !parts[n - 1].has_arguments) continue;
      if (!classes_.count(key)) keys.push_back(key);
      Class& outer = add(scope, nullptr);
      outer.is_defined = true;
      outer.nested.push_back(keys[i]);
      classes_[keys[i]].outer = key;
      break;
    }
  }
}

CppType Writer::joined(const CppType& scope, const CppType& part) {
  return scope.name.empty() ? part : parse_cpp_type(scope.key() + "::" + part.key());
}

const std::string& Writer::outermost(const std::string& key) const {
  const std::string* at = &key;
  for (int depth = 0; depth < kDepthMax && !classes_.at(*at).outer.empty(); ++depth) at = &classes_.at(*at).outer;
  return *at;
}

void Writer::collect(const std::string& key, Needs& needs, int depth) const {
  const Class& one = classes_.at(key);
  needs.complete.insert(one.complete.begin(), one.complete.end());
  needs.named.insert(one.named.begin(), one.named.end());
  needs.includes.insert(one.includes.begin(), one.includes.end());
  for (const std::string& nested : one.nested) {
    if (depth < kDepthMax) collect(nested, needs, depth + 1);
  }
}

std::string Writer::header(const std::string& key) const {
  const std::string guard = stems_.at(key) + "_h";
  std::string text =
      "// " + as_comment(key) + ", as its file describes it.\n#ifndef " + guard + "\n#define " + guard + "\n\n";
  const std::string& top = outermost(key);
  if (top != key) {
    text += "#include \"" + stems_.at(top) + ".h\"  // which declares it\n";
  } else {
    Needs needs;
    collect(key, needs, 0);
    for (const std::string& include : needs.includes) text += "#include " + include + "\n";
    text += declarations(key, needs);
    const auto [open, close] = namespaces(classes_.at(key));
    text += open;
    define(key, text, "", 0);
    text += close;
  }
  return text + "\n#endif\n";
}

std::string Writer::declarations(const std::string& key, const Needs& needs) const {
  std::set<std::string> declared;
  std::string before, includes, own;
  for (const auto* names : {&needs.named, &needs.complete}) {
    for (const std::string& name : *names) {
      const std::string& around = outermost(name);
      if (around == key) continue;
      const bool is_late = has_nested_argument(around);
      if (!is_late) declare(around, declared, before, 0);
      if (names != &needs.complete && around == name && !is_late) continue;
      const auto stem = stems_.find(around);
      if (stem == stems_.end()) continue;
      const std::string line = "#include \"" + stem->second + ".h\"\n";
      if (includes.find(line) == includes.npos) includes += line;
    }
  }
  declare(key, declared, has_nested_argument(key) ? own : before, 0);
  return "\n" + before + "\n" + includes + (includes.empty() ? "" : "\n") + own;
}

bool Writer::has_nested_argument(const std::string& key) const {
  const Class& one = classes_.at(key);
  return one.own().has_arguments && std::any_of(one.named.begin(), one.named.end(), [&](const std::string& argument) {
           return outermost(argument) != argument && outermost(argument) != key;
         });
}

std::pair<std::string, std::string> Writer::namespaces(const Class& one) const {
  std::string open, close;
  for (std::size_t i = 0; i + 1 < one.parts.size(); ++i) {
    open += "namespace " + one.parts[i].name + " {\n";
    close += "}\n";
  }
  return {open, close};
}

void Writer::declare(const std::string& key, std::set<std::string>& declared, std::string& to, int depth) const {
  if (depth > kDepthMax || !declared.insert(key).second) return;
  const Class& one = classes_.at(key);
  for (const std::string& argument : one.named) {
    if (one.own().has_arguments && outermost(argument) != key) declare(outermost(argument), declared, to, depth + 1);
  }
  const auto [open, close] = namespaces(one);
  to += open + declaration(one, true) + close;
}

std::string Writer::declaration(const Class& one, bool is_outermost) const {
  if (!one.own().has_arguments) return "class " + one.own().name + ";\n";
  std::string text = "template <" + templates_.at(template_key(one.parts)) + "> class " + one.own().name;
  // Inside a class, an instance of a template cannot be declared. It is then an empty class: only its name is known.
  return is_outermost ? text + ";\ntemplate <> class " + local_name(one) + ";\n" : text + " {};\n";
}

std::string Writer::local_name(const Class& one) {
  std::string name = one.own().name;
  if (!one.own().has_arguments) return name;
  name += '<';
  for (std::size_t i = 0; i < one.own().arguments.size(); ++i) name += (i ? ", " : "") + one.own().arguments[i].code();
  return name + '>';
}

void Writer::define(const std::string& key, std::string& to, const std::string& indent, int depth) const {
  const Class& one = classes_.at(key);
  const std::string inside = indent + "  ";
  to += indent + (one.own().has_arguments ? "template <> " : "") + "class " + local_name(one) + bases(one) + " {\n" +
        indent + " public:\n";
  define_nested(one, to, inside, depth);
  if (one.info) {
    members(one, to, inside);
    if (is_object(one, 0))
      to += inside + "ClassDefInline(" + one.own().name + ", " + std::to_string(std::max(one.info->version, 0)) + ")\n";
  } else {
    to += inside + "// The file does not describe it.\n";
  }
  to += indent + "};\n";
}

void Writer::define_nested(const Class& one, std::string& to, const std::string& indent, int depth) const {
  std::set<std::string> done;
  std::set<std::string> declared;
  for (const std::string& nested : one.nested) {
    if (declared.insert(template_key(classes_.at(nested).parts)).second)
      to += indent + declaration(classes_.at(nested), false);
  }
  const auto put = [&](const auto& self, const std::string& nested, int level) -> void {
    if (level > kDepthMax || !done.insert(nested).second || classes_.at(nested).own().has_arguments ||
        !classes_.at(nested).is_defined)
      return;
    for (const std::string& other : one.nested) {
      if (classes_.at(nested).complete.count(other)) self(self, other, level + 1);
    }
    if (depth < kDepthMax) define(nested, to, indent, depth + 1);
  };
  for (const std::string& nested : one.nested) put(put, nested, 0);
}

std::string Writer::bases(const Class& one) const {
  std::string text;
  std::set<std::string> seen;
  if (!one.info) return text;
  for (const StreamerElement& e : one.info->elements) {
    const CppType type = parse_cpp_type(e.name);
    if (!is_base(e) || !is_writable_or_foreign(type) || is_fundamental(type.name) || !seen.insert(type.key()).second)
      continue;
    text += (text.empty() ? " : public " : ", public ") + type.code();
  }
  return text;
}

void Writer::members(const Class& one, std::string& to, const std::string& indent) const {
  std::set<std::string> taken{one.own().name};
  std::size_t left = kMembersMax;
  for (const StreamerElement& e : one.info->elements) {
    if (is_base(e) || left-- == 0) continue;
    CppType type = parse_cpp_type(is_number_member(e) ? number_type(e) : e.type_name);
    if (type.suffix.empty()) type.is_const = false;  // ROOT could not read into a const member
    const bool is_written = is_writable_or_foreign(type) && !type.name.empty() && e.name != "This" &&
                            e.kind != ElementKind::unknown && !reaches_inside(one, type, 0);
    std::string name = as_identifier(e.name);
    while (!taken.insert(name).second) name += '_';
    std::string line =
        indent + (is_written ? "" : "// ") + (is_written ? type.code() : as_comment(e.type_name)) + " " + name;
    for (const std::uint32_t n : element_shape(e)) line += "[" + std::to_string(n) + "]";
    if (type.suffix.find('*') != type.suffix.npos) line += element_shape(e).empty() ? " = nullptr" : " = {}";
    line += ";";
    if (!e.title.empty()) line += "  //" + as_comment(e.title);
    to += line + "\n";
  }
}

}  // namespace

std::vector<ClassHeader> class_headers(const StreamerInfos& infos) { return Writer(infos).headers(); }

std::vector<ClassDescription> class_descriptions(const StreamerInfos& infos) {
  std::vector<ClassDescription> out;
  for (const auto& info : infos.from_file()) {
    ClassDescription one{info->class_name, info->version, info->checksum, {}};
    for (const StreamerElement& e : info->elements) {
      one.members.push_back({std::string(element_class(e.kind).name), e.name, e.title, e.type_name, e.type, e.size,
                             e.array_length, e.array_dim, e.max_index, e.base_version, e.count_name, e.count_class,
                             e.stl_type, e.stl_content});
    }
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace tfile
