// SPDX-License-Identifier: Apache-2.0
// The functions that were fitted to what is in an object, as object.json (ROOT's own JSON) has them.
import { shown } from './numbers.js';
import { make, scrolled } from './parts.js';

const DEPTH_MAX = 16, FITS_MAX = 100, PARAMETERS_MAX = 1000;

const isFunction = (value) => typeof value?._typename === 'string' && /^TF[123]$/.test(value._typename);

// Of ROOT 6 in the formula, or beside it where the function is none; of ROOT 5 in the function.
function parametersOf({ fFormula, fParams, fNames, fParErrors }) {
  const own = Array.isArray(fParams) ? fParams : fParams?.fParameters;
  const values = fFormula?.fClingParameters ?? own ?? [], names = [...(fParams?.fParNames ?? fNames ?? [])];
  for (const { first, second } of fFormula?.fParams ?? []) names[second] = first;
  return values.slice(0, PARAMETERS_MAX).map((value, i) => ({ name: names[i] || `p${i}`, value, error: fParErrors?.[i] }));
}

// [{ of, name, formula, chi2, ndf, points, parameters }] of the histograms and graphs in `object`; `of`: the name of what was fitted.
export function fitsOf(object) {
  const found = [];
  const look = (value, depth) => {
    if (depth > DEPTH_MAX || found.length >= FITS_MAX || value === null || typeof value !== 'object') return;
    if (Array.isArray(value)) {
      if (typeof value[0] === 'object') for (const each of value) look(each, depth + 1);
      return;
    }
    for (const each of (value.fFunctions?.arr ?? []).filter(isFunction)) {
      found.push({ of: value.fName ?? '', name: each.fName ?? '', formula: each.fFormula?.fFormula || each.fTitle || '', chi2: each.fChisquare,
                   ndf: each.fNDF, points: each.fNpfits, parameters: parametersOf(each) });
    }
    for (const [name, each] of Object.entries(value)) if (name !== 'fFunctions') look(each, depth + 1);
  };
  look(object, 0);
  return found.slice(0, FITS_MAX);
}

// JSON has null for NaN.
const number = (value) => make('td', { class: 'number' }, value === undefined ? '' : shown(value ?? NaN));

function fitTable(fit, label) {
  const head = make('tr', {}, ...['parameter', 'value', 'error'].map((each) => make('th', { scope: 'col' }, each)));
  const rows = fit.parameters.map((each) => make('tr', {}, make('td', {}, each.name), number(each.value), number(each.error)));
  return scrolled(label, make('table', {}, make('thead', {}, head), make('tbody', {}, ...rows)));
}

// As many parameters as points leave no degrees of freedom. A function that was drawn there, and not fitted, has no points.
function qualityOf({ chi2, ndf, points }) {
  if (!points) return 'not fitted';
  return `χ²/ndf ${shown(chi2)} / ${ndf}` + (ndf > 0 ? ` = ${shown(chi2 / ndf)}` : '');
}

// Null: there are none.
export function fitsSection(object) {
  const found = fitsOf(object);
  if (!found.length) return null;
  const isOne = new Set(found.map((each) => each.of)).size === 1;
  return make('section', {}, make('h3', {}, 'Functions'), ...found.flatMap((fit) => {
    const label = isOne ? fit.name : `${fit.name} of ${fit.of}`;
    return [make('h4', {}, label), make('p', { class: 'dim formula' }, fit.formula), make('p', {}, qualityOf(fit)), fitTable(fit, `Parameters of ${label}`)];
  }));
}
