import { type FieldKind, getFieldKind, isSecretField } from './field-allowlist.ts';
import { removedMark, sanitizeId, sanitizeText, trimmedMark } from './redact-text.ts';
import type { Redact } from './redactor.ts';

const maxListLength = 20;
const maxTokenLength = 64;
const maxMapMembers = 100;
const maxDepth = 8;

interface SanitizeOptions {
  /** Takes each text that is removed, so that messages that repeat it can be scrubbed. */
  readonly secrets?: Set<string>;
  /** What texts for people go through. A request's own are not: they repeat no secret, and there may be thousands. */
  readonly scrub?: Redact;
}

interface SanitizeState extends Required<SanitizeOptions> {
  readonly kind: FieldKind;
  readonly depth: number;
}

/** The value with only what may stay: other fields and misplaced texts removed, long texts and lists trimmed with a mark. */
export function sanitize(
  value: unknown,
  { secrets = new Set(), scrub = (text) => text }: SanitizeOptions = {},
): unknown {
  return sanitizeAt(value, { kind: 'inside', depth: 0, secrets, scrub });
}

function sanitizeAt(value: unknown, place: SanitizeState): unknown {
  if (typeof value === 'string') return sanitizeString(value, place);
  if (typeof value === 'number') return isStorable(value) ? value : removedMark;
  if (typeof value !== 'object' || value === null) return value;
  if (place.depth >= maxDepth) {
    collectSecrets(value, place.secrets);
    return trimmedMark;
  }
  const deeper = { ...place, depth: place.depth + 1 };
  if (Array.isArray(value)) return sanitizeList(value, deeper);
  return place.kind === 'map' ? sanitizeMembers(value, deeper) : sanitizeFields(value, deeper);
}

/** Numbers that the table can hold; clients send others. */
const isStorable = (value: number): boolean => value === 0 || (Math.abs(value) > 1e-100 && Math.abs(value) < 1e100);

function sanitizeString(text: string, { kind, secrets, scrub }: SanitizeState): string {
  const kept = sanitizeStringByKind[kind](text, scrub);
  if (kept === removedMark) collectSecrets(text, secrets);
  return kept;
}

const sanitizeStringByKind: Readonly<Record<FieldKind, (text: string, scrub: Redact) => string>> = {
  id: sanitizeId,
  text: (text, scrub) => sanitizeText(scrub(text)),
  word: (text) => (text.length > maxTokenLength ? removedMark : sanitizeText(text)),
  number: (text) => (/^-?[\d.,]{1,20}$/.test(text) ? text : removedMark),
  date: (text) => (/^[\dTZ:. +-]{1,40}$/.test(text) ? text : removedMark),
  flag: (text) => (text === 'true' || text === 'false' ? text : removedMark),
  inside: () => removedMark,
  map: () => removedMark,
};

/** Unlisted names are not shown, for a name can be a secret as well; their number is. */
function sanitizeFields(value: object, place: SanitizeState): Record<string, unknown> {
  const fields = Object.entries(value);
  const listed = fields.flatMap(([field, inner]) => {
    const kind = getFieldKind(field);
    if (kind) return [[field, sanitizeAt(inner, { ...place, kind })] as const];
    collectSecrets(inner, place.secrets);
    if (!isSecretField(field)) {
      collectSecrets(field, place.secrets);
      return [];
    }
    // However many other texts were removed before it.
    if (typeof inner === 'string') place.secrets.add(inner);
    return [[field, removedMark] as const];
  });
  const unlisted = fields.filter(([field]) => !getFieldKind(field) && !isSecretField(field)).length;
  return { ...Object.fromEntries(listed), ...(unlisted > 0 && { [removedMark]: unlisted }) };
}

/** The members of `purchases` are named by product ids of the form `{platform}:{productId}`. */
function sanitizeMembers(value: object, place: SanitizeState): Record<string, unknown> {
  const members = Object.entries(value).slice(0, maxMapMembers);
  return Object.fromEntries(
    members.map(([name, member]) => [
      /^[a-z_]{5,20}:./.test(name) ? sanitizeId(name) : removedMark,
      sanitizeAt(member, { ...place, kind: 'inside' }),
    ]),
  );
}

function sanitizeList(list: readonly unknown[], place: SanitizeState): unknown[] {
  const kind = place.kind === 'map' ? 'inside' : place.kind;
  const kept = list.slice(0, maxListLength).map((element) => sanitizeAt(element, { ...place, kind }));
  if (list.length <= maxListLength) return kept;
  collectSecrets(list.slice(maxListLength), place.secrets);
  return [...kept, `${trimmedMark} ${list.length - maxListLength} more`];
}

const maxCollectedSecrets = 1000;

/** Every text inside what is left out is a secret. Level by level, for what is left out may be nested without end. */
function collectSecrets(left: unknown, secrets: Set<string>): void {
  let level: unknown[] = [left];
  while (level.length > 0 && secrets.size < maxCollectedSecrets) {
    const inner = level.filter((value) => typeof value === 'object' && value !== null) as object[];
    const names = inner.flatMap(listKeys).filter((name) => !getFieldKind(name) && !isSecretField(name));
    const texts = level.filter((value) => typeof value === 'string');
    for (const text of [...texts, ...names].slice(0, maxCollectedSecrets)) secrets.add(text);
    level = inner.flatMap((value) => Object.values(value) as unknown[]);
  }
}

const listKeys = (value: object): string[] => (Array.isArray(value) ? [] : Object.keys(value));
