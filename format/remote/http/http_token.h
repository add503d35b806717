// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tfile {

// The bearer token of the user who runs this, or "" if there is none: BEARER_TOKEN, the file BEARER_TOKEN_FILE,
// $XDG_RUNTIME_DIR/bt_u<uid>, /tmp/bt_u<uid> (WLCG Bearer Token Discovery). It is looked for once a minute; `anew`:
// now. Any thread.
std::string bearer_token(bool anew);

// Whether a secret may be sent to this URL: over TLS, or within this machine. Pure.
bool is_confidential(std::string_view url);

}  // namespace tfile
