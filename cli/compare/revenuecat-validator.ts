import { ServiceError } from '../../lib/foundation/errors.ts';
import { collect, findProject, Purchase, Subscription } from '../import/from/pull-revenuecat.ts';
import { readRevenueCatCatalogue } from '../import/from/revenuecat-catalogue.ts';
import { createRevenueCatClient, type RevenueCatOptions } from '../import/from/revenuecat-client.ts';
import type { Validator } from './validator.ts';
import type { OwnedState } from './validator-result.ts';

/** Creates a validator of the purchases that RevenueCat has for a customer. It does not validate. */
export async function createRevenueCatValidator(
  options: RevenueCatOptions & { readonly project: string | undefined },
): Promise<Validator> {
  const client = createRevenueCatClient(options);
  const project = options.project ?? (await findProject(client));
  const { productIds } = await readRevenueCatCatalogue(client, project);
  const title = 'RevenueCat';
  return {
    title,
    validate: () =>
      Promise.reject(new ServiceError('InvalidPayload', `${title} is compared by customers: pass --users.`)),
    async listPurchases(username) {
      const path = `/projects/${encodeURIComponent(project)}/customers/${encodeURIComponent(username)}`;
      const subscriptions = await collect(client.listOfCustomer(`${path}/subscriptions`, Subscription));
      const purchases = await collect(client.listOfCustomer(`${path}/purchases`, Purchase));
      return {
        isOk: true,
        hasStatesOnly: true,
        purchases: [
          ...subscriptions
            .filter(({ store }) => store !== 'promotional')
            .map(({ product_id, gives_access, current_period_ends_at, ends_at }) =>
              toState(
                productIds.get(product_id ?? '') ?? '',
                gives_access,
                ends_at ?? current_period_ends_at ?? undefined,
              ),
            ),
          ...purchases.map(({ product_id, status }) =>
            toState(productIds.get(product_id ?? '') ?? '', status !== 'refunded', undefined),
          ),
        ],
      };
    },
  };
}

/** RevenueCat's ids are of the latest renewal, so that they do not identify a purchase here. */
const toState = (productId: string, isOwned: boolean, expiryDate: number | undefined): OwnedState => ({
  productId,
  purchaseId: undefined,
  transactionId: undefined,
  purchaseDate: undefined,
  isOwned,
  expiryDate,
  cancelationReason: undefined,
  isTrialPeriod: false,
  isIntroPeriod: false,
  isConsumed: false,
});
