// SPDX-License-Identifier: Apache-2.0
// A histogram as SVG. Dragging over it calls zoom([low, high]); a double click, zoom(null).

const WIDTH_MIN = 300, WIDTH_MAX = 760, HEIGHT = 320, LEFT = 64, RIGHT = 12, TOP = 12, BOTTOM = 40, TICKS_MAX = 8, LETTER = 6.5, GAP = 12;

export function element(name, attributes, text) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// A round number: from `low` to `high` it goes about `count` times.
export function stepOf(low, high, count) {
  const raw = high / count - low / count, power = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].find((each) => each * power >= raw) * power;
}

export function ticks(low, high, step) {
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9 && found.length < 50; at += step)
    found.push(Math.abs(at) < step * 1e-9 ? 0 : at);
  return found;
}

// With as many digits as tell it from x + step.
export function label(x, step) {
  if (x === 0) return '0';
  const power = (value) => Math.floor(Math.log10(Math.abs(value)) + 1e-9);
  const digits = Math.min(17, Math.max(1, power(x) - power(step) + 1));
  const isShort = digits <= 6 && (Math.abs(x) >= 1e6 || Math.abs(x) < 1e-4);
  return isShort ? x.toExponential(digits - 1) : String(Number(x.toPrecision(digits)));
}

// The smallest step with room for the labels.
function stepBelow({ low, high }, width) {
  let step = 0;
  for (let count = TICKS_MAX; count >= 2; --count) {
    step = stepOf(low, high, count);
    const places = ticks(low, high, step), widest = Math.max(...places.map((at) => label(at, step).length));
    if (places.length < 2 || widest * LETTER + GAP <= (width - LEFT - RIGHT) / (high / step - low / step)) break;
  }
  return step;
}

function axisBelow(svg, found, name, width, shareOf) {
  const step = stepBelow(found, width), base = HEIGHT - BOTTOM;
  for (const at of ticks(found.low, found.high, step)) {
    const place = LEFT + (width - LEFT - RIGHT) * shareOf(at);
    svg.append(element('path', { class: 'axis', d: `M${place} ${base}v5` }),
               element('text', { x: place, y: base + 18, 'text-anchor': 'middle' }, label(at, step)));
  }
  const title = found.origin ? `${name} − ${found.origin}` : name;
  svg.append(element('text', { class: 'title', x: width - RIGHT, y: HEIGHT - 4, 'text-anchor': 'end' }, title));
}

// `name`: of what is counted. `room`: pixels that there are, so that numbers can be read on a phone.
export function chart(found, name, isLog, room, zoom) {
  const width = Math.min(WIDTH_MAX, Math.max(WIDTH_MIN, room || WIDTH_MAX));
  const bins = found.counts.length, most = Math.max(1, ...found.counts);
  const base = HEIGHT - BOTTOM, high = base - TOP, wide = width - LEFT - RIGHT;
  const top = isLog ? Math.log10(most * 2) + 0.3 : most * 1.05;
  const y = (count) => base - high * (isLog ? (count > 0 ? (Math.log10(count) + 0.3) / top : 0) : count / top);
  const x = (bin) => LEFT + (wide * bin) / bins;
  const svg = element('svg', { class: 'plot', viewBox: `0 0 ${width} ${HEIGHT}`, role: 'img', 'aria-label': `Histogram of ${name}` });
  let path = `M${LEFT} ${base}`;
  found.counts.forEach((count, bin) => { path += `L${x(bin).toFixed(1)} ${y(count).toFixed(1)}L${x(bin + 1).toFixed(1)} ${y(count).toFixed(1)}`; });
  path += `L${width - RIGHT} ${base}`;
  svg.append(element('path', { class: 'fill', d: path + 'Z' }), element('path', { class: 'edge', d: path }));
  svg.append(element('path', { class: 'axis edge', d: `M${LEFT} ${TOP}V${base}H${width - RIGHT}` }));
  const factor = Number.isFinite(found.high - found.low) ? 1 : 0.5;
  const range = found.high * factor - found.low * factor;
  axisBelow(svg, found, name, width, (at) => (at * factor - found.low * factor) / range);
  const step = stepOf(0, most, 7);
  const rows = isLog ? Array.from({ length: Math.floor(Math.log10(most)) + 1 }, (_, power) => 10 ** power) : ticks(0, most, step);
  for (const at of rows) {
    svg.append(element('path', { class: 'axis', d: `M${LEFT - 5} ${y(at)}h5` }),
               element('text', { x: LEFT - 9, y: y(at) + 4, 'text-anchor': 'end' }, label(at, isLog ? at : step)));
  }
  drag(svg, width, (from, to) => zoom([from, to].map((share) => (share === 0 ? found.low : share === 1 ? found.high : (found.low * factor + share * range) / factor))), () => zoom(null));
  return svg;
}

function drag(svg, width, done, reset) {
  let start = null, mark = null;
  const share = (event) => {
    const box = svg.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * width;
    return Math.min(1, Math.max(0, (at - LEFT) / (width - LEFT - RIGHT)));
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
    mark.setAttribute('x', LEFT + from * (width - LEFT - RIGHT));
    mark.setAttribute('width', (to - from) * (width - LEFT - RIGHT));
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
