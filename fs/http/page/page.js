// SPDX-License-Identifier: Apache-2.0
// The page of `tfilefs browse`: the tree, and a view of what is chosen. What is behind # says what that is.
import { decoded, json, listing, schema, urlOf } from './source.js';
import { columnView } from './column_view.js';
import { fileView } from './file_view.js';
import { directoryView } from './object_view.js';
import { make, readable } from './parts.js';
import { tableView } from './table_view.js';
import { Tree } from './tree.js';

const main = document.getElementById('main');
const tree = new Tree(document.getElementById('tree'), document.getElementById('none'));
const menu = document.getElementById('menu');
let source = '', turn = 0;

// Where there is no room for both, over what is chosen.
function showTree(isShown) {
  document.body.classList.toggle('tree', isShown);
  menu.setAttribute('aria-expanded', String(isShown));
}

// Behind #: the path, and behind a ? what of it is drawn. A ? in a name is encoded.
function hashParts() {
  const text = location.hash.slice(1), mark = text.indexOf('?');
  return mark < 0 ? [text, ''] : [text.slice(0, mark), text.slice(mark + 1)];
}
const chosen = () => hashParts()[0].split('/').filter(Boolean).map(decoded);
const drawn = () => new URLSearchParams(hashParts()[1]);
function keep(changes) {
  const kept = drawn();
  for (const [name, value] of Object.entries(changes)) value ? kept.set(name, value) : kept.delete(name);
  history.replaceState(null, '', '#' + hashParts()[0] + ([...kept].length ? '?' + kept : ''));
}

// What is neither a table nor in one.
async function plainView(names) {
  try {
    return directoryView(names, await listing(names), source);
  } catch (failure) {
    if (failure.status !== 404) throw failure;
    return fileView(names, source);
  }
}

async function views(names) {
  for (let depth = 1; depth <= names.length; ++depth) {
    const table = names.slice(0, depth);
    const described = await schema(table);
    if (!described) continue;
    const path = names.slice(depth).join('/');
    if (!path) return tableView(table, described, source);
    const column = described.columns.find((each) => each.path === path) ??
                   described.columns.find((each) => each.path.startsWith(path + '/') && each.role !== 'offsets');
    if (column) return columnView(table, described, column, source, drawn(), keep);
  }
  return plainView(names);
}

async function show() {
  const mine = ++turn, names = chosen();
  document.title = readable(names.at(-1) ?? 'tfilefs') + (source ? ' – ' + source.split('/').at(-1) : '');
  showTree(false);
  let made;
  try {
    made = await views(names);
  } catch (failure) {
    made = [make('h2', {}, names.at(-1) ?? 'Root'), make('p', { class: 'error' }, failure.message)];
  }
  if (mine !== turn) return;
  main.replaceChildren(...made.filter(Boolean));
  main.scrollTop = 0;
  document.getElementById('told').textContent = document.title;  // for who does not see it
  tree.select(names);
}

async function start() {
  const at = new URLSearchParams(location.search).get('at');
  if (at) history.replaceState(null, '', location.pathname + '#' + at);
  try {
    source = (await json('/.tfilefs/config.json')).source;
  } catch { /* it is only shown */ }
  document.getElementById('source').textContent = source;
  await tree.start().catch((failure) => main.replaceChildren(make('p', { class: 'error' }, failure.message)));
  const only = tree.place.firstElementChild;
  if (chosen().length === 0 && tree.rows.size > 0 && only?.tree.opens && [...tree.rows.values()].filter((each) => each.tree.level === 1).length === 1)
    history.replaceState(null, '', '#' + urlOf(only.tree.names));
  show();
}

window.addEventListener('hashchange', show);
const search = document.getElementById('search');
search.addEventListener('input', () => tree.search(search.value));
menu.addEventListener('click', () => showTree(!document.body.classList.contains('tree')));
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && !/INPUT|TEXTAREA/.test(document.activeElement.tagName)) {
    event.preventDefault();
    showTree(true);
    search.focus();
  } else if (event.key === 'Escape' && document.activeElement === search) {
    search.value = '';
    tree.search('');
    tree.place.querySelector('.row')?.focus();
  }
});
start();
