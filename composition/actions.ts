import type { ActionDeps } from '../lib/actions/perform-action.ts';
import { createUserAliasRepository } from '../lib/db/user-alias-repository.ts';
import { once } from '../lib/shared/once.ts';
import { loadStore } from '../lib/stores/index.ts';
import { events } from './events.ts';
import { recordPurchase } from './record-purchase.ts';
import { storeContextDeps } from './store-context.ts';
import { table } from './table.ts';

/** What performs actions at the stores. */
export const actionDeps = once(
  (): ActionDeps => ({
    ...storeContextDeps(),
    events: events(),
    loadStore,
    recordPurchase: recordPurchase(),
    userAliases: createUserAliasRepository(table()),
  }),
);
