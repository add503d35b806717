// SPDX-License-Identifier: Apache-2.0
// A directory, or an object, which is a directory with its arrays and texts in it.
import { fitsSection } from './fits.js';
import { urlOf } from './source.js';
import { size } from './numbers.js';
import { objectStorage } from './storage.js';
import { copyLines, downloads, make, opened, scrolled } from './parts.js';

const ROWS = 1000, JSON_MAX = 16 << 20;

// The plot, and links to what there is of an object.
function shownObject(names, { reading, failed }) {
  const figure = make('figure', {}), links = make('div', {}), at = (name) => urlOf([...names, name]);
  const show = (picture) => {
    const src = URL.createObjectURL(picture);
    const shown = make('img', { class: 'object', src, alt: `Plot of ${names.at(-1)}` });
    shown.addEventListener('load', () => URL.revokeObjectURL(src));
    figure.replaceChildren(shown);
    return true;
  };
  const fail = (failure) => {
    if (failure.status === 404) figure.replaceChildren(make('p', { class: 'dim' }, 'This object has no plot.'));
    else failed(figure)(failure);
    return false;
  };
  const fits = make('div', {});
  const showFits = async () => {
    const length = await reading.get(at('object.json'), (answer) => Number(answer.headers.get('Content-Length')), {}, 'HEAD');
    if (length <= JSON_MAX) fits.replaceChildren(...[fitsSection(await reading.get(at('object.json'), (answer) => answer.json()))].filter(Boolean));
  };
  const isThere = (name) => reading.get(at(name), () => true, {}, 'HEAD').catch(() => false);
  Promise.all([reading.blob([...names, 'plot.svg']).then(show).catch(fail), showFits().then(() => true, (failure) => failure.status !== 404 && failed(fits)(failure)), isThere('table.csv')]).then((are) =>
    links.replaceChildren(downloads([['svg', at('plot.svg')], ['json', at('object.json')], ['csv', at('table.csv')]].filter((_, i) => are[i]))));
  return [figure, links, fits];
}

// What a directory has, a thousand names at a time: it may have as many as there are.
function namesTable(label, names, entries) {
  const body = make('tbody'), more = make('button', { type: 'button' }), left = () => entries.length - body.children.length;
  const rowOf = (each) => {
    const path = [...names, each.name];
    const href = each.type === 'file' ? urlOf(path) : '#' + urlOf(path);
    return make('tr', {}, make('td', {}, make('a', { href }, each.name + (each.type === 'directory' ? '/' : ''))),
                make('td', { class: 'number' }, each.size === undefined ? '' : size(each.size)));
  };
  const add = () => {
    body.append(...entries.slice(body.children.length, body.children.length + ROWS).map(rowOf));
    more.textContent = `Show ${Math.min(ROWS, left())} more of ${left()}`;
    more.hidden = left() === 0;
  };
  more.addEventListener('click', add);
  add();
  return make('div', {}, scrolled(label, make('table', {}, body)), more);
}

// `view`: see page.js.
export function directoryView(names, entries, view) {
  const { served } = view;
  const isObject = entries.some((each) => each.name === 'object.bin');
  return [
    make('h2', {}, names.at(-1) ?? 'Root'),
    ...(isObject ? shownObject(names, view) : [opened([...(served.isInFile(names) ? [['all plots', urlOf([...names, 'index.html'])]] : []),
                                                       ['plain listing', urlOf(names) + (names.length ? '/' : '')]])]),
    make('h3', {}, isObject ? 'Files' : 'Names'), namesTable(isObject ? 'Files' : 'Names', names, entries),
    isObject ? objectStorage(names, view) : null,
    copyLines([served.isPlain && ['a mount', served.mountLine()],
               ...(served.canGive(false) ? [['tfilefs', served.lineOf('ls', names)], ['copy', `${served.lineOf('cp -r', names)} .`]] : [])]),
  ];
}
