/** A value that the gateway writes. */
export type XmlValue =
  | string
  | number
  | boolean
  | null
  | readonly XmlValue[]
  | { readonly [name: string]: XmlValue | undefined };

/** The value as an XML document of the gateway, with its type attributes. */
export const toXmlDocument = (name: string, value: XmlValue): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n${element(name, value)}`;

/** One element; the items of a list have a name of their own. */
function element(name: string, value: XmlValue): string {
  if (value === null) return `<${name} nil="true"/>`;
  if (typeof value === 'number') return `<${name} type="integer">${value}</${name}>`;
  if (typeof value === 'boolean') return `<${name} type="boolean">${value}</${name}>`;
  if (typeof value === 'string') return `<${name}${dateType(value)}>${escapeXml(value)}</${name}>`;
  if (isList(value)) {
    return `<${name} type="array">${value.map((item) => element(singular(name), item)).join('')}</${name}>`;
  }
  const members = Object.entries(value).flatMap(([key, inner]) =>
    inner === undefined ? [] : [element(toKebabCase(key), inner)],
  );
  return `<${name}>${members.join('')}</${name}>`;
}

const isList = (value: object): value is readonly XmlValue[] => Array.isArray(value);

const singulars: Readonly<Record<string, string>> = {
  transactions: 'transaction',
  plans: 'plan',
  errors: 'error',
  'credit-cards': 'credit-card',
  'payment-methods': 'payment-method',
  'status-history': 'status-event',
  discounts: 'discount',
  disputes: 'dispute',
};
const singular = (name: string): string => singulars[name] ?? 'item';

const toKebabCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function dateType(text: string): string {
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return ' type="date"';
  return /^\d{4}-\d\d-\d\dT[\d:]+Z$/.test(text) ? ' type="datetime"' : '';
}

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
