import { normalizeAlias } from '../purchases/user-aliases.ts';

/**
 * Finds a normalized name of the set among the values of a refresh token and the claims of a signed token in it. The
 * StoreID keys of the Microsoft Store contain the `publisherUserId` that the app passed.
 * @see https://learn.microsoft.com/en-us/windows/uwp/monetize/view-and-grant-products-from-a-service
 */
export const hasUsername = (refreshToken: Readonly<Record<string, string>>, names: ReadonlySet<string>): boolean =>
  Object.values(refreshToken)
    .flatMap((value) => [value, ...listClaims(value)])
    .some((text) => names.has(normalizeAlias(text)));

/** Lists the texts in the payload of a signed token. Empty for any other text. */
function listClaims(token: string): string[] {
  const [, payload] = /^[\w-]+\.([\w-]+)\.[\w-]*$/.exec(token) ?? [];
  if (payload === undefined) return [];
  try {
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8')) as unknown;
    return Object.values(Object(claims)).filter((claim) => typeof claim === 'string');
  } catch {
    return [];
  }
}
