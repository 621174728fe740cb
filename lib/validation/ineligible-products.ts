import { type Catalogue, findCatalogueProduct } from '../apps/catalogue.ts';
import { type Platform, withPlatform } from '../foundation/platform.ts';
import type { ValidationRequest } from '../stores/store.ts';

interface ProductContext {
  readonly platform: Platform;
  readonly products?: ValidationRequest['products'];
  readonly catalogue?: Catalogue | undefined;
}

/**
 * Adds the other products of the subscription groups: a customer uses one introductory price per group. The groups come
 * from the app's catalogue, else from the products in the request.
 * @see https://developer.apple.com/documentation/storekit/implementing-introductory-offers-in-your-app
 */
export function addProductsOfGroups(
  usedIds: readonly string[],
  { platform, products = [], catalogue = {} }: ProductContext,
): string[] {
  const findGroup = (id: string): string | undefined =>
    findCatalogueProduct(catalogue, withPlatform(platform, id))?.group ??
    products.find((product) => product.id === id)?.group;
  const usedGroups = new Set(usedIds.flatMap((id) => findGroup(id) ?? []));
  const prefix = `${platform}:`;
  const catalogueIds = Object.keys(catalogue).flatMap((key) => {
    if (key.startsWith(prefix)) return [key.slice(prefix.length)];
    return key.includes(':') ? [] : [key];
  });
  const others = [...products.map(({ id }) => id), ...catalogueIds].filter((id) => {
    const group = findGroup(id);
    return group !== undefined && usedGroups.has(group);
  });
  return [...new Set([...usedIds, ...others])];
}
