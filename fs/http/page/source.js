// SPDX-License-Identifier: Apache-2.0
// What the page asks the server for. Views ask by a Reading (reading.js).

// A name as a part of a URL. A byte that is no UTF-8 is a lone surrogate in JSON, \udc80 to \udcff.
export const encoded = (name) => (/^[\w.~-]*$/.test(name) ? name : Array.from(name, (each) =>
  (each >= '\udc80' && each <= '\udcff' ? '%' + (each.charCodeAt(0) & 255).toString(16).toUpperCase() : encodeURIComponent(each))).join(''));

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

// Of a name in the mount, the one in the file.
export const original = (part) => part.replace(/%2F|%25|^%(?:2E|63|69|6F|72|74|76)/g, (each) => String.fromCharCode(parseInt(each.slice(1), 16)));

// What an expression makes of a table, as .where= and .draw=, as a name in the mount; and the expression of such a name.
export const viewName = (kind, text) => kind + text.replace(/%(?=[0-9a-f]{2})/gi, '%25').replaceAll('/', '%2F');
export const expressionIn = (kind, name) => (name.startsWith(kind) ? name.slice(kind.length).replace(/%25|%2F/g, decodeURIComponent) : null);

export class Failure extends Error {
  constructor(status, text) {
    super(text.trim() || 'status ' + status);
    this.status = status;
  }
}

// A fetch that is given up throws this.
export const isGivenUp = (failure) => failure.name === 'AbortError';

export async function ask(url, options = {}) {
  let response;
  try {
    response = await fetch(url, { credentials: 'same-origin', ...options });
  } catch (failure) {
    if (isGivenUp(failure)) throw failure;
    throw new Failure(0, 'The server does not answer. If it has ended, start it again and open the URL that it prints.');
  }
  if (response.ok || response.status === 304) return response;
  throw new Failure(response.status, response.status === 401 ? 'The session has ended: open the URL with the token again.'
                                                             : await response.text());
}

export const json = async (url, signal) => (await ask(url, { headers: { Accept: 'application/json' }, signal })).json();

export const listing = async (names, signal) => (await json(urlOf(names) + (names.length ? '/' : '') + '?json', signal)).entries;

const schemas = new Map();

// { found, tag }: the description of a table or an object, and the ETag of it, which is another one once the file has changed.
// `found` is null where neither is. What is known is not sent again.
export async function described(names, signal) {
  const url = urlOf([...names, '.schema.json']), known = schemas.get(url);
  try {
    const answer = await ask(url, { headers: known ? { 'If-None-Match': known.tag } : {}, signal, cache: 'no-store' });
    if (answer.status === 304) return known;
    const one = { found: await answer.json(), tag: answer.headers.get('ETag'), url };
    if (one.tag) schemas.set(url, one);
    return one;
  } catch (failure) {
    if (failure.status !== 404) throw failure;
    schemas.delete(url);
    return { found: null, tag: null, url };
  }
}
