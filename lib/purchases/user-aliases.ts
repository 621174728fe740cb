import { createHash } from 'node:crypto';

/** A customer with the form of the username that the client says it passed to the store. */
export interface AliasedUser {
  readonly username: string;
  readonly obfuscatedUsername?: string;
}

/** No other customer can have this alias. */
export const containsMd5Alias = (userAliases: readonly string[], username: string): boolean =>
  userAliases.some((alias) => normalizeAlias(alias) === toMd5Alias(username));

/** A form of the customer is the username, its MD5, or the form that the client says. */
export function containsAliasOf(
  userAliases: readonly string[],
  { username, obfuscatedUsername }: AliasedUser,
): boolean {
  const forms = [username, ...(obfuscatedUsername === undefined ? [] : [obfuscatedUsername])].map(normalizeAlias);
  return containsMd5Alias(userAliases, username) || userAliases.some((alias) => forms.includes(normalizeAlias(alias)));
}

/** A form of the text as a username is its MD5 in hex or as a UUID. */
export const containsAliasForm = (userAliases: readonly string[], text: string): boolean =>
  containsAliasOf(userAliases, { username: text });

/** Lists the forms of the client that do not follow from the username. They count if a store confirms them. */
export const listClientAliases = ({ username, obfuscatedUsername }: AliasedUser): string[] =>
  [...(isMd5(username) ? [username] : []), ...(obfuscatedUsername === undefined ? [] : [obfuscatedUsername])].filter(
    (alias) => normalizeAlias(alias) !== toMd5Alias(username),
  );

/** Returns the normalized MD5 of a username. */
export const toMd5Alias = (username: string): string => normalizeAlias(toMd5Hex(username));

/** Returns the MD5 of a username in hex, as client plugins pass it to Google Play. */
export const toMd5Hex = (username: string): string => createHash('md5').update(username, 'utf8').digest('hex');

/**
 * Returns the UUID that client plugins pass to the App Store for a customer: the username if it is a UUID, otherwise
 * its MD5 as a UUID of version 3.
 */
export function toUserUuid(username: string): string {
  if (isUuid(username)) return username.toLowerCase();
  return toUuid(toMd5Hex(username), 3);
}

const isUuid = (alias: string): boolean => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(alias);

/** An MD5 in hex, or a UUID of version 3, which clients build from an MD5. */
export const isMd5 = (alias: string): boolean => /^[0-9a-f]{32}$/i.test(alias) || (isUuid(alias) && alias[14] === '3');

/**
 * Returns the same text for an MD5 in hex and as a UUID: the UUID's version and variant overwrite two of its 32
 * digits. Returns another UUID in lower case, and any other text unchanged.
 */
export function normalizeAlias(alias: string): string {
  if (!isMd5(alias)) return isUuid(alias) ? alias.toLowerCase() : alias;
  const hex = alias.toLowerCase().replaceAll('-', '');
  return `${hex.slice(0, 12)}_${hex.slice(13, 16)}_${hex.slice(17)}`;
}

/** Formats the first 32 digits of a digest in hex as a UUID. Its version and variant replace two of the digits. */
export const toUuid = (hex: string, version: 3 | 4 | 8): string =>
  [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `${version}${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ].join('-');
