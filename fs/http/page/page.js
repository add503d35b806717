// SPDX-License-Identifier: Apache-2.0
// The page of `tfilefs browse`: the tree, and a view of what is chosen. What is behind # says what that is.
import { decoded, isGivenUp, json, urlOf } from './source.js';
import { columnView } from './column_view.js';
import { fileView } from './file_view.js';
import { directoryView } from './object_view.js';
import { make, readable } from './parts.js';
import { Moved, Reading } from './reading.js';
import { READS, readsView } from './reads.js';
import { Served } from './served.js';
import { tableView } from './table_view.js';
import { Tree } from './tree.js';

const main = document.getElementById('main');
const tree = new Tree(document.getElementById('tree'), document.getElementById('none'));
const menu = document.getElementById('menu');
const TRIES = 3, AGAIN_AFTER = 500, LOOK_EACH = 4000;  // ms
let served = new Served(), turn = 0, shownAt = null, kept = {}, isMoving = false, reading = new Reading();

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
async function plainView(names, view) {
  try {
    return directoryView(names, await view.reading.listing(names), view);
  } catch (failure) {
    if (failure.status !== 404) throw failure;
    return fileView(names, view);
  }
}

async function viewOf(names, view) {
  if (urlOf(names) === READS) return readsView(view);
  for (let depth = 1; depth <= names.length; ++depth) {
    const table = names.slice(0, depth);
    const described = await view.reading.schema(table);
    if (!described) continue;
    const path = names.slice(depth).join('/');
    if (!path) return tableView(table, described, view);
    const column = described.columns.find((each) => each.path === path) ??
                   described.columns.find((each) => each.path.startsWith(path + '/') && each.role !== 'offsets');
    if (column) return columnView(table, described, column, view);
  }
  return plainView(names, view);
}

// What cannot be shown, in its place. A file that moves on under a view is begun again.
function failedIn(place, mine, tries, failure) {
  if (mine !== turn || isGivenUp(failure)) return;
  if (!(failure instanceof Moved)) return place.replaceChildren(make('p', { class: 'error', role: 'alert' }, failure.message));
  reading.leave();
  if (tries < TRIES) return setTimeout(() => mine === turn && show(tries + 1), AGAIN_AFTER);
  isMoving = true;
  const again = make('button', { type: 'button', onclick: () => show() }, 'Read again');
  place.replaceChildren(make('p', { class: 'error', role: 'alert' },
    `The file changed each time it was read, ${tries + 1} times. What is read of it would be of no one state.`), again);
}

// A view gets { reading, served, given, keep, kept, failed }: what it reads by; what is looked at; what stands behind the ? of the
// URL, which `keep({name: value})` puts there or takes away; what it remembers while it is only drawn anew; and what
// `failed(place)` makes of an error.
async function show(tries = 0) {
  const mine = ++turn, names = chosen(), where = hashParts()[0];
  reading.leave();
  reading = new Reading();
  isMoving = false;
  if (where !== shownAt) kept = {};
  const isSame = where === shownAt, top = main.scrollTop;
  document.title = readable(names.at(-1) ?? 'tfilefs') + (served.source ? ' – ' + served.source.split('/').at(-1) : '');
  if (!isSame) showTree(false);
  const view = { reading, served, given: drawn(), kept, keep: (changes) => mine === turn && keep(changes),
                 failed: (place) => (failure) => failedIn(place, mine, tries, failure) };
  let made;
  try {
    made = await viewOf(names, view);
  } catch (failure) {
    const place = make('div');
    view.failed(place)(failure);
    made = [make('h2', {}, names.at(-1) ?? 'Root'), place];
  }
  if (mine !== turn) return;
  shownAt = where;
  main.replaceChildren(...made.filter(Boolean));
  main.scrollTop = isSame ? top : 0;
  document.getElementById('told').textContent = document.title;  // for who does not see it
  tree.select(names);
}

// Whether the file is still as it is shown. Not while something is read, which notices by itself, and not while one types.
async function look() {
  if (document.hidden || isMoving || !reading.isResting || main.querySelector('input:focus')) return;
  const mine = turn;
  try {
    await reading.check();
  } catch (failure) {
    if (!(failure instanceof Moved) || mine !== turn) return;
    document.getElementById('told').textContent = 'The file has changed.';
    await tree.refresh();
    if (mine === turn) show();
  }
}

async function start() {
  const at = new URLSearchParams(location.search).get('at');
  if (at) history.replaceState(null, '', location.pathname + '#' + at);
  try {
    served = new Served(await json('/.tfilefs/config.json'));
  } catch { /* it is only shown */ }
  document.getElementById('source').textContent = served.name;
  await tree.start().catch((failure) => main.replaceChildren(make('p', { class: 'error' }, failure.message)));
  const only = tree.only();
  if (chosen().length === 0 && only) history.replaceState(null, '', '#' + only.url);
  show();
}

window.addEventListener('hashchange', () => show());
document.addEventListener('visibilitychange', look);
setInterval(look, LOOK_EACH);
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
    tree.focus(tree.seen[0]);
  }
});
start();
