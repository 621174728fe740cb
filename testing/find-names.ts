import { createHash } from 'node:crypto';
import { normalizeAlias } from '../lib/purchases/user-aliases.ts';

/** Forms in which a name can be stored: encoded, escaped, or as an unsalted digest. */
function listNameForms(name: string): string[] {
  const hash = (algorithm: string) => createHash(algorithm).update(name);
  const md5 = hash('md5').digest('hex');
  const uuid = md5.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12})$/, '$1-$2-3$3-8$4-$5');
  const digests = ['md5', 'sha1', 'sha256', 'sha512'].flatMap((algorithm) =>
    (['hex', 'base64', 'base64url'] as const).map((encoding) => hash(algorithm).digest(encoding)),
  );
  return [
    name,
    JSON.stringify(name).slice(1, -1),
    encodeURIComponent(name),
    encodeURI(name),
    uuid,
    normalizeAlias(md5),
    ...digests,
    ...digests.map((digest) => digest.slice(0, 22)),
    ...(['base64', 'base64url', 'hex'] as const).map((encoding) => Buffer.from(name).toString(encoding)),
  ];
}

/** Returns the texts that contain a form of a name, also within encoded parts. */
export function findNames(texts: readonly string[], names: readonly string[]): string[] {
  const forms = [...new Set(names.flatMap(listNameForms))];
  return texts.filter((text) => decodeAll(text).some((decoded) => forms.some((form) => contains(decoded, form))));
}

/** UUIDs from an MD5 differ in the digits of version and variant, and digests in case. */
const contains = (text: string, form: string): boolean =>
  text.includes(form) || (form.length >= 22 && text.toLowerCase().includes(form.toLowerCase()));

const maxDepth = 3;

/** Returns the text and its parts decoded from JSON, Base64 and percent-encoding, and the parts of these. */
function decodeAll(text: string, depth = 0): string[] {
  if (depth === maxDepth) return [text];
  const decoded = [unescapeJson(text), decodePercent(text), ...decodeBase64(text)].filter((part) => part !== text);
  return [text, ...decoded.flatMap((part) => decodeAll(part, depth + 1))];
}

const unescapeJson = (text: string): string =>
  text.replace(/\\(u[0-9a-f]{4}|.)/gi, (escaped, character: string) => {
    try {
      return JSON.parse(`"\\${character}"`) as string;
    } catch {
      return escaped;
    }
  });

const decodePercent = (text: string): string =>
  text.replace(/(?:%[0-9a-f]{2})+/gi, (encoded) => {
    try {
      return decodeURIComponent(encoded);
    } catch {
      return encoded;
    }
  });

const decodeBase64 = (text: string): string[] =>
  (text.match(/[\w+/-]{12,}/g) ?? [])
    .map((part) => Buffer.from(part, 'base64').toString('utf8'))
    .filter((part) => !part.includes('\uFFFD'));
