import { createHash } from 'node:crypto';
import * as keys from './keys.ts';
import type { Table } from './table.ts';

/** The forms in which stores echo a user back, and whose they are. */
export interface Aliases {
  /** Remembers the user's MD5 form and the form that the client says it gave to the store. */
  remember(app: string, username: string, obfuscatedUsername?: string): Promise<void>;
  /** The user behind a form that a store echoed: raw, MD5, MD5 laid out as a UUID, or one that a client told of. */
  userOf(app: string, token: string): Promise<string | undefined>;
}

export function aliasesOf(table: Table): Aliases {
  return {
    async remember(app, username, obfuscatedUsername) {
      const md5 = createHash('md5').update(username).digest('hex');
      const forms = new Set([md5, ...(obfuscatedUsername ? [obfuscatedUsername] : [])].map(canonicalAlias));
      await table.batchPut([...forms].map((form) => ({ ...keys.aliasKey(app, form), username })));
    },
    async userOf(app, token) {
      const alias = await table.get(keys.aliasKey(app, canonicalAlias(token)));
      if (alias) return String(alias.username);
      const customer = await table.get(keys.customerKey(app, token));
      return customer && token;
    },
  };
}

/**
 * One form for an MD5 in hex and for the same MD5 laid out as a UUID, whose version and variant digits overwrite two of
 * its 32; any other text stands for itself.
 */
function canonicalAlias(token: string): string {
  const hex = token.toLowerCase().replaceAll('-', '');
  if (!/^[0-9a-f]{32}$/.test(hex)) return token;
  return `${hex.slice(0, 12)}_${hex.slice(13, 16)}_${hex.slice(17)}`;
}
