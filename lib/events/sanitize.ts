import { isKnownSecret, type Kind, kindOf } from './may-stay.ts';
import type { Scrub } from './scrub.ts';
import { removed, safeId, safeText, trimmed } from './texts.ts';

const longestList = 20;
const longestWord = 64;
const mostMembers = 100;
const deepest = 8;

interface Sanitizing {
  /** Takes each text that is removed, so that messages that repeat it can be scrubbed. */
  readonly secrets?: Set<string>;
  /** What texts for people go through. A request's own are not: they repeat no secret, and there may be thousands. */
  readonly scrub?: Scrub;
}

interface Place extends Required<Sanitizing> {
  readonly kind: Kind;
  readonly depth: number;
}

/** The value with only what may stay: other fields and misplaced texts removed, long texts and lists trimmed with a mark. */
export function sanitize(value: unknown, { secrets = new Set(), scrub = (text) => text }: Sanitizing = {}): unknown {
  return sanitizeAt(value, { kind: 'inside', depth: 0, secrets, scrub });
}

function sanitizeAt(value: unknown, place: Place): unknown {
  if (typeof value === 'string') return sanitizeString(value, place);
  if (typeof value === 'number') return isStorable(value) ? value : removed;
  if (typeof value !== 'object' || value === null) return value;
  if (place.depth >= deepest) {
    tellAll(value, place.secrets);
    return trimmed;
  }
  const deeper = { ...place, depth: place.depth + 1 };
  if (Array.isArray(value)) return sanitizeList(value, deeper);
  return place.kind === 'map' ? sanitizeMembers(value, deeper) : sanitizeFields(value, deeper);
}

/** Numbers that the table can hold; clients send others. */
const isStorable = (value: number): boolean => value === 0 || (Math.abs(value) > 1e-100 && Math.abs(value) < 1e100);

function sanitizeString(text: string, { kind, secrets, scrub }: Place): string {
  const kept = stringAs[kind](text, scrub);
  if (kept === removed) tellAll(text, secrets);
  return kept;
}

const stringAs: Readonly<Record<Kind, (text: string, scrub: Scrub) => string>> = {
  id: safeId,
  text: (text, scrub) => safeText(scrub(text)),
  word: (text) => (text.length > longestWord ? removed : safeText(text)),
  number: (text) => (/^-?[\d.,]{1,20}$/.test(text) ? text : removed),
  date: (text) => (/^[\dTZ:. +-]{1,40}$/.test(text) ? text : removed),
  flag: (text) => (text === 'true' || text === 'false' ? text : removed),
  inside: () => removed,
  map: () => removed,
};

/** Unlisted names are not shown, for a name can be a secret as well; their number is. */
function sanitizeFields(value: object, place: Place): Record<string, unknown> {
  const fields = Object.entries(value);
  const listed = fields.flatMap(([field, inner]) => {
    const kind = kindOf(field);
    if (kind) return [[field, sanitizeAt(inner, { ...place, kind })] as const];
    tellAll(inner, place.secrets);
    if (!isKnownSecret(field)) {
      tellAll(field, place.secrets);
      return [];
    }
    // However many other texts were removed before it.
    if (typeof inner === 'string') place.secrets.add(inner);
    return [[field, removed] as const];
  });
  const unlisted = fields.filter(([field]) => !kindOf(field) && !isKnownSecret(field)).length;
  return { ...Object.fromEntries(listed), ...(unlisted > 0 && { [removed]: unlisted }) };
}

/** The members of `purchases` are named by product ids of the form `{platform}:{productId}`. */
function sanitizeMembers(value: object, place: Place): Record<string, unknown> {
  const members = Object.entries(value).slice(0, mostMembers);
  return Object.fromEntries(
    members.map(([name, member]) => [
      /^[a-z_]{5,20}:./.test(name) ? safeId(name) : removed,
      sanitizeAt(member, { ...place, kind: 'inside' }),
    ]),
  );
}

function sanitizeList(list: readonly unknown[], place: Place): unknown[] {
  const kind = place.kind === 'map' ? 'inside' : place.kind;
  const kept = list.slice(0, longestList).map((element) => sanitizeAt(element, { ...place, kind }));
  if (list.length <= longestList) return kept;
  tellAll(list.slice(longestList), place.secrets);
  return [...kept, `${trimmed} ${list.length - longestList} more`];
}

const mostSecrets = 1000;

/** Every text inside what is left out is a secret. Level by level, for what is left out may be nested without end. */
function tellAll(left: unknown, secrets: Set<string>): void {
  let level: unknown[] = [left];
  while (level.length > 0 && secrets.size < mostSecrets) {
    const inner = level.filter((value) => typeof value === 'object' && value !== null) as object[];
    const names = inner.flatMap(namesOf).filter((name) => !kindOf(name) && !isKnownSecret(name));
    const texts = level.filter((value) => typeof value === 'string');
    for (const text of [...texts, ...names].slice(0, mostSecrets)) secrets.add(text);
    level = inner.flatMap((value) => Object.values(value) as unknown[]);
  }
}

const namesOf = (value: object): string[] => (Array.isArray(value) ? [] : Object.keys(value));
