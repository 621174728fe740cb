import { appCache } from '../../composition/apps.ts';
import { checkoutDeps } from '../../composition/checkout.ts';
import { createHandler } from '../../composition/endpoint.ts';
import { now } from '../../composition/environment.ts';
import { events } from '../../composition/events.ts';
import { purchases } from '../../composition/purchases.ts';
import { table } from '../../composition/table.ts';
import { signOffer as contract } from '../../lib/api/offers.ts';
import { authorizeReader } from '../../lib/checkout/authorize-reader.ts';
import { createOwnedPurchaseRepository } from '../../lib/db/owned-purchase-repository.ts';
import { createTokenBucketRepository } from '../../lib/db/token-bucket-repository.ts';
import { createTransactionRepository } from '../../lib/db/transaction-repository.ts';
import { findValidatedReceipt } from '../../lib/offers/find-validated-receipt.ts';
import { signOffer } from '../../lib/offers/sign-offer.ts';
import { ServiceError } from '../../lib/shared/errors.ts';
import { platformTokens, withoutPlatform } from '../../lib/shared/platform.ts';
import type { EpochMillis } from '../../lib/shared/time.ts';

export const handler = createHandler(contract, () => ({
  appCache: appCache(),
  buckets: createTokenBucketRepository(table()),
  events: events(),
  now,
  ownedPurchases: createOwnedPurchaseRepository(table()),
  purchases: purchases(),
  transactions: createTransactionRepository(table()),
}))(async ({ app, key, body, recorder }, deps) => {
  const { applicationUsername: username, accessToken, ...request } = body;
  recorder.setUser(username);
  const isPublic = key.level === 'public' && accessToken === undefined;
  if (!isPublic) await authorizeReader(accessToken, { key, username }, () => ({ app, recorder, deps: checkoutDeps() }));
  const receipt = isPublic ? await requireReceipt(app.name, username, deps) : undefined;
  const { name: appName } = app;
  const [settings, catalogue = {}] = await Promise.all([
    deps.appCache.findStoreSettings(appName, platformTokens.appStore),
    deps.appCache.findCatalogue(appName),
  ]);
  const offer = {
    ...request,
    productId: omitPrefix(request.productId),
    transactionId: request.transactionId && omitPrefix(request.transactionId),
  };
  const { timestamp, ...signature } = await signOffer(offer, { appName, username, receipt, settings, catalogue, deps });
  return { kind: request.kind, productId: offer.productId, ...signature, timestamp };
});

async function requireReceipt(
  appName: string,
  username: string,
  { now, ...deps }: Omit<Parameters<typeof findValidatedReceipt>[2], 'now'> & { now(): EpochMillis },
): Promise<string> {
  const receipt = await findValidatedReceipt(appName, username, { ...deps, now: now() });
  if (receipt !== undefined) return receipt;
  throw new ServiceError(
    'Forbidden',
    "The public key requires the customer's access token, or a validation of a purchase of the customer in the last hour.",
  );
}

const omitPrefix = (id: string): string => (id.includes(':') ? withoutPlatform(id) : id);
