// SPDX-License-Identifier: Apache-2.0
// The tree on the left: directories and tables, loaded when they are opened. Of its rows only those in sight are elements: a table may
// have ten thousand columns.
import { described, json, listing, urlOf } from './source.js';
import { columnName, columnType, shownColumns } from './table_view.js';
import { make } from './parts.js';

const ROW = 24, MORE = 8, HEIGHT_UNSEEN = 900;  // pixels, as in page.css; rows beyond what is in sight
const LOOKED_MAX = 1000, AT_ONCE = 6, DRAWN_EACH = 200;  // directories and tables of a search; requests; ms

class Node {
  constructor([names, text, type, opens], above) {
    Object.assign(this, { names, text, type, opens, above, url: urlOf(names), lower: text.toLowerCase(), level: above ? above.level + 1 : 0 });
    this.below = null;  // not loaded
    this.isOpen = this.isObject = false;
    this.place = 0;      // among those next to it, from 1
    this.at = this.failure = this.row = null;
  }
}

const isTable = (found) => found && found.kind !== 'object';

// [names, text, type, whether it opens] of what is below.
async function childrenOf(names, found) {
  if (isTable(found)) return shownColumns(found).map((each) => [[...names, ...each.path.split('/')], columnName(each), columnType(each), false]);
  return (await listing(names)).filter((each) => each.type !== 'file' || names.length === 0)
    .map((each) => [[...names, each.name], each.name, '', each.type !== 'file']);
}

// The keys of a directory of a ROOT file and of those in it; null: it is none.
async function keysBelow(names) {
  try {
    return (await json(urlOf([...names, '.keys.json']))).keys;
  } catch (failure) {
    if (failure.status !== 404) throw failure;
    return null;
  }
}

export class Tree {
  constructor(place, none) {
    this.place = place;
    this.none = none;
    this.root = new Node([[], '', '', true], null);
    this.nodes = new Map();  // by URL
    this.seen = [];          // nodes that have a row, from the top
    this.text = '';
    this.selected = '';
    this.current = null;     // where Tab leads to
    this.sizer = make('div', { class: 'sizer', 'aria-hidden': 'true' });
    place.append(this.sizer);
    place.addEventListener('scroll', () => this.draw());
    new ResizeObserver(() => this.draw()).observe(place);
    place.addEventListener('click', (event) => this.onClick(event));
    place.addEventListener('keydown', (event) => this.onKey(event));
    place.addEventListener('focusin', (event) => this.keepPlace(event.target.closest('.row')?.node));
  }

  async start() {
    await this.load(this.root);
    this.root.isOpen = true;
    const only = this.only();
    if (only) await this.open(only);
    this.list();
  }

  // The one thing at the top that opens, if nothing is next to it.
  only() { return this.root.below?.length === 1 && this.root.below[0].opens ? this.root.below[0] : null; }

  // What is below a node, once. For a search, an object has nothing below.
  load(node, isSearch = false) {
    if (node.below || (isSearch && node.isObject)) return Promise.resolve();
    if (node.loading) return node.loading.then(() => this.load(node, isSearch));  // of an object, a search has loaded nothing
    node.loading = this.loadNow(node, isSearch).finally(() => { node.loading = null; });
    return node.loading;
  }

  async loadNow(node, isSearch) {
    const found = node.names.length ? (await described(node.names)).found : null;
    node.isObject = Boolean(found) && !isTable(found);
    if (isSearch && (node.isObject || (!found && await this.loadKeys(node)))) return;
    const before = new Map((node.below ?? []).map((each) => [each.url, each]));
    node.below = (await childrenOf(node.names, found)).map((each) => {
      const made = new Node(each, node), old = before.get(made.url);
      if (!old || old.opens !== made.opens) this.nodes.set(made.url, made);
      else if (old.type !== made.type) { old.type = made.type; old.row = null; }
      return old && old.opens === made.opens ? old : made;
    });
    node.below.forEach((each, i) => { each.place = i + 1; });
    const now = new Set(node.below);
    for (const each of before.values()) if (!now.has(each) && this.nodes.get(each.url) === each) this.forget(each);
  }

  // What is below a directory of a ROOT file, at any depth, by one request. Whether it is one. What does not fit into the answer is
  // looked into later, and so are tables.
  async loadKeys(node) {
    const keys = await keysBelow(node.names);
    if (keys === null) return false;
    const above = new Map();  // keys by the path of their directory
    for (const each of keys) {
      const at = each.path.lastIndexOf('/') + 1, path = each.path.slice(0, Math.max(0, at - 1));
      if (!above.has(path)) above.set(path, new Map());
      above.get(path).set(each.path.slice(at), each.kind);
    }
    this.takeKeys(node, '', above);
    this.looked += above.size;
    return node.below !== null;
  }

  takeKeys(node, path, above) {
    const kinds = above.get(path);
    if (!kinds || node.loading && node.below === null && path) return;
    if (node.below === null) {
      node.below = [...kinds.keys()].sort().map((name) => new Node([[...node.names, name], name, '', true], node));
      node.below.forEach((each, i) => { each.place = i + 1; this.nodes.set(each.url, each); });
    }
    for (const each of node.below) {
      each.isObject = kinds.get(each.text) === 'object';
      if (kinds.get(each.text) === 'directory') this.takeKeys(each, path ? path + '/' + each.text : each.text, above);
    }
  }

  forget(node) {
    this.nodes.delete(node.url);
    for (const each of node.below ?? []) this.forget(each);
  }

  // What is loaded, anew: the file has changed.
  async refresh(node = this.root) {
    if (!node.below) return;
    try {
      await this.loadNow(node, false);
    } catch (failure) {
      if (failure.status !== 404) return;  // it is shown as it was
      node.below = node.opens && node.above ? null : [];
    }
    for (const each of node.below ?? []) if (each.below) await this.refresh(each); else each.isObject = false;
    if (node !== this.root) return;
    this.hasAsked = false;
    this.list();
  }

  async open(node) {
    try {
      await this.load(node);
      node.failure = null;
      node.isOpen = true;
    } catch (failure) {
      node.failure = failure.message;
    }
    node.row = null;
    this.list();
  }

  close(node) {
    node.isOpen = false;
    node.row = null;
    this.list();
  }

  toggle(node) { return node.isOpen ? this.close(node) : this.open(node); }

  async select(names) {
    const url = this.selected = urlOf(names);
    for (let depth = 1; depth < names.length; ++depth) {
      const node = this.nodes.get(urlOf(names.slice(0, depth)));
      if (node?.opens && !node.isOpen) await this.open(node);
    }
    if (url !== this.selected) return;
    const node = this.nodes.get(url);
    if (node && this.seen[node.at] === node) this.bring(node);
    this.draw();
  }

  // Adds `nodes` and what is open below them; of a search, what has the text, and what is above that. Whether there is any.
  collect(nodes, into) {
    const before = into.length;
    for (const node of nodes) {
      const at = into.length;
      into.push(node);
      const isAbove = (this.text || node.isOpen) && node.below ? this.collect(node.below, into) : false;
      if (this.text && !isAbove && !node.lower.includes(this.text)) into.length = at;
    }
    return into.length > before;
  }

  list() {
    this.seen = [];
    this.collect(this.root.below ?? [], this.seen);
    this.seen.forEach((node, at) => { node.at = at; });
    this.draw();
  }

  rowOf(node) {
    if (node.row) return node.row;
    const { opens, isOpen, above } = node;
    const sign = make('span', { class: 'sign', 'aria-hidden': 'true' }, opens ? (isOpen ? '▾' : '▸') : '');
    node.row = make('div', { class: 'row', role: 'treeitem', 'aria-level': String(Math.min(node.level, 5)), title: node.failure ?? node.names.join('/'),
                             'aria-setsize': String(above.below.length), 'aria-posinset': String(node.place),
                             ...(opens ? { 'aria-expanded': String(isOpen) } : {}) },
                    sign, make('span', { class: 'name' }, node.text), make('span', { class: 'type' }, node.type));
    node.row.node = node;
    return node.row;
  }

  // Rows in sight, and the one where Tab leads to, in their order.
  draw() {
    const { place, seen } = this, focused = document.activeElement?.node;
    if (!this.current || seen[this.current.at] !== this.current) this.current = seen[0] ?? null;
    const first = Math.max(0, Math.floor(place.scrollTop / ROW) - MORE);
    const end = Math.ceil((place.scrollTop + (place.clientHeight || HEIGHT_UNSEEN)) / ROW) + MORE;
    const wanted = seen.slice(first, end);
    if (this.current && (this.current.at < first || this.current.at >= end)) this.current.at < first ? wanted.unshift(this.current) : wanted.push(this.current);
    const rows = wanted.map((node) => this.rowOf(node)), kept = new Set(rows);
    for (const row of [...place.children].slice(1)) if (!kept.has(row)) row.remove();
    this.sizer.style.height = seen.length * ROW + 'px';
    rows.forEach((row, i) => {
      if (place.children[i + 1] !== row) place.insertBefore(row, place.children[i + 1] ?? null);
      row.style.top = row.node.at * ROW + 'px';
      row.tabIndex = row.node === this.current ? 0 : -1;
      row.setAttribute('aria-selected', String(row.node.url === this.selected));
    });
    if (focused && seen[focused.at] === focused && document.activeElement !== focused.row) focused.row?.focus({ preventScroll: true });
  }

  // Into sight.
  bring(node) {
    const top = node.at * ROW, { place } = this, height = Math.min(place.clientHeight, Math.floor(place.getBoundingClientRect().height));
    if (top < place.scrollTop) place.scrollTop = top;
    else if (top + ROW > place.scrollTop + height) place.scrollTop = top + ROW - height;
  }

  focus(node) {
    if (!node) return;
    this.current = node;
    this.bring(node);
    this.draw();
    node.row.focus({ preventScroll: true });
  }

  // Tab comes back to the row that had the focus last.
  keepPlace(node) {
    if (!node || node === this.current) return;
    this.current = node;
    this.draw();
  }

  // Shows the names that have `text` in them, and those above. What was never opened is looked into meanwhile.
  search(text) {
    this.text = text.trim().toLowerCase();
    this.place.scrollTop = 0;
    this.list();
    if (this.text) this.look();
    this.tell();
  }

  // Loads what is not loaded, the upper levels first.
  async look(most = LOOKED_MAX) {
    this.most = most;
    if (this.isLooking) return;
    this.isLooking = true;
    this.looked = 0;
    if (!this.hasAsked) {
      this.hasAsked = true;
      await this.loadKeys(this.root).catch(() => false);  // of what is asked next, the failure is told
    }
    const isNew = (node) => node.opens && !node.below && !node.isObject && !node.failure;
    const waiting = [...this.nodes.values()].filter(isNew).sort((a, b) => a.level - b.level);
    let drawn = 0, next = 0;
    const worker = async () => {
      while (this.text && next < waiting.length && this.looked < this.most) {
        const node = waiting[next++];
        ++this.looked;
        await this.load(node, true).catch((failure) => { node.failure = failure.message; });
        for (const each of node.below ?? []) if (isNew(each)) waiting.push(each);
        if (performance.now() - drawn < DRAWN_EACH) continue;
        drawn = performance.now();
        this.list();
        this.tell();
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    this.isLooking = false;
    this.left = waiting.length - next;
    this.list();
    this.tell();
  }

  tell() {
    const { isLooking, looked, left, text, seen } = this;
    const some = `${looked} directories and tables`;
    const words = isLooking ? `Searching, ${some} so far…` : left ? `${some} were searched, not all.` : seen.length ? '' : 'No name has that in it.';
    this.place.setAttribute('aria-busy', String(Boolean(isLooking)));
    this.none.hidden = !text || !words;
    this.none.replaceChildren(words, !isLooking && left ? make('button', { type: 'button', onclick: () => { this.look(); this.tell(); } }, 'Search on') : '');
  }

  onClick(event) {
    const node = event.target.closest('.row')?.node;
    if (!node) return;
    const isSign = event.target.matches('.sign');
    if (node.opens && (isSign || !node.isOpen)) this.toggle(node);
    if (!isSign) location.hash = '#' + node.url;
    this.focus(node);
  }

  onKey(event) {
    const node = event.target.closest('.row')?.node;
    if (!node) return;
    const { seen } = this, { at } = node;
    const moves = {
      ArrowDown: () => this.focus(seen[at + 1]),
      ArrowUp: () => this.focus(seen[at - 1]),
      Home: () => this.focus(seen[0]),
      End: () => this.focus(seen.at(-1)),
      ArrowRight: () => (node.opens && !node.isOpen ? this.open(node) : this.focus(seen[at + 1])),
      ArrowLeft: () => (node.isOpen ? this.close(node) : node.above.level && this.focus(node.above)),
      Enter: () => { location.hash = '#' + node.url; },
      ' ': () => node.opens && this.toggle(node),
    };
    if (!moves[event.key]) return;
    event.preventDefault();
    moves[event.key]();
  }
}
