// SPDX-License-Identifier: Apache-2.0
// What the page asks the server for: files of the mount, and listings.

// A name as a part of a URL. A byte that is no UTF-8 is a lone surrogate in JSON, \udc80 to \udcff.
export const encoded = (name) => Array.from(name, (each) =>
  (each >= '\udc80' && each <= '\udcff' ? '%' + (each.charCodeAt(0) & 255).toString(16).toUpperCase() : encodeURIComponent(each))).join('');

const sequence = /%[cd][\da-f]%[89ab][\da-f]|%e[\da-f](?:%[89ab][\da-f]){2}|%f[\da-f](?:%[89ab][\da-f]){3}|%[\da-f]{2}/gi;

// The inverse of `encoded`. A % that begins no byte stays.
export const decoded = (text) => text.replace(sequence, (part) => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part.replace(/%(..)/g, (_, byte) => String.fromCharCode(0xdc00 + parseInt(byte, 16)));
  }
});

export const urlOf = (names) => '/' + names.map(encoded).join('/');

export class Failure extends Error {
  constructor(status, text) {
    super(text.trim() || 'status ' + status);
    this.status = status;
  }
}

async function ask(url, headers = {}) {
  const response = await fetch(url, { headers, credentials: 'same-origin' });
  if (response.ok) return response;
  throw new Failure(response.status, response.status === 401 ? 'The session has ended: open the URL with the token again.'
                                                             : await response.text());
}

export const json = async (url) => (await ask(url, { Accept: 'application/json' })).json();

export const listing = async (names) => (await json(urlOf(names) + (names.length ? '/' : '') + '?json')).entries;

const schemas = new Map();

// The description of a table; null: no table is there, but a directory or an object. Asked for once.
export function schema(names) {
  const url = urlOf([...names, '.schema.json']);
  if (!schemas.has(url)) {
    schemas.set(url, json(url).then((found) => (found.kind === 'object' ? null : found), (failure) => {
      if (failure.status === 404) return null;
      schemas.delete(url);
      throw failure;
    }));
  }
  return schemas.get(url);
}

// How many bytes a file has, and its first ones, `count` at most.
export async function beginning(names, count) {
  try {
    const answer = await ask(urlOf(names), { Range: `bytes=0-${count - 1}` });
    const total = answer.headers.get('Content-Range')?.split('/')[1] ?? answer.headers.get('Content-Length');
    return { total: Number(total), first: new Uint8Array(await answer.arrayBuffer()).subarray(0, count) };
  } catch (failure) {
    if (failure.status === 416) return { total: 0, first: new Uint8Array(0) };
    throw failure;
  }
}

// A whole file, as what an image shows.
export const blob = async (names) => (await ask(urlOf(names))).blob();

// Bytes of a file from `begin` up to `end`, fewer at its end.
export async function bytes(names, begin, end) {
  if (end <= begin) return new ArrayBuffer(0);
  try {
    return (await ask(urlOf(names), { Range: `bytes=${begin}-${end - 1}` })).arrayBuffer();
  } catch (failure) {
    if (failure.status === 416) return new ArrayBuffer(0);
    throw failure;
  }
}
