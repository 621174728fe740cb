import type { Service } from '../lib/foundation/service.ts';
import { once } from '../lib/shared/once.ts';
import { cipher } from './cipher.ts';
import { now } from './environment.ts';
import { table } from './table.ts';

export const service = once((): Service => ({ now, table: table(), cipher: cipher() }));
