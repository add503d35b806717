// SPDX-License-Identifier: Apache-2.0
// Numbers as files of columns have them: NumPy's types, little-endian.

const kinds = {
  f4: Float32Array, f8: Float64Array, i1: Int8Array, i2: Int16Array, i4: Int32Array, i8: BigInt64Array,
  u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, u8: BigUint64Array, b1: Uint8Array,
};

// The array type of "<f4"; undefined: it is none of plain numbers.
export const arrayType = (dtype) => kinds[dtype.replace(/^[<|]/, '')];

export const isNumeric = (column) => column.role === 'values' && Boolean(arrayType(column.dtype));

export const itemsOfShape = (column) => column.shape.reduce((product, each) => product * each, 1);

export function decode(buffer, dtype) {
  const type = arrayType(dtype);
  return new type(buffer, 0, Math.floor(buffer.byteLength / type.BYTES_PER_ELEMENT));
}

export function shown(value) {
  if (typeof value !== 'number' || Number.isInteger(value)) return String(value);
  return String(Number(value.toPrecision(7)));
}

const suffixes = ['B', 'kB', 'MB', 'GB', 'TB'];

export function size(count) {
  if (count === null || count === undefined) return 'not known yet';
  let at = 0;
  for (; count >= 999.5 && at + 1 < suffixes.length; ++at) count /= 1000;
  return (at && count < 10 ? count.toFixed(1) : Math.round(count)) + ' ' + suffixes[at];
}

const EXACT = 2n ** 53n;  // up to here, a Number holds every integer

// The least and the largest finite one; none: undefined.
function extremes(values) {
  let low, high;
  for (const x of values) {
    if (typeof x === 'number' && !Number.isFinite(x)) continue;
    if (low === undefined || x < low) low = x;
    if (high === undefined || x > high) high = x;
  }
  return [low, high];
}

// What is subtracted from values, so that integers that differ still differ as Numbers.
function originOf(low, high) {
  if (typeof low !== 'bigint') return 0;
  return high - low < EXACT && (low < -EXACT || high > EXACT) ? low : 0n;
}

function widened(low, high) {
  if (low !== high) return [low, high];
  const half = Math.max(0.5, Math.abs(low) * 1e-9);
  return [Math.max(-Number.MAX_VALUE, low - half), Math.min(Number.MAX_VALUE, high + half)];
}

// Bins of equal width; statistics of what lies in the range, as ROOT counts them. The range given and all places in the
// result are from `origin` on. A range that ends at the largest value has that in its last bin.
export function histogram(values, bins, range) {
  const [least, most] = extremes(values), origin = originOf(least, most);
  const [low, high] = widened(...(range || (least === undefined ? [0, 1] : [Number(least - origin), Number(most - origin)])));
  const isOpen = range && most !== undefined && high !== Number(most - origin);
  const counts = new Float64Array(bins);
  const factor = Number.isFinite((high - low) * bins) ? 1 : 2 ** -12, width = high * factor - low * factor;
  let inside = 0, sum = 0, squares = 0, below = 0, above = 0, missing = 0;
  for (let i = 0; i < values.length; ++i) {
    const x = Number(values[i] - origin);
    if (!Number.isFinite(x)) { ++missing; continue; }
    if (x < low) { ++below; continue; }
    if (x > high || (isOpen && x === high)) { ++above; continue; }
    const distance = x * factor - low * factor;
    ++counts[Math.min(bins - 1, Math.floor((distance * bins) / width))];
    const share = distance / width;  // sums of shares lose nothing to a large mean, and stay finite
    ++inside;
    sum += share;
    squares += share * share;
  }
  const mean = sum / inside, spread = Math.sqrt(Math.max(0, squares / inside - mean * mean));
  return { counts, origin, low, high, inside, mean: Math.min(high, 2 * (low / 2 + (mean / factor / 2) * width)),
           deviation: width * (spread / factor), below, above, missing };
}
