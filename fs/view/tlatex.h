// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tfilefs {

// Appends a title in TLatex ("p_{T} [GeV/c^{2}]", "#mu^{+}#mu^{-}") as the content of an SVG text element: Greek
// letters and signs as characters, indices and powers as raised and lowered spans, the rest as it is; everything
// escaped. Bytes that are no UTF-8 or not allowed in XML become U+FFFD.
void append_tlatex(std::string& svg, std::string_view tlatex);

}  // namespace tfilefs
