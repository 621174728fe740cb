import * as v from 'valibot';
import { ServiceError } from '../../errors.ts';
import { prefixed } from '../../purchases/platform.ts';
import type { Store } from '../store.ts';
import { connected } from './connected.ts';
import { lookUp } from './look-up.ts';
import { missed } from './missed.ts';
import { notice } from './notice.ts';
import { isLicenceKey } from './receipt.ts';
import { receive } from './receive.ts';
import { storeBSettings } from './settings.ts';
import { settle } from './settle.ts';
import { validate } from './validate.ts';

const RefreshToken = v.object({ purchaseToken: v.string(), kind: v.string(), productId: v.optional(v.string(), '') });
const Token = v.object({ purchaseToken: v.pipe(v.string(), v.minLength(1), v.maxBytes(800)) });

/** The second mobile app store. */
export const storeB: Store = {
  platform: 'store_b',
  validate,
  afterStored: settle,
  receive,
  observe: notice,
  missed,
  identify({ transaction }) {
    const sent = v.safeParse(Token, transaction);
    return sent.success ? prefixed('store_b', sent.output.purchaseToken) : undefined;
  },
  async refresh(refreshToken, asking) {
    const { purchaseToken: token, kind, productId } = v.parse(RefreshToken, refreshToken);
    const isSubscription = kind === 'subscription';
    const hints =
      kind === 'consumable' || kind === 'non consumable' ? ({ id: productId, type: kind } as const) : undefined;
    const wanted = { token, hints, productId, isSubscription };
    const found = await lookUp(wanted, { play: connected(asking), now: asking.now() });
    return !found || found === 'gone' ? [] : found.observations;
  },
  async checkSettings(asking, { askStore }) {
    const { serviceAccount, licenseKey } = storeBSettings(asking.settings);
    if (licenseKey !== undefined && !isLicenceKey(licenseKey))
      throw new ServiceError('InvalidPayload', 'licenseKey: expected the base64 text that the Play Console shows.');
    if (!serviceAccount)
      return 'The form is right. Without a service account receipts are verified by their signatures alone.';
    if (!askStore) return 'The form is right.';
    // A token that no purchase has: Google tells whether it would have answered.
    await connected(asking).subscription('claimcheck-settings-check');
    return 'Google accepts the service account for this application.';
  },
};
