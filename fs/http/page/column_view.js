// SPDX-License-Identifier: Apache-2.0
// A column: what it is, its histogram or its most frequent strings, and ways to take it along.
import { urlOf } from './source.js';
import { arrayType, decode, histogram, isNumeric, itemsOfShape, shown } from './numbers.js';
import { columnName, columnType } from './table_view.js';
import { chart } from './chart.js';
import { canDraw, columnLine, drawView } from './draw_view.js';
import { columnStorage } from './storage.js';
import { isPart, uprootLine, uprootName } from './served.js';
import { copyLines, downloads, facts, make, quoted, scrolled } from './parts.js';

const VALUES_MAX = 5_000_000, PIECE = 4 << 20, STRINGS_MAX = 100_000, CHARS_MAX = 4 << 20, BINS = 100;

// Reads piece by piece, and tells how far it is.
async function readValues(reading, path, column, tell) {
  const each = arrayType(column.dtype).BYTES_PER_ELEMENT;
  const all = column.size === null ? VALUES_MAX * each : Math.min(column.size, VALUES_MAX * each);
  const parts = [];
  let at = 0;
  while (at < all) {
    const piece = await reading.bytes(path, at, Math.min(all, at + PIECE));
    if (piece.byteLength === 0) break;
    parts.push(decode(piece, column.dtype));
    at += piece.byteLength;
    tell(at / all);
  }
  await reading.check();
  const values = new (arrayType(column.dtype))(parts.reduce((sum, part) => sum + part.length, 0));
  parts.reduce((place, part) => { values.set(part, place); return place + part.length; }, 0);
  return values;
}

// A number of bins that can be drawn.
const binsOf = (text) => Math.round(Math.min(1000, Math.max(1, Number(text) || BINS)));

function histogramView(path, column, { reading, given, keep, failed }) {
  const figure = make('figure', {}, make('p', { class: 'dim' }, 'Reading…'));
  const bins = make('input', { type: 'number', min: 1, max: 1000, value: binsOf(given.get('columns') ?? BINS) });
  const log = make('input', { type: 'checkbox', checked: given.has('counts') });
  const whole = make('button', { type: 'button', disabled: true }, 'Whole range');
  const told = make('p', { class: 'dim' });
  let values = null, range = rangeOf(given.get('zoom'));
  function show() {
    if (!values) return;
    const count = binsOf(bins.value);
    keep({ columns: count !== BINS && count, counts: log.checked && 'log', zoom: range && range.join(':') });
    const found = histogram(values, count, range);
    whole.disabled = range === null;
    figure.replaceChildren(chart(found, columnName(column), log.checked, figure.clientWidth, (wanted) => { range = wanted; show(); }));
    const total = column.length === null ? '' : ` of ${column.length * itemsOfShape(column)}`;
    const origin = found.origin ? found.origin + ' + ' : '';
    told.textContent = `${values.length}${total} values read; in the range ${found.inside}` +
      (found.inside ? `, mean ${origin}${shown(found.mean)}, standard deviation ${shown(found.deviation)}` : '') + `; below ${found.below}, above ${found.above}` +
      (found.missing ? `, not finite ${found.missing}` : '');
  }
  bins.addEventListener('change', () => { bins.value = binsOf(bins.value); });
  for (const input of [bins, log]) input.addEventListener('input', show);
  whole.addEventListener('click', () => { range = null; show(); });
  readValues(reading, path, column, (share) => { if (share < 1) figure.firstChild.textContent = `Reading… ${Math.round(100 * share)} %`; })
    .then((read) => { values = read; show(); })
    .catch(failed(figure));
  return make('section', {}, make('h3', {}, 'Histogram'), make('div', { class: 'bar' }, make('label', {}, 'Bins ', bins),
    make('label', {}, log, ' Logarithmic'), whole, make('span', { class: 'dim' }, 'drag over the plot to zoom')), figure, told);
}

// Of "LO:HI"; null: the whole one.
function rangeOf(text) {
  const range = (text ?? '').split(':').map(Number);
  return range.length === 2 && range.every(Number.isFinite) && range[0] < range[1] ? range : null;
}

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
    isNumeric(column) ? histogramView(path, column, view) : column.role === 'chars' && column.lists.length === 1 ? stringsView(table, path, column, view) : null,
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
