// SPDX-License-Identifier: Apache-2.0
// A table: what it is, its rows a page at a time, and ways to take it along.
import { expressionIn, isGivenUp, urlOf, viewName } from './source.js';
import { arrayType, decode, isNumeric, itemsOfShape, shown } from './numbers.js';
import { frameLine, uprootLine } from './served.js';
import { tableStorage } from './storage.js';
import { copyLines, downloads, facts, make, opened, quoted, scrolled } from './parts.js';

const ROWS = 50, COLUMNS = 12, ITEMS_SHOWN = 6, CHARS_SHOWN = 200, BYTES_MAX = 1 << 20;

// Columns that have values of their own, not places of others.
export const shownColumns = (schema) => schema.columns.filter((each) => ['values', 'chars', 'raw'].includes(each.role));

export function columnName(column) {
  const name = column.path.replace(/\/(values|chars|offsets)\.\w+$/, '').replace(/(\.raw)?\.[a-z]\d+(x\d+)*$/, '');
  return name || column.path;
}

export function columnType(column) {
  const item = column.role === 'chars' ? 'string' : column.role === 'raw' ? 'raw' : column.dtype.replace(/^[<|]/, '');
  const lists = column.lists.length - (column.role === 'chars' ? 1 : 0);
  return 'list<'.repeat(Math.max(0, lists)) + item + '>'.repeat(Math.max(0, lists)) + (column.shape.length ? `[${column.shape}]` : '');
}

// Values of `count` items of the file from item `first` on; fewer where they are more than BYTES_MAX.
async function numbers(reading, names, column, first, count) {
  const each = arrayType(column.dtype).BYTES_PER_ELEMENT * itemsOfShape(column);
  return decode(await reading.bytes(names, first * each, Math.min((first + count) * each, first * each + BYTES_MAX)), column.dtype);
}

// `values`: the first of `count`; fewer: the others were not read.
function itemText(values, count) {
  const some = Array.from(values.subarray(0, ITEMS_SHOWN), shown);
  return '[' + (some.length < count ? [...some, '…'] : some).join(', ') + ']';
}

function charsText(values, count) {
  const isCut = values.length < count;
  return new TextDecoder().decode(values, { stream: isCut }) + (isCut ? '…' : '');
}

// Where the items of entries begin, then where the last ends.
async function placesOf(reading, table, column, first, count) {
  if (column.lists.length === 0) return Array.from({ length: count + 1 }, (_, i) => first + i);
  const file = [...table, ...column.lists[0].split('/')];
  return Array.from(decode(await reading.bytes(file, first * 8, (first + count + 1) * 8), '<i8'), Number);
}

// The cells of one column for entries from `first` on.
async function cells(reading, table, column, first, count) {
  const path = [...table, ...column.path.split('/')];
  const width = itemsOfShape(column);
  const isText = column.role === 'chars';
  if (!isText && !isNumeric(column)) return Array(count).fill('(raw)');
  if (column.lists.length > 1) return Array(count).fill('[[…]]');
  const places = await placesOf(reading, table, column, first, count);
  if (places.length < 2) return [];
  const most = isText ? CHARS_SHOWN : ITEMS_SHOWN, wanted = places.at(-1) - places[0];
  const values = await numbers(reading, path, column, places[0], wanted);
  const isCut = wanted * width * values.BYTES_PER_ELEMENT > BYTES_MAX;
  return Promise.all(places.slice(1).map(async (end, i) => {
    const items = (end - places[i]) * width, from = (places[i] - places[0]) * width;
    let some = values.subarray(from, from + Math.min(items, most));
    if (isCut && some.length < Math.min(items, most))  // late ones are read on their own
      some = (await numbers(reading, path, column, places[i], Math.min(end - places[i], most))).subarray(0, most);
    if (isText) return charsText(some, items);
    return column.lists.length || width > 1 ? itemText(some, items) : shown(some[0] ?? '');
  }));
}

// What the server says of a column that cannot be read stands in its cells; anything else is of the whole table.
function ofOneColumn(failure) {
  if (!failure.status) throw failure;
  return [failure.message];
}

function rowsView(table, schema, { reading, kept, failed }) {
  const columns = shownColumns(schema);
  const place = scrolled('Rows');
  const where = make('span', { class: 'dim' });
  let turn = 0;
  let first = kept.first < schema.entries ? kept.first : 0, from = kept.from < columns.length ? kept.from : 0;
  const button = (text, move) => make('button', { type: 'button', onclick: () => { move(); show().catch(failed(place)); } }, text);
  const back = button('← entries', () => { first = Math.max(0, first - ROWS); });
  const next = button('entries →', () => { first += ROWS; });
  const left = button('← columns', () => { from = Math.max(0, from - COLUMNS); });
  const right = button('columns →', () => { from += COLUMNS; });
  async function show() {
    const mine = ++turn, some = columns.slice(from, from + COLUMNS);
    const count = Math.min(ROWS, schema.entries - first);
    back.disabled = first === 0;
    next.disabled = first + ROWS >= schema.entries;
    left.disabled = from === 0;
    right.disabled = from + COLUMNS >= columns.length;
    where.textContent = `entries ${first} to ${first + count - 1} of ${schema.entries}, ` +
                        `columns ${from + 1} to ${from + some.length} of ${columns.length}`;
    Object.assign(kept, { first, from });
    const all = await Promise.all(some.map((each) => cells(reading, table, each, first, count).catch(ofOneColumn)));
    await reading.check();
    if (mine !== turn) return;
    const head = make('tr', {}, make('th', { scope: 'col' }, 'entry'), ...some.map((each) => make('th', { scope: 'col' },
      make('a', { href: '#' + urlOf([...table, ...each.path.split('/')]), title: columnType(each) }, columnName(each)))));
    const body = Array.from({ length: count }, (_, i) => make('tr', {}, make('td', { class: 'number dim' }, String(first + i)),
      ...all.map((each, at) => make('td', { class: some[at].lists.length || some[at].role !== 'values' ? '' : 'number' }, each[i] ?? ''))));
    place.replaceChildren(make('table', {}, make('thead', {}, head), make('tbody', {}, ...body)));
  }
  if (schema.entries > 0 && columns.length > 0) {
    show().catch(failed(place));
  } else {
    where.textContent = `${schema.entries} entries, ${columns.length} columns`;
    for (const each of [back, next, left, right]) each.disabled = true;
  }
  return make('section', {}, make('h3', {}, 'Rows'), make('div', { class: 'bar' }, back, next, left, right, where), place);
}

const WHERE = '.where=';

// Leads to the entries that an expression chooses, which are a table of their own; without one to all.
function whereForm(whole, expression, { reading }) {
  const input = make('input', { type: 'text', value: expression ?? '', class: 'expression', placeholder: 'an expression, as n>2',
                                spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off' });
  const told = make('p', { 'aria-live': 'polite' });
  const tell = (kind, text) => { told.className = kind; told.textContent = text; };
  const form = make('form', { class: 'bar' }, make('label', {}, 'Entries where ', input), make('button', { type: 'submit' }, 'Show'));
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const text = input.value.trim(), to = text ? [...whole, viewName(WHERE, text)] : whole;
    tell('dim', 'Reading…');
    try {
      if (text) await reading.get(urlOf([...to, '.schema.json']), () => null);
      tell('dim', '');
      location.hash = '#' + urlOf(to);
    } catch (failure) {
      if (!isGivenUp(failure)) tell('error', failure.message);
    }
  });
  return make('div', {}, form, told);
}

// `view`: see page.js.
export function tableView(table, schema, view) {
  const { served } = view;
  const url = location.origin + urlOf(table);
  const inside = table.join('/');
  const expression = expressionIn(WHERE, table.at(-1)), whole = expression === null ? table : table.slice(0, -1);
  return [
    make('h2', {}, whole.at(-1)), make('p', { class: 'dim' }, schema.title),
    facts([['Format', schema.kind], ['Entries', schema.entries], ['Columns', shownColumns(schema).length], ['No columns', schema.reason]]),
    downloads([['parquet', urlOf(table) + '.parquet'], ['arrow', urlOf(table) + '.arrow'], ['csv', urlOf(table) + '.csv'],
               ['jsonl', urlOf(table) + '.jsonl']]),
    opened([['schema', urlOf([...table, '.schema.json'])], ['files', urlOf(table) + '/']]),
    whereForm(whole, expression, view),
    rowsView(table, schema, view),
    tableStorage(table, schema, view),
    copyLines([
      served.isPlain && ['a mount', served.mountLine()],
      ['polars', `pl.read_parquet(${JSON.stringify(url + '.parquet')} + "?token=" + TOKEN)`],
      ['DuckDB', `select * from 'mnt/${inside.replaceAll("'", "''")}.parquet' limit 10;  -- of a mount`],
      ['uproot', uprootLine(served, table)],
      ['RDataFrame', frameLine(served, table)],
      ['curl', `curl -H "Authorization: Bearer $TOKEN" -O ${quoted(url + '.parquet')}`],
      served.canGive(false) && ['tfilefs', `${served.lineOf('cat', table, '.csv')} | head`],
    ]),
  ];
}
