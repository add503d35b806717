// SPDX-License-Identifier: Apache-2.0
// A file that is no table, no column and no object.
import { urlOf } from './source.js';
import { size } from './numbers.js';
import { copyLines, downloads, facts, make, opened, preformatted, quoted } from './parts.js';

const TEXT_MAX = 2048;

// Null: it is no text. A character that `bytes` end in the middle of is left out.
function textOf(bytes) {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: bytes.length === TEXT_MAX });
  } catch {
    return null;
  }
}

export async function fileView(names, { reading, served }) {
  const { total, first } = await reading.beginning(names, TEXT_MAX);
  const text = textOf(first), name = names.at(-1);
  return [
    make('h2', {}, name), facts([['Size', size(total)]]),
    opened([['in the browser', urlOf(names)]]), downloads([[name, urlOf(names)]]),
    text ? preformatted(text + (total > first.length ? '…' : '')) : null,
    copyLines([served.isPlain && ['a mount', served.mountLine()],
               served.canGive(false) && ['tfilefs', `${served.lineOf('cat', names)} > ${quoted(name)}`]]),
  ];
}
