// SPDX-License-Identifier: Apache-2.0
// What the server draws of a column, by .draw= of its table: an expression, a cut, a second one, a profile. What is drawn
// stands behind # in the URL, so that links keep it.
import { original, urlOf, viewName } from './source.js';
import { downloads, make, preformatted, quoted } from './parts.js';
import { columnName, shownColumns } from './table_view.js';
import { isNumeric } from './numbers.js';

const NAMES_MAX = 2000, BYTES_MAX = 3000;  // of a name, which is in a path of 4096

// A name as the language has it: in back-ticks where it would be something else, as a-b.
const named = (part) => (/^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/.test(part) ? part : '`' + part.replaceAll('`', '``') + '`');

// A name that is too long for a file is cut in the mount, and ends so.
const isCut = (part) => part.length > 60 && /~[\da-f]{8}(~\d+)?$/.test(part);

// As expressions name it: members with dots. A branch whose name is cut by its name in the file.
export function expressionOf(column) {
  const parts = columnName(column).replaceAll('/values', '').split('/');
  if (parts.length === 1 && isCut(parts[0])) return named(column.branch.replace(/(\._0)+$/, ''));
  return parts.map(original).map(named).join('.');
}

export const canDraw = isNumeric;

// As TTree::Draw has it, the second one first.
const expressionsOf = (state) => (state.y ? `${state.y}:${state.x}` : state.x);

function binsOf(state) {
  if (!state.bins) return '';
  return state.y && !state.profile ? `${state.bins},${state.bins}` : state.bins;
}

function nameOf(state) {
  const parts = [expressionsOf(state), state.cut, binsOf(state), state.range, state.y && state.profile ? 'profile' : ''];
  return viewName('.draw=', parts.join(';').replace(/;+$/, ''));
}

// The name, below its table, of what is drawn of a column by itself.
export function drawnAlone(column, bins, range) {
  const name = nameOf({ ...stateOf(new URLSearchParams(), column), bins: String(bins), range: range ? range.join(':') : '' });
  checkLength(name);
  return name;
}

function pictureName(state) {
  const axes = ['x', 'y', 'z'].filter((each) => state.log.includes(each) && (each !== 'z' || (state.y && !state.profile))).join('');
  return axes ? `plot.log${axes}.svg` : 'plot.svg';
}

// Null: no line draws the same.
function lineOf(state, table, served) {
  const named = served.drawn(table);
  if (!named) return null;
  const flags = [...named[0], binsOf(state) && `--bins ${binsOf(state)}`, state.range && `--range ${quoted(state.range)}`,
                 state.y && state.profile && '--profile', state.log.includes(state.y ? 'z' : 'y') && '--log'].filter(Boolean);
  const words = [named[1], expressionsOf(state), state.cut].filter(Boolean), isLikeFlag = words.some((each) => each.startsWith('-'));
  const all = words.map(quoted);
  return ['tfilefs draw', ...(isLikeFlag ? [...flags, '--', ...all] : [...all, ...flags])].join(' ');
}

// The line for a column as it is.
export const columnLine = (table, column, served) => lineOf(stateOf(new URLSearchParams(), column), table, served);

// What the page cannot show, and `tfilefs draw` can.
class NotHere extends Error {}

function checkLength(name) {
  const size = new TextEncoder().encode(name).length;
  if (size > BYTES_MAX) throw new NotHere(`The expression, the cut and the rest are ${size} bytes as a name. The server takes ${BYTES_MAX}.`);
}

// In place of `failure`, which says that there is no picture: there is none of three axes.
async function ofThreeAxes(reading, place, failure) {
  try {
    await reading.get(urlOf([...place, 'object.json']), () => null, {}, 'HEAD');
  } catch {
    return failure;
  }
  return Object.assign(new NotHere('A histogram of three axes has no picture. Its numbers are there.'), { names: ['object.json'] });
}

const stateOf = (given, column) => ({
  x: given.get('x') ?? expressionOf(column), y: given.get('y') ?? '', cut: given.get('cut') ?? '', bins: given.get('bins') ?? '',
  range: given.get('range') ?? '', log: given.get('log') ?? '', profile: given.has('profile'),
});

// `view`: see page.js.
export function drawView(table, schema, column, { reading, served, given, keep, failed }) {
  const state = stateOf(given, column);
  const figure = make('figure', { 'aria-live': 'polite' }), line = preformatted('', { hidden: true }), links = make('div', {});
  const text = (name, label, more = {}) => {
    const input = make('input', { type: 'text', value: state[name], spellcheck: 'false', autocapitalize: 'off', autocomplete: 'off', ...more });
    input.addEventListener('input', () => { state[name] = input.value.trim(); });
    return make('label', {}, label + ' ', input);
  };
  const check = (label, isOn, set) => {
    const input = make('input', { type: 'checkbox', checked: isOn });
    input.addEventListener('change', () => { set(input.checked); draw(); });
    return make('label', {}, input, ' ' + label);
  };
  const log = (axis) => check(`log ${axis}`, state.log.includes(axis), (isOn) => {
    state.log = ['x', 'y', 'z'].filter((each) => (each === axis ? isOn : state.log.includes(each))).join('');
  });
  const showLine = () => {
    line.textContent = lineOf(state, table, served) ?? '';
    line.hidden = !line.textContent;
  };
  let turn = 0, shown = '';
  async function draw() {
    const mine = ++turn, place = [...table, nameOf(state)];
    keep({ ...state, profile: state.profile && '1' });
    figure.replaceChildren(make('p', { class: 'dim' }, 'Drawing…'));
    links.replaceChildren();
    line.hidden = true;
    try {
      checkLength(place.at(-1));
      const picture = await reading.blob([...place, pictureName(state)]);
      await reading.check();
      if (mine !== turn) return;
      URL.revokeObjectURL(shown);
      shown = URL.createObjectURL(picture);
      figure.replaceChildren(make('img', { class: 'object', src: shown, alt: `Histogram of ${expressionsOf(state)}` }));
      links.replaceChildren(downloads([['svg', urlOf([...place, pictureName(state)])], ['csv', urlOf([...place, 'table.csv'])],
                                       ['json', urlOf([...place, 'object.json'])]]));
      showLine();
    } catch (failure) {
      const told = failure.status === 404 ? await ofThreeAxes(reading, place, failure) : failure;
      if (mine !== turn) return;
      failed(figure)(told);
      if (told instanceof NotHere) showLine();
      if (told.names) links.replaceChildren(downloads(told.names.map((each) => [each, urlOf([...place, each])])));
    }
  }
  const names = shownColumns(schema).filter(canDraw).slice(0, NAMES_MAX);
  const form = make('form', { class: 'bar' }, make('datalist', { id: 'expressions' }, ...names.map((each) => make('option', { value: expressionOf(each) }))),
    text('x', 'Draw', { list: 'expressions', class: 'expression' }), text('y', 'against', { list: 'expressions', placeholder: 'a second one' }),
    text('cut', 'where', { placeholder: 'a cut, as n>2' }), text('bins', 'bins', { type: 'number', min: 1, max: 1000, placeholder: 'auto' }),
    text('range', 'range', { placeholder: 'LO:HI[,LO:HI]' }), log('x'), log('y'), log('z'),
    check('profile', state.profile, (isOn) => { state.profile = isOn; }), make('button', { type: 'submit' }, 'Draw'));
  form.addEventListener('submit', (event) => { event.preventDefault(); draw(); });
  if (given.has('x')) draw();
  return make('section', {}, make('h3', {}, 'Expressions'), form, figure, links, line);
}
