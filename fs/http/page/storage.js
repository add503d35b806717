// SPDX-License-Identifier: Apache-2.0
// How a file stores what is shown: ROOT's name for it, sizes, compression, and where its baskets and clusters lie.
import { urlOf } from './source.js';
import { size } from './numbers.js';
import { facts, make } from './parts.js';
import { strip } from './strip.js';

const attributesOf = (reading, names) => reading.get(urlOf(names) + '?attributes=all', async (answer) => (await answer.json()).attributes);

const grouped = new Intl.NumberFormat('en');

// Bytes in the file; null: that is not told.
const storedIn = (attributes) => (attributes.stored ? Number(attributes.stored) : null);
const onDisk = (stored) => ['Size on disk', stored === null ? null : size(stored)];

// How many times larger than in the file something is once it is decoded.
const ratioOf = (decoded, stored) => (decoded > 0 && stored > 0 ? (decoded / stored).toPrecision(3) : null);

const spread = (count, least, most, mean, text) => `${grouped.format(count)}` +
  (count > 1 ? `: the smallest ${text(least)}, the largest ${text(most)}, ${text(mean)} in the mean` : count ? ` of ${text(most)}` : '');

// A strip, and below it what is told of the part that is pointed at.
function toldStrip(parts, total, label, ends, textOf) {
  const told = make('p', { class: 'dim' }, ends);
  return make('figure', {}, strip(parts, total, label, (part) => { told.textContent = part ? textOf(part) : ends; }), told);
}

// A section that fills itself: `read` gives its pairs of facts and what stands below them.
function section({ failed }, read) {
  const place = make('div', {}, make('p', { class: 'dim' }, 'Reading…'));
  read().then(([pairs, ...below]) => place.replaceChildren(facts(pairs), ...below.filter(Boolean))).catch(failed(place));
  return make('section', {}, make('h3', {}, 'In the file'), place);
}

// Null: tables that are made of several have none.
async function basketsOf(reading, path) {
  try {
    return await reading.get(urlOf(path) + '.baskets.json', (answer) => answer.json());
  } catch (failure) {
    if (failure.status !== 404) throw failure;
    return null;
  }
}

function basketStrip(found, name) {
  const parts = found.offsets.map((begin, number) => ({ begin, end: begin + found.sizes[number], number }))
    .filter((each) => each.begin !== null && found.sizes[each.number] > 0).sort((a, b) => a.begin - b.begin);
  if (!parts.length) return null;
  const last = parts.reduce((most, each) => Math.max(most, each.end), 0);
  const first = found.offsets.length < found.baskets ? `, the first ${grouped.format(found.offsets.length)} of them` : '';
  const label = `${name} in the file of ${size(found.file_size)}: ${grouped.format(parts.length)}, from byte ${grouped.format(parts[0].begin)} to ${grouped.format(last)}`;
  return toldStrip(parts, found.file_size, label, `${name} in the ${size(found.file_size)} of the file${first}`,
    ({ number, begin, end }) => `${name.slice(0, -1)} ${number}: from entry ${grouped.format(found.first_entries[number])}, ${size(end - begin)} at byte ${grouped.format(begin)}`);
}

// `codecs`: of what lies in the file, which the branch may have been set to differently.
function compressionOf(setting, codecs) {
  const isAsSet = codecs.length === 0 || (codecs.length === 1 && setting.split(':')[0] === codecs[0]);
  return isAsSet ? setting : `${codecs.join(', ')}; the setting is ${setting || 'not known'}`;
}

// `view`: see page.js.
export function columnStorage(path, schema, column, view) {
  const name = schema.kind === 'rntuple' ? 'Pages' : 'Baskets';
  return section(view, async () => {
    const [attributes, found] = await Promise.all([attributesOf(view.reading, path), basketsOf(view.reading, path)]);
    await view.reading.check();
    const stored = storedIn(attributes);
    const ofAll = found && spread(found.baskets, found.smallest, found.largest, found.stored / found.baskets, size) + (found.lost ? `; ${found.lost} lost` : '');
    return [[["ROOT's name", attributes.name], onDisk(stored), ['Size decoded', size(column.size)], ['Ratio', ratioOf(column.size, stored)],
             ['Compression', compressionOf(column.compression, found?.codecs ?? [])], [name, ofAll]], found && basketStrip(found, name)];
  });
}

function clusterStrip(bounds) {
  const parts = bounds.slice(1).map((end, number) => ({ begin: bounds[number], end, number }));
  const total = bounds.at(-1);
  if (!total) return null;
  return toldStrip(parts, total, `Clusters: ${grouped.format(parts.length)} in ${grouped.format(total)} entries`, `Clusters in the ${grouped.format(total)} entries`,
    ({ number, begin, end }) => `Cluster ${number}: entries ${grouped.format(begin)} to ${grouped.format(end - 1)}`);
}

// The sizes that are known.
function decodedSize(columns) {
  const known = columns.filter((each) => each.size !== null), sum = known.reduce((all, each) => all + each.size, 0);
  return { sum: known.length === columns.length ? sum : null,
           text: known.length === columns.length ? size(sum) : `${size(sum)}, and ${columns.length - known.length} columns not known yet` };
}

// The settings of most columns first.
function settingsOf(columns) {
  const counts = new Map();
  for (const { compression } of columns) if (compression) counts.set(compression, (counts.get(compression) ?? 0) + 1);
  const sorted = [...counts].sort((a, b) => b[1] - a[1]);
  return sorted.length > 1 ? sorted.map(([setting, count]) => `${setting} (${count} columns)`).join(', ') : sorted[0]?.[0];
}

export function tableStorage(table, schema, view) {
  return section(view, async () => {
    const attributes = await attributesOf(view.reading, table);
    await view.reading.check();
    const stored = storedIn(attributes), decoded = decodedSize(schema.columns), bounds = schema.clusters;
    const sizes = bounds.slice(1).map((end, i) => end - bounds[i]).sort((a, b) => a - b);
    const entries = (count) => `${grouped.format(Math.round(count))} entries`;
    return [[["ROOT's name", attributes.name], ['Class', attributes.class], ['Cycle', attributes.cycle], onDisk(stored),
             ['Size decoded', decoded.text], ['Ratio', ratioOf(decoded.sum, stored)], ['Compression, as set', settingsOf(schema.columns)],
             ['Clusters', spread(sizes.length, sizes[0], sizes.at(-1), bounds.at(-1) / sizes.length, entries)]], clusterStrip(bounds)];
  });
}

// `decoded`: the size of its bytes.
export function objectStorage(names, view) {
  return section(view, async () => {
    const decodedOf = view.reading.get(urlOf([...names, 'object.bin']), (answer) => Number(answer.headers.get('Content-Length')), {}, 'HEAD');
    const [attributes, decoded] = await Promise.all([attributesOf(view.reading, names), decodedOf]);
    const stored = storedIn(attributes);
    return [[["ROOT's name", attributes.name], ['Title', attributes.title], ['Class', attributes.class], ['Cycle', attributes.cycle],
             onDisk(stored), ['Size decoded', size(decoded)], ['Ratio', ratioOf(decoded, stored)]]];
  });
}
