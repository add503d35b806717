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

// Bins of equal width; statistics of what lies in the range, as ROOT counts them.
export function histogram(values, bins, range) {
  let [low, high] = range || [Infinity, -Infinity];
  let missing = 0;
  if (!range) {
    for (let i = 0; i < values.length; ++i) {
      const x = Number(values[i]);
      if (!Number.isFinite(x)) continue;
      if (x < low) low = x;
      if (x > high) high = x;
    }
    if (low > high) [low, high] = [0, 1];
    if (low === high) [low, high] = [low - 0.5, high + 0.5];
    else high += (high - low) * 1e-9;
  }
  const counts = new Float64Array(bins);
  const scale = bins / (high - low);
  let inside = 0, sum = 0, squares = 0, below = 0, above = 0;
  for (let i = 0; i < values.length; ++i) {
    const x = Number(values[i]);
    if (!Number.isFinite(x)) { ++missing; continue; }
    if (x < low) { ++below; continue; }
    if (x >= high) { ++above; continue; }
    ++counts[Math.min(bins - 1, Math.floor((x - low) * scale))];
    ++inside;
    sum += x;
    squares += x * x;
  }
  const mean = inside ? sum / inside : NaN;
  return { counts, low, high, inside, mean, deviation: Math.sqrt(Math.max(0, squares / inside - mean * mean)), below, above, missing };
}
