// SPDX-License-Identifier: Apache-2.0
// A column: what it is, its histogram or its most frequent strings, and ways to take it along.
import { urlOf } from './source.js';
import { decode, isNumeric } from './numbers.js';
import { columnName, columnType } from './table_view.js';
import { canDraw, columnLine, drawView } from './draw_view.js';
import { histogramView } from './histogram_view.js';
import { columnStorage } from './storage.js';
import { isPart, uprootLine, uprootName } from './served.js';
import { copyLines, downloads, facts, make, quoted, scrolled } from './parts.js';

const STRINGS_MAX = 100_000, CHARS_MAX = 4 << 20;

function stringsView(table, path, column, { reading, failed }) {
  const place = make('div', {}, make('p', { class: 'dim' }, 'Reading…'));
  (async () => {
    const ends = decode(await reading.bytes([...table, ...column.lists.at(-1).split('/')], 0, (STRINGS_MAX + 1) * 8), '<i8');
    const chars = new Uint8Array(await reading.bytes(path, 0, Math.min(CHARS_MAX, Number(ends.at(-1) ?? 0))));
    await reading.check();
    const text = new TextDecoder(), counts = new Map();
    let read = 0;
    for (; read + 1 < ends.length && Number(ends[read + 1]) <= chars.length; ++read) {
      const word = text.decode(chars.subarray(Number(ends[read]), Number(ends[read + 1])));
      counts.set(word, (counts.get(word) || 0) + 1);
    }
    const most = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 30);
    place.replaceChildren(make('p', { class: 'dim' }, `${counts.size} different ones of the first ${read}`),
      scrolled('Most frequent', make('table', {}, make('tbody', {}, ...most.map(([word, count]) =>
        make('tr', {}, make('td', {}, word), make('td', { class: 'number' }, String(count))))))));
  })().catch(failed(place));
  return make('section', {}, make('h3', {}, 'Most frequent'), place);
}

// `view`: see page.js.
export function columnView(table, schema, column, view) {
  const { served } = view;
  const path = [...table, ...column.path.split('/')];
  const inside = path.join('/'), name = columnName(column);
  const url = location.origin + urlOf(path);
  return [
    make('h2', {}, name), make('p', { class: 'dim' }, column.title),
    facts([['Table', make('a', { href: '#' + urlOf(table) }, table.join('/'))], ['Branch', [column.branch, ...column.field].join(' . ')],
           ['Type', columnType(column)], ['Class', column.class], ['Items', column.length], ['Lists', column.lists.join(', ')],
           ['Not decoded', column.reason]]),
    downloads([[column.path.split('/').at(-1), urlOf(path)], ['npy', urlOf(path) + '.npy'],
               ...column.lists.map((each) => [each.split('/').at(-1), urlOf([...table, ...each.split('/')])])]),
    isNumeric(column) ? histogramView(table, path, column, view) : column.role === 'chars' && column.lists.length === 1 ? stringsView(table, path, column, view) : null,
    canDraw(column) ? drawView(table, schema, column, view) : null,
    columnStorage(path, schema, column, view),
    copyLines([
      served.isPlain && ['a mount', served.mountLine()],
      ['NumPy', `np.fromfile(${JSON.stringify('mnt/' + inside)}, ${JSON.stringify(column.dtype)})  # of a mount`],
      ['Python', `np.frombuffer(urllib.request.urlopen(${JSON.stringify(url)} + "?token=" + TOKEN).read(), ${JSON.stringify(column.dtype)})`],
      ['uproot', uprootLine(served, table, uprootName(schema, column))],
      ['curl', `curl -H "Authorization: Bearer $TOKEN" -O ${quoted(url)}`],
      served.canGive(column.role !== 'offsets' && !isPart(table)) && ['tfilefs', `${served.lineOf('cat', path)} > ${quoted(column.path.split('/').at(-1))}`],
      canDraw(column) && ['draw', columnLine(table, column, served)],
    ]),
  ];
}
