import { createErasedNameRepository } from '../lib/db/erased-name-repository.ts';
import { createExchangeRateRepository } from '../lib/db/exchange-rate-repository.ts';
import { createOwnedPurchaseRepository } from '../lib/db/owned-purchase-repository.ts';
import { createPayerRepository } from '../lib/db/payer-repository.ts';
import { createRateCache } from '../lib/money/exchange-rates/rate-cache.ts';
import { omitErasedNames } from '../lib/purchases/erased-names.ts';
import { createRecordPurchase } from '../lib/purchases/record-purchase.ts';
import { omitUndefined } from '../lib/shared/omit-undefined.ts';
import { once } from '../lib/shared/once.ts';
import { appCache, apps } from './apps.ts';
import { cipher } from './cipher.ts';
import { now } from './environment.ts';
import { purchases } from './purchases.ts';
import { table } from './table.ts';

export const exchangeRates = once(() => createRateCache(createExchangeRateRepository(table()), now));

export const erasedNames = once(() =>
  createErasedNameRepository(table(), cipher(), {
    findApp: appCache().find,
    getOrCreateErasureKey: apps().getOrCreateErasureKey,
  }),
);

/** Records an observation or a claim of a purchase, without erased names. */
export const recordPurchase = once(() => {
  const { listRepresentativePurchases } = createOwnedPurchaseRepository(table());
  return omitErasedNames(
    createRecordPurchase(
      purchases(),
      exchangeRates(),
      async (appName) => {
        const [app, catalogue] = await Promise.all([appCache().find(appName), appCache().findCatalogue(appName)]);
        const { unverifiedHours, commissionRates, exchangeRates: appRates } = app ?? {};
        return { ...omitUndefined({ catalogue, commissionRates, exchangeRates: appRates }), unverifiedHours };
      },
      async (appName, username) => await listRepresentativePurchases(appName, username, 'subscriptions'),
      createPayerRepository(table()),
    ),
    erasedNames(),
  );
});
