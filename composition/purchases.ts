import { createPurchaseRepository } from '../lib/db/purchase-repository.ts';
import { once } from '../lib/shared/once.ts';
import { cipher } from './cipher.ts';
import { table } from './table.ts';

export const purchases = once(() => createPurchaseRepository(table(), cipher()));
