// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "on_behalf.h"
#include "vfs/keys/key_directory.h"
#include "vfs/nodes/blocking.h"
#include "vfs/nodes/generated_directory.h"
#include "vfs/nodes/generation.h"

namespace tfilefs {
namespace {

using Classes = std::shared_ptr<const tfile::FileClasses>;

Entry header(const GenerationPtr& generation, const Classes& classes, std::size_t i) {
  GeneratedThing thing;
  thing.generation = generation;
  thing.known_attributes = [generation, classes, i] {
    const std::size_t size = classes->headers[i].text.size();
    return file_attributes(generation->state.from, generation->context.ownership, size, size);
  };
  thing.open = [generation, classes, i](Reply<OpenedContent> reply) {
    reply(OpenedContent{std::make_shared<FixedContent>(classes->headers[i].text), generation});
  };
  return generated(std::move(thing));
}

GeneratedNames names_of_headers(const GenerationPtr& generation, const Classes& classes) {
  GeneratedNames names;
  names.generation = generation;
  names.count = classes->headers.size();
  names.name = [classes](std::size_t i) { return classes->headers[i].file_name; };
  names.thing = [generation, classes](std::size_t i) { return header(generation, classes, i); };
  names.number = [classes](std::string_view name) -> std::optional<std::size_t> {
    const auto at = std::ranges::lower_bound(
        classes->headers, name, {}, [](const tfile::ClassHeader& each) { return std::string_view(each.file_name); });
    if (at == classes->headers.end() || at->file_name != name) return std::nullopt;
    return static_cast<std::size_t>(at - classes->headers.begin());
  };
  return names;
}

}  // namespace

void enter_classes(std::shared_ptr<const Generation> generation, Reply<std::shared_ptr<const Directory>> reply) {
  auto once = generation->classes;
  once.get(
      [&](Reply<Classes> made) {
        auto job = [file = generation->file]() { return file->classes(); };
        answer_blocking(generation->context.cache, std::move(job), std::move(made));
      },
      value_for<Classes>(std::move(reply),
                         [generation](const Classes& classes, Reply<std::shared_ptr<const Directory>> done) {
                           done(make_generated_directory(names_of_headers(generation, classes)));
                         }));
}

}  // namespace tfilefs
