// SPDX-License-Identifier: Apache-2.0
// How files are read: the last reads, over their places in the file, as TTreePerfStats draws them; and what they come to.
import { size } from './numbers.js';
import { facts, make, scrolled } from './parts.js';
import { ReadsPicture } from './reads_picture.js';

export const READS = '/.tfilefs/reads.json';
const EACH = 1000, FIRST_BYTES = 1 << 15, KEPT = 4096, ROWS = 20;  // ms; bytes of the newest reads; reads; rows of the table

const grouped = new Intl.NumberFormat('en');
const seconds = (value) => (value >= 0.9995 ? value.toFixed(2) + ' s' : value >= 1e-3 ? (value * 1e3).toPrecision(3) + ' ms' : (value * 1e6).toFixed(0) + ' µs');

// What is told, of the first bytes of the text or of all of it. Null: not even all files are. Newest reads first.
function told(text, isWhole) {
  if (isWhole) return { ...JSON.parse(text), isWhole };
  const begin = text.indexOf('"last": [');
  if (begin < 0) return null;
  const lines = text.slice(begin).split('\n').slice(1, -1);
  return { ...JSON.parse(text.slice(0, begin) + '"last": []}'), last: lines.map((each) => JSON.parse(each.replace(/,$/, ''))), isWhole };
}

// From `before`, of the same names, to `now`.
const since = (now, before) => Object.fromEntries(Object.entries(now).map(([name, value]) => [name, typeof value === 'number' ? value - (before?.[name] ?? 0) : value]));

// Keeps what was told, as the server keeps only the last.
class Log {
  constructor(reading) {
    this.reading = reading;
    this.clear();
  }

  clear() {
    this.reads = [];  // the oldest first
    this.files = [];
    this.cache = null;
    this.count = this.uptime = 0;
    this.startAgain();
  }

  // What was read before is left out.
  startAgain() {
    this.from = this.count;
    this.before = { files: this.files, cache: this.cache };
  }

  countsOf(file) { return { ...since(file, this.before.files.find((each) => each.file === file.file)), size: file.size }; }

  ask(headers) {
    return this.reading.get(READS, async (answer) => {
      const whole = Number(answer.headers.get('Content-Range')?.split('/')[1] ?? 0), bytes = await answer.arrayBuffer();
      return told(new TextDecoder().decode(bytes), answer.status !== 206 || bytes.byteLength >= whole);
    }, headers);
  }

  // Of another server nothing is kept.
  forget(now) {
    if (now.reads < this.count || now.uptime_seconds < this.uptime) this.clear();
  }

  async look() {
    let now = await this.ask({ Range: `bytes=0-${FIRST_BYTES - 1}` });
    if (now) this.forget(now);
    if (!now || (!now.isWhole && (now.last.at(-1)?.number ?? Infinity) > this.count + 1)) now = await this.ask({});
    this.forget(now);
    const oldest = now.last.at(-1)?.number ?? 0;  // newer ones are told anew: of which entries they are comes later
    this.reads = [...this.reads.filter((each) => each.number < oldest), ...now.last.reverse()].slice(-KEPT);
    Object.assign(this, { files: now.files, cache: now.cache, count: now.reads, uptime: now.uptime_seconds });
  }
}

function figuresOf(file, cache) {
  const { reads, bytes, seeks, bytes_between: between } = file, mean = reads ? bytes / reads : 0;
  return [facts([
    ['Bytes read', `${size(bytes)} of the ${size(file.size)} of the file`], ['Reads', grouped.format(reads)], ['Mean read', reads ? size(mean) : null],
    ['Efficiency', bytes ? `${(file.size / bytes).toPrecision(3)} (bytes of the file / bytes read)` : null],
    ['Seeks', reads ? `${grouped.format(seeks)}${seeks ? `, ${size(between / seeks)} between two reads in the mean` : ''}` : null],
    ['Time reading', reads ? seconds(file.seconds) + (file.seconds > 0 ? `, ${size(bytes / file.seconds)}/s` : '') : null],
  ]), make('h3', {}, 'All files'), facts([
    ['Cache', `${grouped.format(cache.hits)} hits, ${grouped.format(cache.misses)} misses`], ['Decompression', `${seconds(cache.decode_seconds)} of processors, to ${size(cache.bytes_decoded)}`],
    ['Read for nothing', size(cache.extra_bytes)], ['Baskets read ahead', `${grouped.format(cache.prefetched_chunks)}, of them used ${grouped.format(cache.prefetched_used)}`],
  ])];
}

export const entriesOf = ({ entries }) => (entries ? `${grouped.format(entries[0])} to ${grouped.format(entries[1] - 1)}` : '');

function rowOf(read) {
  const cells = [`${read.at.toFixed(3)} s`, grouped.format(read.offset), size(read.bytes), seconds(read.seconds)];
  return make('tr', {}, ...cells.map((text) => make('td', { class: 'number' }, text)), make('td', {}, read.from), make('td', {}, entriesOf(read)));
}

const tableOf = (reads) => make('table', {}, make('thead', {}, make('tr', {}, ...['At', 'Byte', 'Size', 'Took', 'From', 'Entries'].map((name) => make('th', { scope: 'col' }, name)))),
  make('tbody', {}, ...reads.slice(-ROWS).reverse().map(rowOf)));

const textOf = (read) => `${size(read.bytes)} at byte ${grouped.format(read.offset)}, from ${read.from}, ${read.at.toFixed(3)} s after the start, in ${seconds(read.seconds)}` +
  (read.entries ? `, of entries ${entriesOf(read)}` : '');

// The file whose reads are shown: the wanted one, else the one that was read last.
function fileOf(log, wanted) {
  const last = log.reads.at(-1)?.file;
  return log.files.find((each) => each.name === wanted) ?? log.files.find((each) => each.file === last) ?? log.files[0];
}

// The choices above the picture, and what is `chosen`; `tell` says which files there are. `changed` draws anew.
function choicesOf({ given, keep }, changed) {
  const chosen = { axis: given.get('x') === 'entries' ? 'entries' : 'time', file: given.get('file'), isPaused: false };
  const option = (value, text, isChosen) => make('option', { value, selected: isChosen }, text);
  const axis = make('select', {}, option('time', 'time', chosen.axis === 'time'), option('entries', 'entries', chosen.axis === 'entries'));
  axis.addEventListener('change', () => { chosen.axis = axis.value; keep({ x: axis.value === 'time' ? '' : axis.value }); changed(); });
  const file = make('select', {}), files = make('label', { hidden: true }, 'File ', file);
  file.addEventListener('change', () => { chosen.file = file.value; keep({ file: file.value }); changed(); });
  const pause = make('button', { type: 'button' }, 'Pause');
  pause.addEventListener('click', () => { chosen.isPaused = !chosen.isPaused; pause.textContent = chosen.isPaused ? 'Go on' : 'Pause'; });
  const tell = (all, shown) => {
    files.hidden = all.length < 2;
    const names = all.map((each) => each.name);
    if (names.join('\0') !== [...file.options].map((each) => each.value).join('\0')) file.replaceChildren(...names.map((name) => option(name, name, false)));
    file.value = shown?.name ?? '';
  };
  return { chosen, files, axis: make('label', {}, 'Over ', axis), pause, tell };
}

// `view`: see page.js.
export function readsView(view) {
  const { reading, failed } = view, log = new Log(reading), choices = choicesOf(view, () => draw()), { chosen } = choices;
  const pointed = make('p', { class: 'dim' }), numbers = make('div'), rows = scrolled('The last reads', tableOf([])), name = make('p', { class: 'formula dim' });
  const picture = new ReadsPicture((read) => { pointed.textContent = read ? textOf(read) : picture.text; });
  const trouble = make('div');  // not where the pointer tells something
  const draw = () => {
    const file = fileOf(log, chosen.file), reads = log.reads.filter((each) => each.file === file?.file && each.number > log.from);
    choices.tell(log.files, file);
    name.textContent = file?.name ?? 'No file has been read.';
    picture.draw(reads, file, chosen.axis);
    pointed.textContent = picture.text;
    rows.replaceChildren(tableOf(reads));
    if (!file) return;
    numbers.replaceChildren(...figuresOf(log.countsOf(file), since(log.cache, log.before.cache)));
  };
  const anew = make('button', { type: 'button' }, 'Start again');
  anew.addEventListener('click', () => {
    log.startAgain();
    draw();
  });
  const look = async () => {
    if (reading.left.signal.aborted) return;
    try {
      if (!document.hidden && !chosen.isPaused) {
        await log.look();
        trouble.replaceChildren();
        draw();
      }
    } catch (failure) {
      failed(trouble)(failure);
      if (failure.status !== 0) return;  // else it is there again soon, or not
    }
    setTimeout(look, EACH);
  };
  look();
  return [make('h2', {}, 'Reads'), name, make('div', { class: 'bar' }, choices.files, choices.axis, choices.pause, anew), trouble, picture.figure, pointed,
          make('h3', {}, 'This file'), numbers, make('h3', {}, 'The last reads'), rows];
}
