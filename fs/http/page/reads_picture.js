// SPDX-License-Identifier: Apache-2.0
// Reads of a file in a canvas: up its bytes, to the right the time, or the entries that were read.
import { label, stepOf, ticks } from './chart.js';
import { size } from './numbers.js';
import { make } from './parts.js';

const HEIGHT = 320, WIDTH_MAX = 760, LEFT = 64, RIGHT = 12, TOP = 14, BOTTOM = 40, LEAST = 2, LABEL = 70;  // pixels
const FROM = ['disk', 'kernel', 'disk cache', 'server', 'memory'];
const TEXTS = { kernel: 'kernel, from its pages or a network', memory: 'memory of tfilefs' };

// Who draws has the colours of the page from its elements: a canvas has none.
const coloursOf = (legend) => Object.fromEntries([...legend.children].map((each) => [each.dataset.from, getComputedStyle(each.firstChild).backgroundColor]));

// [from, to] on the axis to the right.
const spanOf = (read, axis) => (axis === 'entries' ? read.entries : [read.at, read.at + read.seconds]);

function rangeOf(reads, axis) {
  let low = axis === 'entries' ? 0 : Infinity, high = -Infinity;
  for (const read of reads) {
    const [from, to] = spanOf(read, axis);
    low = Math.min(low, from);
    high = Math.max(high, to);
  }
  return high > low ? [low, high] : [0, 1];
}

// Units of bytes in which the axis has short numbers.
function unitOf(bytes) {
  const units = [[1e9, 'GB'], [1e6, 'MB'], [1e3, 'kB'], [1, 'bytes']];
  return units.find(([factor]) => bytes >= 2 * factor) ?? units.at(-1);
}

export class ReadsPicture {
  // `point(read)`: what is under the pointer; null: nothing.
  constructor(point) {
    this.canvas = make('canvas', { class: 'reads', role: 'img' });
    this.legend = make('p', { class: 'legend' }, ...FROM.map((from) => {
      const one = make('span', { hidden: true, 'data-from': from }, make('i', { class: from.replace(' ', '-') }), ' ' + (TEXTS[from] ?? from));
      return one;
    }));
    this.figure = make('figure', {}, this.canvas, this.legend);
    this.reads = [];
    this.places = [];  // of reads that are drawn: [read, x, y, width, height]
    this.text = '';
    new ResizeObserver(() => this.paint()).observe(this.figure);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.paint());
    this.canvas.addEventListener('pointermove', (event) => point(this.at(event.offsetX, event.offsetY)));
    this.canvas.addEventListener('pointerleave', () => point(null));
  }

  // `file`: { size, name }; undefined: there is none.
  draw(reads, file, axis) {
    this.reads = axis === 'entries' ? reads.filter((each) => each.entries) : reads;
    Object.assign(this, { axis, fileSize: file?.size || 1 });
    const others = reads.length - this.reads.length;
    const bytes = this.reads.reduce((sum, each) => sum + each.bytes, 0);
    this.text = `${this.reads.length} reads of ${size(bytes)} shown` + (others ? `; ${others} more are of no entries` : '');
    this.canvas.setAttribute('aria-label', `Reads over ${axis === 'entries' ? 'entries' : 'time'} and place in the file: ${this.text}`);
    const known = new Set(this.reads.map((each) => each.from));
    for (const each of this.legend.children) each.hidden = !known.has(each.dataset.from);
    this.paint();
  }

  at(x, y) {
    const near = 3;
    return this.places.findLast(([, left, top, width, height]) => x >= left - near && x <= left + width + near && y >= top - near && y <= top + height + near)?.[0] ?? null;
  }

  paint() {
    const width = Math.min(WIDTH_MAX, this.figure.clientWidth), ratio = window.devicePixelRatio || 1;
    if (!this.axis || width <= LEFT + RIGHT) return;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(HEIGHT * ratio);
    this.canvas.style.width = width + 'px';
    this.canvas.style.height = HEIGHT + 'px';
    const to = this.canvas.getContext('2d');
    to.scale(ratio, ratio);
    const [low, high] = rangeOf(this.reads, this.axis), wide = width - LEFT - RIGHT, tall = HEIGHT - TOP - BOTTOM;
    const x = (value) => LEFT + (wide * (value - low)) / (high - low), y = (byte) => HEIGHT - BOTTOM - (tall * byte) / this.fileSize;
    this.paintReads(to, x, y);
    this.paintAxes(to, x, y, [low, high], width);
  }

  paintReads(to, x, y) {
    const colours = coloursOf(this.legend);
    this.places = this.reads.map((read) => {
      const [from, until] = spanOf(read, this.axis), top = y(read.offset + read.bytes);
      const place = [read, x(from), top, Math.max(LEAST, x(until) - x(from)), Math.max(LEAST, y(read.offset) - top)];
      to.fillStyle = colours[read.from] ?? colours.kernel;
      to.fillRect(...place.slice(1));
      return place;
    });
  }

  paintAxes(to, x, y, [low, high], width) {
    const style = getComputedStyle(this.canvas), base = HEIGHT - BOTTOM, [factor, unit] = unitOf(this.fileSize);
    to.font = `11px ${style.fontFamily}`;
    to.fillStyle = to.strokeStyle = style.color;
    to.lineWidth = 1;
    to.beginPath();
    to.moveTo(LEFT, TOP);
    to.lineTo(LEFT, base);
    to.lineTo(width - RIGHT, base);
    const below = stepOf(low, high, Math.max(2, Math.floor((width - LEFT - RIGHT) / LABEL))), beside = stepOf(0, this.fileSize / factor, 7);
    to.textAlign = 'center';
    for (const at of ticks(low, high, below)) {
      to.moveTo(x(at), base);
      to.lineTo(x(at), base + 5);
      const text = label(at, below);
      to.fillText(text, Math.min(x(at), width - to.measureText(text).width / 2 - 1), base + 18);
    }
    to.textAlign = 'right';
    for (const at of ticks(0, this.fileSize / factor, beside)) {
      to.moveTo(LEFT - 5, y(at * factor));
      to.lineTo(LEFT, y(at * factor));
      to.fillText(label(at, beside), LEFT - 9, y(at * factor) + 4);
    }
    to.stroke();
    to.fillText(this.axis === 'entries' ? 'entry' : 'seconds after the start', width - RIGHT, HEIGHT - 4);
    to.textAlign = 'left';
    to.fillText(`place in the file, ${unit}`, LEFT + 6, TOP + 2);
  }
}
