// SPDX-License-Identifier: Apache-2.0
#include "vfs/nodes/control_directory.h"

#include <unistd.h>

#include <utility>

#include "errors.h"
#include "on_behalf.h"
#include "vfs/names/control_requests.h"
#include "vfs/nodes/attributes.h"
#include "vfs/nodes/generated_directory.h"
#include "wall_clock.h"

namespace tfilefs {
namespace {

Provenance of_daemon(timespec time, mode_t mode = 0444) { return {mode, ::geteuid(), ::getegid(), time, time}; }

MadeFile made_of(std::string text, bool is_closed, const Ownership& ownership) {
  // A closed file belongs to the user of this process, whatever user the rest of the mount is given to.
  const Provenance from = of_daemon(wall_clock(), is_closed ? 0400 : 0444);
  const Attributes attributes = file_attributes(from, is_closed ? Ownership{} : ownership, text.size(), text.size());
  return {attributes, std::make_shared<FixedContent>(std::move(text))};
}

}  // namespace

Entry make_control_file(const ControlFile& file, Ownership ownership) {
  const auto made = [closed = file.is_closed, ownership](std::string text) {
    return made_of(std::move(text), closed, ownership);
  };
  GeneratedThing thing =
      made_anew([text = file.text, slow_text = file.slow_text, made](Freshness, Reply<MadeFile> reply) {
        if (text) return reply(made(text()));
        auto tell = [made](std::string slow, Reply<MadeFile> done) { done(made(std::move(slow))); };
        slow_text(value_for<std::string>(std::move(reply), tell));
      });
  if (file.text) thing.known_attributes = [text = file.text, made] { return made(text()).attributes; };
  thing.admit = [closed = file.is_closed, admit = file.admit](Access access, const CallerPtr& by, Reply<void> reply) {
    if (closed && access != Access::status) return reply(not_admitted());
    if (admit) return admit(by, std::move(reply));
    reply({});
  };
  return generated(std::move(thing));
}

Entry make_control_directory(const std::vector<ControlFile>& files, Ownership ownership, ControlRequests requests) {
  std::vector<std::pair<std::string, Entry>> things;
  for (const ControlFile& file : files) things.emplace_back(file.name, make_control_file(file, ownership));
  GeneratedNames names = generated_names(std::move(things));
  names.admit = admit_all;
  GeneratedThing thing;
  thing.admit = [](Access access, const CallerPtr& by, Reply<void> reply) {
    if (access == Access::write && by) return reply(not_admitted());
    reply({});
  };
  thing.known_attributes = [started = wall_clock(), ownership] {
    Attributes attributes = directory_attributes(of_daemon(started), ownership);
    attributes.links = 2;
    return attributes;
  };
  thing.enter = [directory = make_generated_directory(std::move(names))](
                    Freshness, Reply<std::shared_ptr<const Directory>> reply) { reply(directory); };
  thing.sync = std::move(requests.sync);
  thing.set_xattr = [discard = std::move(requests.discard)](std::string_view name, Reply<void> reply) {
    if (name != kDiscardAttribute) return reply(unsupported_attribute());
    discard(std::move(reply));
  };
  return generated(std::move(thing));
}

}  // namespace tfilefs
