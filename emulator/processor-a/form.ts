import { apiError } from './api-error.ts';

/** Form parameters with their nesting: `a[b][0]=c` is `{a: {b: {0: 'c'}}}`; a list without numbers counts up. */
export interface Form {
  [name: string]: string | Form;
}

/** The nested parameters of a query or a body. */
export function parseForm(parameters: URLSearchParams): Form {
  const form = emptyForm();
  for (const [name, value] of parameters) put(form, parsePath(name), value);
  return form;
}

const emptyForm = (): Form => Object.create(null) as Form;

function parsePath(name: string): string[] {
  const match = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(name);
  if (!match) throw apiError(400, `Invalid parameter name: ${name}`, { param: name });
  return [match[1] ?? '', ...[...(match[2] ?? '').matchAll(/\[([^[\]]*)\]/g)].map(([, key = '']) => key)];
}

function put(form: Form, [first = '', ...rest]: readonly string[], value: string): void {
  const name = first === '' ? String(Object.keys(form).length) : first;
  if (rest.length === 0) {
    form[name] = value;
    return;
  }
  const inner = typeof form[name] === 'object' ? form[name] : emptyForm();
  form[name] = inner;
  put(inner, rest, value);
}

/** The texts of a list parameter. */
export function readTexts(value: string | Form | undefined): string[] {
  if (value === undefined) return [];
  if (typeof value === 'string') return [value];
  return Object.values(value).filter((one) => typeof one === 'string');
}

/** A parameter that is a text. */
export const readText = (value: string | Form | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** A parameter that has parameters of its own; nothing is a form without any. */
export const readForm = (value: string | Form | undefined): Form => (typeof value === 'object' ? value : {});

/** Metadata: only texts. */
export const readMetadata = (value: string | Form | undefined): Record<string, string> => {
  const entries = Object.entries(readForm(value));
  for (const [name, text] of entries) {
    if (typeof text !== 'string' || text.length > 500) {
      throw apiError(400, `Metadata values can have up to 500 characters: ${name}`, { param: `metadata[${name}]` });
    }
  }
  return Object.fromEntries(entries) as Record<string, string>;
};

/** Refuses what the API does not know, as it does. */
export function rejectUnknownParams(form: Form, names: readonly string[], prefix = ''): void {
  for (const name of Object.keys(form)) {
    if (names.includes(name)) continue;
    const param = prefix ? `${prefix}[${name}]` : name;
    throw apiError(400, `Received unknown parameter: ${param}`, { code: 'parameter_unknown', param });
  }
}

/** A text that must be there. */
export function requireText(form: Form, name: string): string {
  const value = readText(form[name]);
  if (value) return value;
  throw apiError(400, `Missing required param: ${name}.`, { code: 'parameter_missing', param: name });
}

/** A number that must be there, or the default. */
export function readNumber(value: string | Form | undefined, otherwise: number, param: string): number {
  const text = readText(value);
  if (text === undefined) return otherwise;
  if (!/^\d{1,12}$/.test(text))
    throw apiError(400, `Invalid integer: ${text}`, { code: 'parameter_invalid_integer', param });
  return Number(text);
}
