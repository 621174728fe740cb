import { findCachedCatalogue } from '../../lib/apps/catalogue-table.ts';
import { findCachedSettings } from '../../lib/apps/store-settings-table.ts';
import { authorizeReader } from '../../lib/checkout/list-checkout-purchases.ts';
import { ServiceError } from '../../lib/foundation/errors.ts';
import { platformTokens, withoutPlatform } from '../../lib/foundation/platform.ts';
import type { Service } from '../../lib/foundation/service.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { signOffer } from '../../lib/offers/contract.ts';
import { findValidatedReceipt } from '../../lib/offers/find-validated-receipt.ts';
import { signAllowedOffer } from '../../lib/offers/sign-allowed-offer.ts';

export const handler = createHandler(signOffer)(async ({ app, key, body, recorder }, service) => {
  const { applicationUsername: username, accessToken, ...request } = body;
  recorder.setUser(username);
  const isPublic = key.level === 'public' && accessToken === undefined;
  if (!isPublic) await authorizeReader({ app, recorder, service }, accessToken, { key, username });
  const receipt = isPublic ? await requireReceipt(service, app.name, username) : undefined;
  const { name: appName } = app;
  const [settings, catalogue = {}] = await Promise.all([
    findCachedSettings(service, appName, platformTokens.appStore),
    findCachedCatalogue(service, appName),
  ]);
  const offer = {
    ...request,
    productId: omitPrefix(request.productId),
    transactionId: request.transactionId && omitPrefix(request.transactionId),
  };
  const { timestamp, ...signature } = await signAllowedOffer(service, offer, {
    appName,
    username,
    receipt,
    settings,
    catalogue,
  });
  return { kind: request.kind, productId: offer.productId, ...signature, timestamp };
});

async function requireReceipt(service: Service, appName: string, username: string): Promise<string> {
  const receipt = await findValidatedReceipt(service, appName, username);
  if (receipt !== undefined) return receipt;
  throw new ServiceError(
    'Forbidden',
    "The public key requires the customer's access token, or a validation of a purchase of the customer in the last hour.",
  );
}

const omitPrefix = (id: string): string => (id.includes(':') ? withoutPlatform(id) : id);
