import type { CheckoutDeps } from '../lib/checkout/checkout-context.ts';
import { createOwnedPurchaseRepository } from '../lib/db/owned-purchase-repository.ts';
import { createPriceListRepository } from '../lib/db/price-list-repository.ts';
import { createUserAliasRepository } from '../lib/db/user-alias-repository.ts';
import { once } from '../lib/shared/once.ts';
import { erasedNames, exchangeRates, recordPurchase } from './record-purchase.ts';
import { storeContextDeps } from './store-context.ts';
import { table } from './table.ts';

/** What the endpoints of the Stripe checkout need. */
export const checkoutDeps = once(
  (): CheckoutDeps => ({
    ...storeContextDeps(),
    erasedNames: erasedNames(),
    exchangeRates: exchangeRates(),
    ownedPurchases: createOwnedPurchaseRepository(table()),
    priceLists: createPriceListRepository(table()),
    recordPurchase: recordPurchase(),
    userAliases: createUserAliasRepository(table()),
  }),
);
