// SPDX-License-Identifier: Apache-2.0
// What one view reads: all of it of one state of the file, and nothing more once the view is left.
import { Failure, ask, described, listing, urlOf } from './source.js';

// The file is not in the state any more in which the view began to read it.
export class Moved extends Error {}

const namesOf = (entries) => entries.map((each) => [each.name, each.type, each.mtime ?? ''].join('\n')).join('\0');

export class Reading {
  constructor() {
    this.left = new AbortController();
    this.tags = new Map();  // by URL
    this.begun = null;      // what tells whether the file is as it was: { url } of `tags`, or { names, text } of a listing
    this.open = 0;          // requests that are not answered
  }

  leave() { this.left.abort(); }
  get isResting() { return this.open === 0; }

  async during(work) {
    ++this.open;
    try {
      return await work();
    } finally {
      --this.open;
    }
  }

  // The description of a table; null: there is none, but a directory or an object.
  schema(names) {
    return this.during(async () => {
      const { found, tag, url } = await described(names, this.left.signal);
      if (tag) this.hold(url, tag);
      return found && found.kind !== 'object' ? found : null;
    });
  }

  listing(names) {
    return this.during(async () => {
      const entries = await listing(names, this.left.signal);
      this.begun ??= { names, text: namesOf(entries) };
      return entries;
    });
  }

  hold(url, tag) {
    const held = this.tags.get(url);
    if (held && held !== tag) throw new Moved();
    this.tags.set(url, tag);
    if (!this.begun?.url) this.begun = { url };
  }

  // What `take` makes of an answer. The browser keeps nothing: what it has kept would be of any state.
  get(url, take, headers = {}, method = 'GET') {
    return this.during(async () => {
      const tag = this.tags.get(url);
      const options = { method, headers: tag ? { ...headers, 'If-Match': tag } : headers, signal: this.left.signal, cache: 'no-store' };
      try {
        const answer = await ask(url, options);
        if (answer.headers.get('ETag')) this.hold(url, answer.headers.get('ETag'));
        return await take(answer);
      } catch (failure) {
        if (failure.status === 412) throw new Moved();
        if (!(failure instanceof TypeError)) throw failure;
        await this.check();  // the server ends an answer early if the file changes
        throw new Failure(0, 'The connection ended before all was read.');
      }
    });
  }

  // Bytes of a file from `begin` up to `end`, fewer at its end.
  async bytes(names, begin, end) {
    if (end <= begin) return new ArrayBuffer(0);
    try {
      return await this.get(urlOf(names), async (answer) => {
        const read = await answer.arrayBuffer();
        return answer.status === 206 ? read : read.slice(begin, end);
      }, { Range: `bytes=${begin}-${end - 1}` });
    } catch (failure) {
      if (failure.status === 416) return new ArrayBuffer(0);
      throw failure;
    }
  }

  // How many bytes a file has, and its first ones, `count` at most.
  async beginning(names, count) {
    try {
      return await this.get(urlOf(names), async (answer) => {
        const total = answer.headers.get('Content-Range')?.split('/')[1] ?? answer.headers.get('Content-Length');
        return { total: Number(total), first: new Uint8Array(await answer.arrayBuffer()).subarray(0, count) };
      }, { Range: `bytes=0-${count - 1}` });
    } catch (failure) {
      if (failure.status === 416) return { total: 0, first: new Uint8Array(0) };
      throw failure;
    }
  }

  // A whole file, as what an image shows.
  blob(names) { return this.get(urlOf(names), (answer) => answer.blob()); }

  // Throws Moved if the file has changed since this began. What was read of several files in between is then of no one state.
  async check() {
    if (!this.begun) return;
    const { url, names, text } = this.begun;
    try {
      if (url) await this.get(url, () => null, {}, 'HEAD');
      else if (namesOf(await listing(names, this.left.signal)) !== text) throw new Moved();
    } catch (failure) {
      throw failure.status === 404 ? new Moved() : failure;
    }
  }
}
