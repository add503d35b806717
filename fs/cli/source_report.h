// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

#include "cli/each_source.h"
#include "cli/json_output.h"

namespace tfilefs {

// Prints what there is to say of a source, or adds it to an array, if that is not null. Returns an exit code.
using SourceReport = std::function<int(const OneSource&, nlohmann::ordered_json* array)>;

// A command that takes SOURCE..., of which a directory of this machine stands for the ROOT files below it, and --json,
// for an array of all reports; that is not printed if all of them failed. Returns the exit code.
int report_on_sources(std::string_view command, int argc, char** argv, const SourceReport&);

}  // namespace tfilefs
