import * as v from 'valibot';
import { platformTokens, withPlatform } from '../../foundation/platform.ts';
import type { ValidationRequest } from '../store.ts';

const PurchaseToken = v.object({ purchaseToken: v.pipe(v.string(), v.minLength(1), v.maxBytes(800)) });

/** Returns the id of the purchase that a request names by its purchase token, without any call. */
export function identifyPurchase({ transaction }: ValidationRequest): string | undefined {
  const result = v.safeParse(PurchaseToken, transaction);
  return result.success ? withPlatform(platformTokens.googlePlay, result.output.purchaseToken) : undefined;
}
