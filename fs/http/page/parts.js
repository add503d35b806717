// SPDX-License-Identifier: Apache-2.0
// Pieces that the views consist of. Names and titles of files only ever become text.

export function make(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith('on')) made.addEventListener(key.slice(2), value);
    else if (value !== false && value !== null) made.setAttribute(key, value === true ? '' : value);
  }
  made.append(...children.filter((each) => each !== null && each !== undefined));
  return made;
}

export const facts = (pairs) => make('dl', {}, ...pairs.filter(([, value]) => value !== '' && value !== null && value !== undefined)
  .flatMap(([name, value]) => [make('dt', {}, name), make('dd', {}, value instanceof Node ? value : String(value))]));

export const downloads = (links) => make('div', { class: 'bar' }, ...links.map(([text, url]) => make('a', { href: url, download: '' }, text)));

export function copyLines(lines) {
  return make('div', {}, make('h3', {}, 'Copy as'), ...lines.filter(Boolean).map(([name, text]) => {
    const button = make('button', { type: 'button', 'aria-label': `Copy the line for ${name}` }, 'Copy');
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(text);
      button.textContent = 'Copied';
      setTimeout(() => { button.textContent = 'Copy'; }, 1500);
    });
    return make('div', { class: 'copy' }, make('span', {}, name), make('pre', {}, text), button);
  }));
}

// A word that a shell takes as it is.
export const quoted = (text) => (/^[\w./:@%+=-]+$/.test(text) ? text : "'" + text.replaceAll("'", "'\\''") + "'");
