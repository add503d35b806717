// SPDX-License-Identifier: Apache-2.0
// What is served, as command lines and other programs name it: files, options, and where in them something is.
import { quoted } from './parts.js';
import { expressionIn, original } from './source.js';

// As a pattern of `tfilefs`, in which no character has a meaning.
const asPattern = (text) => text.replace(/[\\*?[{},]/g, '\\$&');

const hasPattern = (text) => /[\\*?[{]/.test(text);
const isRoot = (name) => name.endsWith('.root');
// Whether it is within entries that an expression chooses: no other program has these, and of several files the expression may
// look at numbers of entries.
export const isPart = (names) => names.some((each) => expressionIn('.where=', each) !== null);
const inTable = (wanted, table) => !wanted || table === wanted || table.endsWith('/' + wanted);

export class Served {
  // `config`: .tfilefs/config.json.
  constructor(config = {}) {
    this.sources = config.sources ?? (config.source ? [config.source] : []);
    this.source = this.sources[0] ?? '';
    this.isChain = Boolean(config.chain);
    this.policy = config.chain ?? '';
    this.defined = config.define ?? [];
    this.chosen = config.where ?? [];
    // Lists, and files that name a table of theirs, are for the option chain alone; how friends are joined is not told.
    this.isPlain = this.sources.length > 0 && !config.friends &&
                   !this.sources.some((each) => each.startsWith('@') || each.includes('#') || (this.isChain && /\.root[:/]/.test(each)));
  }

  // What is at the top of the page.
  get name() { return this.sources.length > 1 ? `${this.source} and ${this.sources.length - 1} more` : this.source; }

  // The files that have what is at `names`, as sources, and where in each of them it is.
  filesOf(names) {
    if (this.isChain || isRoot(this.source.replace(/\?.*/, ''))) return { files: this.sources, inside: names };
    const end = names.findIndex(isRoot) + 1;
    return { files: [[this.source, ...names.slice(0, end)].join('/')], inside: names.slice(end) };
  }

  // Whether what is at `names` is in a ROOT file, and no directory of such files.
  isInFile(names) { return this.isChain || isRoot(this.source.replace(/\?.*/, '')) || names.some(isRoot); }

  // Whether it is read from a server, which costs more than reading here.
  get isRemote() { return this.sources.some((each) => /^[a-z][a-z\d+.-]*:\/\//i.test(each)); }

  get isShaped() { return this.defined.length > 0 || this.chosen.length > 0; }

  // Options of -o, as a word of a command line and a space behind it.
  get options() {
    const named = (each, text) => (each.table ? each.table + ':' : '') + text.replaceAll(',', '\\,');
    const all = [...this.defined.map((each) => 'define=' + named(each, `${each.name}=${each.expression}`)),
                 ...this.chosen.map((each) => 'where=' + named(each, each.expression))];
    if (this.isChain) all.unshift(this.policy === 'common' ? 'chain' : 'chain=' + this.policy);
    return all.length ? `-o ${quoted(all.join(','))} ` : '';
  }

  // Whether `tfilefs cat` and the like give what the page shows. They have no option chain: of several files they give one after the
  // other, which is the same only where `isJoined`.
  canGive(isJoined) { return this.isPlain && (!this.isChain || (isJoined && !this.isShaped)); }

  mountLine() { return `tfilefs ${this.options}${this.sources.map(quoted).join(' ')} mnt`; }

  // `tfilefs COMMAND` of a path, which is a pattern but for ls.
  lineOf(command, names, ending = '') {
    const path = (command === 'ls' ? names : names.map(asPattern)).join('/') + ending;
    return `tfilefs ${command} ${this.isChain ? '' : this.options}${this.sources.map((each) => quoted(path ? each + '/' + path : each)).join(' ')}`;
  }

  // [options, SOURCE:TABLE] of `tfilefs draw`; null: it cannot name this. A cut is not what `where=` is: it looks at each element.
  drawn(table) {
    const { files, inside } = this.filesOf(table), name = inside.join('/');
    if (!this.isPlain || isPart(table) || this.chosen.length || (files.length > 1 && files.some((each) => /[\\{},]/.test(each)))) return null;
    const defined = this.defined.filter((each) => inTable(each.table, name)).map((each) => `--define ${quoted(`${each.name}=${each.expression}`)}`);
    return [defined, (files.length > 1 ? `{${files.join(',')}}` : files[0]) + ':' + name];
  }

  // Files, and names in them, as uproot and RDataFrame have them: null where these have other patterns, options change what is there,
  // or a slash or a colon in a name would be between two.
  foreign(names) {
    const { files, inside: shown } = this.filesOf(names), inside = shown.map(original);
    const isOther = files.some((each) => (this.isChain ? hasPattern(each.replaceAll(/\*(?!\*)/g, '')) || each.includes('**') : false));
    return this.isPlain && !this.isShaped && !isOther && inside.length && !isPart(names) && !inside.some((each) => /[/:]/.test(each)) ? { files, inside: inside.join('/') } : null;
  }
}

const text = JSON.stringify;

// The field of a column of an RNTuple for uproot, which has no names for items of lists, and finds none in tuples and variants: these
// are given whole.
export function uprootName(schema, column) {
  if (schema.kind !== 'rntuple') return column.branch;
  const parts = column.branch.split('.').filter((each) => each !== '_0');
  return parts.some((each) => /^:?_\d/.test(each)) ? parts[0] : parts.join('.');
}

// Of a table; of one branch of it, if that is given.
export function uprootLine(served, table, branch) {
  const of = served.foreign(table);
  if (!of) return null;
  const all = branch === undefined ? '' : `[${text(branch)}]`;
  if (!served.isChain) return `uproot.open(${text(of.files[0])})[${text(of.inside)}]${all}.${branch === undefined ? 'arrays' : 'array'}()`;
  const files = of.files.map((each) => `${text(each)}: ${text(of.inside)}`).join(', ');
  return `uproot.concatenate({${files}}${branch === undefined ? '' : `, filter_name=lambda name: name == ${text(branch)}`})`;
}

export function frameLine(served, table) {
  const of = served.foreign(table);
  if (!of) return null;
  const files = of.files.map(text).join(', ');
  return `ROOT::RDataFrame df(${text(of.inside)}, ${of.files.length > 1 ? `{${files}}` : files});`;
}
