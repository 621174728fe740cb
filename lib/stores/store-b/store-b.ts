import * as v from 'valibot';
import { ServiceError } from '../../shared/errors.ts';
import { withPlatform } from '../../shared/platform.ts';
import type { Store } from '../store.ts';
import { connectPlay } from './connect-play.ts';
import { isLicenseKey } from './evidence.ts';
import { fulfill } from './fulfill.ts';
import { listUndelivered } from './list-undelivered.ts';
import { lookUpToken } from './lookup.ts';
import { observe } from './observe.ts';
import { receive } from './receive.ts';
import { parseStoredSettings } from './settings.ts';
import { validate } from './validate.ts';

const RefreshToken = v.object({ purchaseToken: v.string(), kind: v.string(), productId: v.optional(v.string(), '') });
const Token = v.object({ purchaseToken: v.pipe(v.string(), v.minLength(1), v.maxBytes(800)) });

/** The second mobile app store. */
export const storeB: Store = {
  platform: 'store_b',
  validate,
  fulfill,
  receive,
  observe,
  listUndelivered,
  identifyPurchase({ transaction }) {
    const sent = v.safeParse(Token, transaction);
    return sent.success ? withPlatform('store_b', sent.output.purchaseToken) : undefined;
  },
  async refresh(refreshToken, context) {
    const { purchaseToken: token, kind, productId } = v.parse(RefreshToken, refreshToken);
    const isSubscription = kind === 'subscription';
    const hints =
      kind === 'consumable' || kind === 'non consumable' ? ({ id: productId, type: kind } as const) : undefined;
    const wanted = { token, hints, productId, isSubscription };
    const found = await lookUpToken(wanted, { play: connectPlay(context), now: context.now() });
    return !found || found === 'gone' ? [] : found.observations;
  },
  async checkSettings(context, { callStore }) {
    const { serviceAccount, licenseKey } = parseStoredSettings(context.settings);
    if (licenseKey !== undefined && !isLicenseKey(licenseKey))
      throw new ServiceError('InvalidPayload', 'licenseKey: expected the base64 text that the Play Console shows.');
    if (!serviceAccount)
      return 'The form is right. Without a service account receipts are verified by their signatures alone.';
    if (!callStore) return 'The form is right.';
    // A token that no purchase has: Google tells whether it would have answered.
    await connectPlay(context).fetchSubscription('claimcheck-settings-check');
    return 'Google accepts the service account for this application.';
  },
};
