import { createHash } from 'node:crypto';
import * as keys from './keys.ts';
import type { Table } from './table.ts';

/** The forms in which stores echo a user back, and whose they are. */
export interface Aliases {
  /** Remembers the user's MD5 form and the form that the client says it gave to the store. */
  remember(app: string, username: string, obfuscatedUsername?: string): Promise<void>;
  /** The user behind a form that a store echoed: raw, MD5, MD5 laid out as a UUID, or one that a client told of. */
  userOf(app: string, token: string): Promise<string | undefined>;
  /** The purchases (ids) that came before their user was known, under any of the user's forms. */
  waitingFor(app: string, username: string, obfuscatedUsername?: string): Promise<string[]>;
}

export function aliasesOf(table: Table): Aliases {
  return {
    async remember(app, username, obfuscatedUsername) {
      const forms = formsOf(username, obfuscatedUsername);
      await table.batchPut(forms.map((form) => ({ ...keys.aliasKey(app, form), username })));
    },
    async waitingFor(app, username, obfuscatedUsername) {
      const forms = [...formsOf(username, obfuscatedUsername), canonicalAlias(username)];
      const waiting = await Promise.all(
        forms.map((form) => table.query({ partition: keys.aliasKey(app, form).pk, prefix: keys.waitingPrefix })),
      );
      return [...new Set(waiting.flat().map(({ sk }) => String(sk).slice(keys.waitingPrefix.length)))];
    },
    async userOf(app, token) {
      const alias = await table.get(keys.aliasKey(app, canonicalAlias(token)));
      if (alias) return String(alias.username);
      const customer = await table.get(keys.customerKey(app, token));
      return customer && token;
    },
  };
}

function formsOf(username: string, obfuscatedUsername: string | undefined): string[] {
  const md5 = createHash('md5').update(username).digest('hex');
  return [...new Set([md5, ...(obfuscatedUsername ? [obfuscatedUsername] : [])].map(canonicalAlias))];
}

/**
 * One form for an MD5 in hex and for the same MD5 laid out as a UUID, whose version and variant digits overwrite two of
 * its 32; any other text stands for itself.
 */
export function canonicalAlias(token: string): string {
  const hex = token.toLowerCase().replaceAll('-', '');
  if (!/^[0-9a-f]{32}$/.test(hex)) return token;
  return `${hex.slice(0, 12)}_${hex.slice(13, 16)}_${hex.slice(17)}`;
}
