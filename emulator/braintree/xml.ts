/** A value that can be serialized as XML. */
export type XmlValue =
  | string
  | number
  | boolean
  | null
  | readonly XmlValue[]
  | { readonly [name: string]: XmlValue | undefined };

/** Serializes a value with Braintree's type attributes. */
export const toXmlDocument = (name: string, value: XmlValue): string =>
  `<?xml version="1.0" encoding="UTF-8"?>\n${toElement(name, value)}`;

/** Serializes an element. The elements of a list have the singular name. */
function toElement(name: string, value: XmlValue): string {
  if (value === null) return `<${name} nil="true"/>`;
  if (typeof value === 'number') return `<${name} type="integer">${value}</${name}>`;
  if (typeof value === 'boolean') return `<${name} type="boolean">${value}</${name}>`;
  if (typeof value === 'string') return `<${name}${getDateType(value)}>${escapeXml(value)}</${name}>`;
  if (isList(value)) {
    return `<${name} type="array">${value.map((item) => toElement(toSingular(name), item)).join('')}</${name}>`;
  }
  const members = Object.entries(value).flatMap(([key, inner]) =>
    inner === undefined ? [] : [toElement(toKebabCase(key), inner)],
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
const toSingular = (name: string): string => singulars[name] ?? 'item';

const toKebabCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

function getDateType(text: string): string {
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return ' type="date"';
  return /^\d{4}-\d\d-\d\dT[\d:]+Z$/.test(text) ? ' type="datetime"' : '';
}

const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
