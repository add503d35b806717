// SPDX-License-Identifier: Apache-2.0
// Parts of something, where they lie in it: baskets in a file, clusters among entries.
import { element } from './chart.js';

const UNITS = 400, HIGH = 10, GAP = 0.3;

// Where parts lie, in units from left to right: [from, to], in order, at most one a unit where they are smaller than that.
function places(parts, total) {
  const found = [];
  for (const { begin, end } of parts) {
    const from = (begin / total) * UNITS, to = Math.min(UNITS, Math.max((end / total) * UNITS, from + 1)), before = found.at(-1);
    if (!before || to > before[1]) found.push([Math.min(Math.max(from, before?.[1] ?? 0), UNITS - 0.5), to]);
  }
  return found;
}

// The number of the part at `place`, or of the nearest.
function partAt(parts, place) {
  let low = 0, high = parts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (parts[middle].begin <= place) low = middle; else high = middle - 1;
  }
  const next = parts[low + 1];
  return next && next.begin - place < place - parts[low].end ? low + 1 : low;
}

// `parts`: [{ begin, end }], some, in order, in what goes from 0 to `total`. `label`: what is seen, in words. `point(part)` is called
// with the one under the pointer, and with null once there is none.
export function strip(parts, total, label, point) {
  const svg = element('svg', { class: 'strip', viewBox: `0 0 ${UNITS} ${HIGH}`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label });
  const draw = ([from, to]) => `M${from.toFixed(2)} 0h${Math.max(to - from - (to - from > 1 ? GAP : 0), 0.5).toFixed(2)}v${HIGH}H${from.toFixed(2)}z`;
  svg.append(element('path', { d: places(parts, total).map(draw).join('') }));
  svg.addEventListener('pointermove', (event) => {
    const box = svg.getBoundingClientRect();
    point(parts[partAt(parts, ((event.clientX - box.left) / box.width) * total)]);
  });
  svg.addEventListener('pointerleave', () => point(null));
  return svg;
}
