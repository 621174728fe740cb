import { createAccessTokenRepository } from '../lib/db/access-token-repository.ts';
import { createOperationRepository } from '../lib/db/operation-repository.ts';
import { createTransactionRepository } from '../lib/db/transaction-repository.ts';
import { createVaultReferenceRepository } from '../lib/db/vault-reference-repository.ts';
import { once } from '../lib/shared/once.ts';
import type { StoreContextDeps } from '../lib/stores/create-store-context.ts';
import { appCache } from './apps.ts';
import { emulator, now } from './environment.ts';
import { purchases } from './purchases.ts';
import { table } from './table.ts';

/** What `createStoreContext` needs. */
export const storeContextDeps = once(
  (): StoreContextDeps => ({
    now,
    emulator: emulator(),
    appCache: appCache(),
    operations: createOperationRepository(table(), now),
    accessTokens: createAccessTokenRepository(table()),
    vaultReferences: createVaultReferenceRepository(table()),
    purchases: purchases(),
    transactions: createTransactionRepository(table()),
  }),
);
