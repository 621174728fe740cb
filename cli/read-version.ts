import { readFileSync } from 'node:fs';
import * as v from 'valibot';
import { parseJson } from '../lib/foundation/parse.ts';

const Package = v.object({ version: v.string() });

export const readVersion = (): string =>
  parseJson(Package, readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
