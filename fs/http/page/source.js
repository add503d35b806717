// SPDX-License-Identifier: Apache-2.0
// What the page asks the server for: files of the mount, and listings.

export const urlOf = (names) => '/' + names.map(encodeURIComponent).join('/');

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
