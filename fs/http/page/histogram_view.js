// SPDX-License-Identifier: Apache-2.0
// The histogram of a column of numbers: the server's, of all values. What it is of the first ones is shown until that is there, and
// of columns so large that reading all is to be asked for.
import { chart } from './chart.js';
import { drawnAlone } from './draw_view.js';
import { make } from './parts.js';
import { arrayType, decode, histogram, shown } from './numbers.js';
import { Moved } from './reading.js';
import { isGivenUp, urlOf } from './source.js';
import { columnName } from './table_view.js';

const BINS = 100, FIRST_BYTES = 256 << 10, PIECE = 4 << 20, EXACT = 2 ** 53;
const HERE_MAX = 5_000_000, ALL_MAX = 100_000_000;  // values that are read here, and by the server without being asked
const PATIENCE = 150;  // ms in which a picture stays that is there already

// A number of bins that can be drawn.
const binsOf = (text) => Math.round(Math.min(1000, Math.max(1, Number(text) || BINS)));

// Of "LO:HI"; null: the whole one.
function rangeOf(text) {
  const range = (text ?? '').split(':').map(Number);
  return range.length === 2 && range.every(Number.isFinite) && range[0] < range[1] ? range : null;
}

// Reads piece by piece, and tells how far it is.
async function readValues(reading, path, column, tell) {
  const each = arrayType(column.dtype).BYTES_PER_ELEMENT;
  const all = column.size === null ? HERE_MAX * each : Math.min(column.size, HERE_MAX * each);
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

// The first values, and how many there are; null: they cannot be read.
async function readFirst(reading, path, column) {
  try {
    const { total, first } = await reading.beginning(path, FIRST_BYTES);
    return { values: decode(first.slice().buffer, column.dtype), total: total / arrayType(column.dtype).BYTES_PER_ELEMENT };
  } catch {
    return null;
  }
}

// What the server knows of all values (COLUMN.stats.json), in the form of histogram(). Null: a Number does not hold its values, or
// its axis does not reach them.
function ofSummary(stats) {
  const missing = stats.nan + stats.infinities + stats.negative_infinities, { low, high, counts } = stats.histogram ?? { low: 0, high: 1, counts: Array(BINS).fill(0) };
  const inside = counts.reduce((sum, each) => sum + each, 0);
  if (inside !== stats.values - missing || stats.deviation === null && inside > 0) return null;
  return { counts, origin: 0, low, high, inside, mean: stats.mean, deviation: stats.deviation, below: 0, above: 0, missing, of: stats.values,
           more: inside ? `; from ${shown(stats.min)} to ${shown(stats.max)}, median ${shown(stats.quantiles['0.5'])}` : '' };
}

// The same of a drawing in one range (object.json, a TH1D), in which all that is no number lies above.
function ofDrawing(drawn, stats) {
  const bins = drawn.fXaxis.fNbins, low = drawn.fXaxis.fXmin, high = drawn.fXaxis.fXmax, counts = drawn.fArray.slice(1, bins + 1);
  const inside = drawn.fTsumw, mean = drawn.fTsumwx / inside, width = (high - low) / bins;
  let square = drawn.fTsumwx2 / inside - mean * mean;
  if (!(square > 1e-9 * mean * mean)) {  // what is left of such sums is rounding
    const middle = counts.reduce((sum, each, bin) => sum + each * bin, 0) / inside;
    square = counts.reduce((sum, each, bin) => sum + each * ((bin - middle) * width) ** 2, 0) / inside;
  }
  return { counts, origin: 0, low, high, inside, mean, deviation: Math.sqrt(Math.max(0, square)), below: drawn.fArray[0] - stats.negative_infinities,
           above: drawn.fArray[bins + 1] - stats.nan - stats.infinities, missing: stats.nan + stats.infinities + stats.negative_infinities,
           of: stats.values };
}

// Reads what the server draws of all values.
class Drawn {
  constructor(reading, table, path, column) { Object.assign(this, { reading, table, path, column, known: null, last: null, key: '' }); }

  stats() {
    this.known ??= this.reading.get(urlOf(this.path) + '.stats.json', (answer) => answer.json()).catch((failure) => { this.known = null; throw failure; });
    return this.known;
  }

  // Null: see ofSummary().
  async histogram(bins, range) {
    const key = [bins, range].join(';');
    if (this.key === key) return this.last;
    const stats = this.stats(), isWhole = bins === BINS && !range;
    const drawn = isWhole ? null : this.reading.get(urlOf([...this.table, drawnAlone(this.column, bins, range), 'object.json']), (answer) => answer.json());
    const [known, object] = await Promise.all([stats, drawn]);
    const all = [known.min, known.max].every((each) => Math.abs(each) <= EXACT || !/[iu]8/.test(this.column.dtype)) ? ofSummary(known) : null;
    await this.reading.check();
    [this.last, this.key] = [all && object ? ofDrawing(object, known) : all, key];
    return this.last;
  }
}

function toldOf(found, read) {
  const origin = found.origin ? found.origin + ' + ' : '';
  return `${read} in the range ${found.inside}` +
    (found.inside ? `, mean ${origin}${shown(found.mean)}, standard deviation ${shown(found.deviation)}` : '') + `; below ${found.below}, above ${found.above}` +
    (found.missing ? `, not finite ${found.missing}` : '') + (found.more ?? '');
}

// `view`: see page.js.
export function histogramView(table, path, column, { reading, served, given, keep, failed }) {
  const figure = make('figure', { 'aria-busy': 'true' }, make('p', { class: 'dim' }, 'Reading…'));
  const bins = make('input', { type: 'number', min: 1, max: 1000, value: binsOf(given.get('columns') ?? BINS) });
  const log = make('input', { type: 'checkbox', checked: given.has('counts') });
  const whole = make('button', { type: 'button', disabled: true }, 'Whole range');
  const all = make('button', { type: 'button', hidden: true });
  const told = make('p', { class: 'dim' });
  const drawn = new Drawn(reading, table, path, column);
  const each = arrayType(column.dtype).BYTES_PER_ELEMENT;
  const first = column.size !== null && column.size <= FIRST_BYTES ? Promise.resolve(null) : readFirst(reading, path, column);
  // `refused`: { key, text }, what the server does not draw, and why.
  let here = null, refused = null, soFar = '', range = rangeOf(given.get('zoom')), turn = 0, isAsked = false, isSeen = false, done = 0;

  const total = async () => (column.size === null ? (await first)?.total : column.size / each);
  const ofTotal = (count, most) => (most === undefined || most === null ? String(count) : `${count} of ${most}`);
  function paint(found, read, isBusy) {
    isSeen = true;
    figure.setAttribute('aria-busy', String(isBusy));
    figure.replaceChildren(chart(found, columnName(column), log.checked, figure.clientWidth, (wanted) => { range = wanted; draw(); }));
    soFar = told.textContent = toldOf(found, read);
  }
  // Without the server: what it is asked for, or cannot do.
  async function showHere(mine, most) {
    here ??= readValues(reading, path, column, (share) => {
      const text = `Reading… ${Math.round(100 * share)} %`;
      if (isSeen) told.textContent = `${soFar} ${text}`; else figure.firstChild.textContent = text;
    });
    const values = await here;
    const why = refused && values.length !== most ? ` not all, for: ${refused.text};` : '';
    if (mine === turn) paint(histogram(values, binsOf(bins.value), range), `${ofTotal(values.length, most)} values read;${why}`, false);
  }
  // The first values while the others are read, unless that takes no time.
  async function showFirst(mine, most) {
    if (isSeen) await new Promise((wake) => setTimeout(wake, PATIENCE));
    const some = await first;
    if (mine !== turn || !some || done === mine) return;
    paint(histogram(some.values, binsOf(bins.value), range), `Only the first ${ofTotal(some.values.length, most)} values so far, the others are being read;`, true);
  }
  async function showAll(mine, most, key) {
    figure.setAttribute('aria-busy', 'true');
    showFirst(mine, most).catch(failed(figure));
    try {
      const found = await drawn.histogram(binsOf(bins.value), range);
      done = mine;
      if (mine !== turn) return;
      if (found) return paint(found, `${found.of} of ${found.of} values read;`, false);
    } catch (failure) {
      done = mine;
      if (failure instanceof Moved || isGivenUp(failure)) throw failure;
      if (mine === turn) refused = { key, text: failure.message };
    }
    if (mine === turn) await showHere(mine, most);
  }
  async function show() {
    const mine = ++turn, count = binsOf(bins.value), key = [count, range].join(';');
    if (refused?.key !== key) refused = null;
    keep({ columns: count !== BINS && count, counts: log.checked && 'log', zoom: range && range.join(':') });
    whole.disabled = range === null;
    const most = await total();
    if (mine !== turn) return;
    all.hidden = isAsked || !(most > (served.isRemote ? HERE_MAX : ALL_MAX));
    all.textContent = `Read all ${most} values`;
    await (all.hidden && !refused ? showAll(mine, most, key) : showHere(mine, most));
  }
  const draw = () => show().catch(failed(figure));
  bins.addEventListener('change', () => { bins.value = binsOf(bins.value); });
  for (const input of [bins, log]) input.addEventListener('input', draw);
  whole.addEventListener('click', () => { range = null; draw(); });
  all.addEventListener('click', () => { isAsked = true; draw(); });
  draw();
  return make('section', {}, make('h3', {}, 'Histogram'), make('div', { class: 'bar' }, make('label', {}, 'Bins ', bins),
    make('label', {}, log, ' Logarithmic'), whole, all, make('span', { class: 'dim' }, 'drag over the plot to zoom')), figure, told);
}
