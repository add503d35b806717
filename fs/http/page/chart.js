// SPDX-License-Identifier: Apache-2.0
// A histogram as SVG. Dragging over it calls zoom([low, high]); a double click, zoom(null).

const WIDTH = 760, HEIGHT = 320, LEFT = 64, RIGHT = 12, TOP = 12, BOTTOM = 34;

function element(name, attributes, text) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// Round numbers from `low` to `high`, about `count` of them.
function ticks(low, high, count) {
  const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((each) => each * power >= raw) * power;
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9 && found.length < 50; at += step)
    found.push(Math.abs(at) < step * 1e-9 ? 0 : at);
  return found;
}

const label = (x) => (x !== 0 && (Math.abs(x) >= 1e6 || Math.abs(x) < 1e-4) ? x.toExponential(1) : String(Number(x.toPrecision(6))));

export function chart(found, title, isLog, zoom) {
  const bins = found.counts.length, most = Math.max(1, ...found.counts);
  const base = HEIGHT - BOTTOM, high = base - TOP, wide = WIDTH - LEFT - RIGHT;
  const top = isLog ? Math.log10(most * 2) + 0.3 : most * 1.05;
  const y = (count) => base - high * (isLog ? (count > 0 ? (Math.log10(count) + 0.3) / top : 0) : count / top);
  const x = (bin) => LEFT + (wide * bin) / bins;
  const svg = element('svg', { class: 'plot', viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': title });
  let path = `M${LEFT} ${base}`;
  found.counts.forEach((count, bin) => { path += `L${x(bin).toFixed(1)} ${y(count).toFixed(1)}L${x(bin + 1).toFixed(1)} ${y(count).toFixed(1)}`; });
  path += `L${WIDTH - RIGHT} ${base}`;
  svg.append(element('path', { class: 'fill', d: path + 'Z' }), element('path', { class: 'edge', d: path }));
  svg.append(element('path', { class: 'axis edge', d: `M${LEFT} ${TOP}V${base}H${WIDTH - RIGHT}` }));
  const spread = found.high - found.low;
  for (const at of ticks(found.low, found.high, 8)) {
    const place = LEFT + (wide * (at - found.low)) / spread;
    svg.append(element('path', { class: 'axis', d: `M${place} ${base}v5` }),
               element('text', { x: place, y: base + 18, 'text-anchor': 'middle' }, label(at)));
  }
  const rows = isLog ? Array.from({ length: Math.floor(Math.log10(most)) + 1 }, (_, power) => 10 ** power) : ticks(0, most, 5);
  for (const at of rows) {
    svg.append(element('path', { class: 'axis', d: `M${LEFT - 5} ${y(at)}h5` }),
               element('text', { x: LEFT - 9, y: y(at) + 4, 'text-anchor': 'end' }, label(at)));
  }
  drag(svg, (from, to) => zoom([found.low + from * spread, found.low + to * spread]), () => zoom(null));
  return svg;
}

function drag(svg, done, reset) {
  let start = null, mark = null;
  const share = (event) => {
    const box = svg.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * WIDTH;
    return Math.min(1, Math.max(0, (at - LEFT) / (WIDTH - LEFT - RIGHT)));
  };
  svg.addEventListener('pointerdown', (event) => {
    start = share(event);
    mark = element('rect', { class: 'zoom', y: TOP, height: HEIGHT - TOP - BOTTOM });
    svg.append(mark);
    svg.setPointerCapture(event.pointerId);
  });
  svg.addEventListener('pointermove', (event) => {
    if (start === null) return;
    const [from, to] = [start, share(event)].sort((a, b) => a - b);
    mark.setAttribute('x', LEFT + from * (WIDTH - LEFT - RIGHT));
    mark.setAttribute('width', (to - from) * (WIDTH - LEFT - RIGHT));
  });
  svg.addEventListener('pointerup', (event) => {
    if (start === null) return;
    const [from, to] = [start, share(event)].sort((a, b) => a - b);
    start = null;
    mark.remove();
    if (to - from > 0.01) done(from, to);
  });
  svg.addEventListener('dblclick', reset);
}
