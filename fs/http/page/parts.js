// SPDX-License-Identifier: Apache-2.0
// Pieces that the views consist of. Names and titles of files only ever become text.

// As text shows it: a lone surrogate, which stands for a byte that is no UTF-8, is U+FFFD.
export const readable = (value) => (typeof value === 'string' && value.toWellFormed ? value.toWellFormed() : value);

export function make(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
    else if (value !== false && value !== null) made.setAttribute(key, value === true ? '' : readable(value));
  }
  made.append(...children.filter((each) => each !== null && each !== undefined).map(readable));
  return made;
}

export const facts = (pairs) => make('dl', {}, ...pairs.filter(([, value]) => value !== '' && value !== null && value !== undefined)
  .flatMap(([name, value]) => [make('dt', {}, name), make('dd', {}, value instanceof Node ? value : String(value))]));

// What scrolls where it is too wide, also by keys.
export const scrolled = (label, content) => make('div', { class: 'wide', tabindex: '0', role: 'region', 'aria-label': label }, content);
export const preformatted = (text, attributes = {}) => make('pre', { tabindex: '0', ...attributes }, text);

const bar = (label, links, attributes) => make('div', { class: 'bar' }, make('span', { class: 'dim' }, label),
  ...links.map(([text, href]) => make('a', { href, ...attributes }, text)));

export const downloads = (links) => bar('Download', links, { download: '' });

// Links to what a browser shows itself.
export const opened = (links) => bar('Open', links, { target: '_blank', rel: 'noreferrer' });

// Only pages of https and of this machine have a clipboard; others can copy what is selected.
async function copy(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = make('textarea', { class: 'copied', readonly: true });
  area.value = text;
  document.body.append(area);
  area.select();
  const isDone = document.execCommand('copy');
  area.remove();
  if (!isDone) throw new Error('not copied');
}

export function copyLines(lines) {
  return make('div', {}, make('h3', {}, 'Copy as'), ...lines.filter((each) => each && each[1]).map(([name, text]) => {
    const button = make('button', { type: 'button', 'aria-label': `Copy the line for ${name}` }, 'Copy');
    button.addEventListener('click', async () => {
      button.textContent = await copy(text).then(() => 'Copied', () => 'Not copied');
      setTimeout(() => { button.textContent = 'Copy'; }, 1500);
    });
    return make('div', { class: 'copy' }, make('span', {}, name), preformatted(text), button);
  }));
}

// A word that a shell takes as it is.
export const quoted = (text) => (/^[\w./:@%+=-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'");
