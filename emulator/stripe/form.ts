import { apiError } from './api-error.ts';

/** Nested form parameters. The key `a[b][0]` is a path of members. List elements without an index are numbered. */
export interface Form {
  [name: string]: string | Form;
}

/** Parses the nested parameters of a query string or a body. */
export function parseForm(parameters: URLSearchParams): Form {
  const form = createForm();
  for (const [name, value] of parameters) setParam(form, parsePath(name), value);
  return form;
}

const createForm = (): Form => Object.create(null) as Form;

function parsePath(name: string): string[] {
  const match = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(name);
  if (!match) throw apiError(400, `Invalid parameter name: ${name}`, { param: name });
  return [match[1] ?? '', ...[...(match[2] ?? '').matchAll(/\[([^[\]]*)\]/g)].map(([, key = '']) => key)];
}

function setParam(form: Form, [first = '', ...rest]: readonly string[], value: string): void {
  const name = first === '' ? String(Object.keys(form).length) : first;
  if (rest.length === 0) {
    form[name] = value;
    return;
  }
  const inner = typeof form[name] === 'object' ? form[name] : createForm();
  form[name] = inner;
  setParam(inner, rest, value);
}

/** Returns the strings of a list parameter. */
export function readTexts(value: string | Form | undefined): string[] {
  if (value === undefined) return [];
  if (typeof value === 'string') return [value];
  return Object.values(value).filter((element) => typeof element === 'string');
}

/** Returns a string parameter. */
export const readText = (value: string | Form | undefined): string | undefined =>
  typeof value === 'string' ? value : undefined;

/** Returns a nested parameter, or an empty form if it is missing. */
export const readForm = (value: string | Form | undefined): Form => (typeof value === 'object' ? value : {});

/**
 * Returns metadata: strings of at most 500 characters.
 *
 * @see https://docs.stripe.com/metadata
 */
export const readMetadata = (value: string | Form | undefined): Record<string, string> => {
  const entries = Object.entries(readForm(value));
  for (const [name, text] of entries) {
    if (typeof text !== 'string' || text.length > 500) {
      throw apiError(400, `Metadata values can have up to 500 characters: ${name}`, { param: `metadata[${name}]` });
    }
  }
  return Object.fromEntries(entries) as Record<string, string>;
};

/** Throws 400 for an unknown parameter, like the API. */
export function rejectUnknownParams(form: Form, names: readonly string[], prefix = ''): void {
  for (const name of Object.keys(form)) {
    if (names.includes(name)) continue;
    const param = prefix ? `${prefix}[${name}]` : name;
    throw apiError(400, `Received unknown parameter: ${param}`, { code: 'parameter_unknown', param });
  }
}

/** Returns a string parameter. Throws 400 if it is missing. */
export function requireText(form: Form, name: string): string {
  const value = readText(form[name]);
  if (value) return value;
  throw apiError(400, `Missing required param: ${name}.`, { code: 'parameter_missing', param: name });
}

/** Returns an integer parameter, or the default if it is missing. */
export function readNumber(value: string | Form | undefined, defaultValue: number, param: string): number {
  const text = readText(value);
  if (text === undefined) return defaultValue;
  if (!/^\d{1,12}$/.test(text))
    throw apiError(400, `Invalid integer: ${text}`, { code: 'parameter_invalid_integer', param });
  return Number(text);
}
