// SPDX-License-Identifier: Apache-2.0
// The tree on the left: directories and tables, loaded when they are opened.
import { described, listing, urlOf } from './source.js';
import { columnName, columnType, shownColumns } from './table_view.js';
import { make } from './parts.js';

export class Tree {
  constructor(place, none) {
    this.place = place;
    this.none = none;
    this.rows = new Map();  // by URL
    place.addEventListener('keydown', (event) => this.onKey(event));
    place.addEventListener('focusin', (event) => this.keepPlace(event.target.closest('.row')));
  }

  row(names, text, type, opens, level) {
    const url = urlOf(names);
    const sign = make('span', { class: 'sign', 'aria-hidden': 'true' }, opens ? '▸' : '');
    const row = make('div', { class: 'row', role: 'treeitem', tabindex: '-1', 'aria-level': String(Math.min(level, 5)), title: names.join('/'),
                              'aria-selected': 'false', ...(opens ? { 'aria-expanded': 'false' } : {}) },
                     sign, make('span', { class: 'name' }, text), make('span', { class: 'type' }, type));
    row.tree = { names, level, opens, sign, text: text.toLowerCase(), below: null, above: null };
    row.addEventListener('click', (event) => {
      if (opens && (event.target === sign || row.getAttribute('aria-expanded') === 'false')) this.toggle(row);
      if (event.target !== sign) location.hash = '#' + url;
      row.focus();
    });
    this.rows.set(url, row);
    return row;
  }

  // The file has changed.
  async refresh() {
    this.rows.clear();
    this.place.replaceChildren();
    await this.start();
  }

  async start() {
    const rows = (await this.children([])).map((each) => this.row(...each, 1));
    this.place.append(...rows);
    if (rows[0]) rows[0].tabIndex = 0;
    if (rows.length === 1 && rows[0].tree.opens) await this.open(rows[0]);
  }

  // [names, text, type, whether it opens] of what is below.
  async children(names) {
    const table = names.length ? (await described(names)).found : null;
    if (table && table.kind !== 'object') return shownColumns(table).map((each) => [[...names, ...each.path.split('/')], columnName(each), columnType(each), false]);
    return (await listing(names)).filter((each) => each.type !== 'file' || names.length === 0)
      .map((each) => [[...names, each.name], each.name, '', each.type !== 'file']);
  }

  async open(row) {
    const own = row.tree;
    if (!own.opens || own.below) return own.below && this.expand(row, true);
    own.below = [];
    try {
      const found = await this.children(own.names);
      own.below = found.map((each) => this.row(...each, own.level + 1));
      for (const each of own.below) each.tree.above = row;
      row.after(...own.below);
    } catch (failure) {
      own.below = null;
      row.title = failure.message;
      return;
    }
    this.expand(row, true);
  }

  expand(row, isOpen) {
    row.setAttribute('aria-expanded', String(isOpen));
    row.tree.sign.textContent = isOpen ? '▾' : '▸';
    for (const each of row.tree.below ?? []) {
      each.hidden = !isOpen;
      if (each.tree.below) this.expand(each, isOpen && each.getAttribute('aria-expanded') === 'true');
    }
  }

  toggle(row) {
    if (row.getAttribute('aria-expanded') === 'true') this.expand(row, false);
    else this.open(row);
  }

  async select(names) {
    for (let depth = 1; depth < names.length; ++depth) {
      const row = this.rows.get(urlOf(names.slice(0, depth)));
      if (row) await this.open(row);
    }
    for (const each of this.place.querySelectorAll('[aria-selected="true"]')) each.setAttribute('aria-selected', 'false');
    const row = this.rows.get(urlOf(names));
    if (!row) return;
    row.setAttribute('aria-selected', 'true');
    row.scrollIntoView({ block: 'nearest' });
  }

  // Shows the names that have `text` in them, and those above. What was never opened is opened for the first search.
  async search(text) {
    text = text.trim().toLowerCase();
    if (text && !this.searched) {
      this.searched = true;
      const closed = [...this.rows.values()].filter((each) => each.tree.opens && !each.tree.below).slice(0, 50);
      await Promise.all(closed.map((each) => this.open(each)));
    }
    const rows = [...this.rows.values()];
    if (!text) {
      this.none.hidden = true;
      for (const row of rows) if (!row.tree.above) { row.hidden = false; if (row.tree.below) this.expand(row, row.getAttribute('aria-expanded') === 'true'); }
      return;
    }
    for (const row of rows) row.hidden = !row.tree.text.includes(text);
    for (const row of rows) if (!row.hidden) for (let above = row.tree.above; above; above = above.tree.above) above.hidden = false;
    this.none.hidden = rows.some((row) => !row.hidden);
  }

  // Tab comes back to the row that had the focus last.
  keepPlace(row) {
    if (!row) return;
    for (const each of this.place.querySelectorAll('[tabindex="0"]')) each.tabIndex = -1;
    row.tabIndex = 0;
  }

  onKey(event) {
    const row = event.target.closest('.row');
    if (!row) return;
    const seen = [...this.place.children].filter((each) => !each.hidden);
    const at = seen.indexOf(row);
    const isOpen = row.getAttribute('aria-expanded') === 'true';
    const moves = {
      ArrowDown: () => seen[at + 1]?.focus(),
      ArrowUp: () => seen[at - 1]?.focus(),
      Home: () => seen[0]?.focus(),
      End: () => seen.at(-1)?.focus(),
      ArrowRight: () => (row.tree.opens && !isOpen ? this.open(row) : seen[at + 1]?.focus()),
      ArrowLeft: () => (isOpen ? this.expand(row, false) : row.tree.above?.focus()),
      Enter: () => { location.hash = '#' + urlOf(row.tree.names); },
      ' ': () => this.toggle(row),
    };
    if (!moves[event.key]) return;
    event.preventDefault();
    moves[event.key]();
  }
}
