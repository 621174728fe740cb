import type { MappingContext } from '../../../../lib/stores/microsoft-store/mapping-context.ts';
import { toRecurrenceObservation } from '../../../../lib/stores/microsoft-store/recurrence-observation.ts';

export const asOf = Date.parse('2027-02-15T00:00:00Z');

export const recurrenceItem = {
  autoRenew: true,
  beneficiary: 'pub:user-1',
  expirationTime: '2027-02-28T10:00:00.1234567+00:00',
  expirationTimeWithGrace: '2027-03-14T10:00:00+00:00',
  id: 'mdr:0:abc:def',
  isTrial: false,
  lastModified: '2027-02-01T00:00:00+00:00',
  market: 'US',
  productId: '9NBLGGH52Q8X',
  skuId: '0024',
  startTime: '2027-01-31T10:00:00+00:00',
  recurrenceState: 'Active',
};

/** Maps the item with these changes. */
export const mapRecurrence = (changes: object = {}, context: Partial<MappingContext> = {}) =>
  toRecurrenceObservation(
    { ...recurrenceItem, ...changes },
    { asOf, sandbox: false, refreshToken: { productId: recurrenceItem.productId, purchaseKey: 'key' }, ...context },
  );
