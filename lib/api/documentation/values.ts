import { Platform } from '../../foundation/platform.ts';
import { describeFormat, describeValue } from '../describe.ts';
import { CancelationReason, PriceConsentStatus, ProductType, RenewalIntent, TagType } from '../enumerations.ts';
import { DateOrDateTime, QueryDay } from '../paging.ts';
import { PlatformToken } from '../purchase-records.ts';
import { CurrencyCode, DateTime } from '../schemas.ts';

/** Enumerations and text formats. */
export const valueDescriptions = [
  describeValue(
    'NeutralPlatform',
    Platform,
    'Store in the neutral vocabulary: `store_a` Apple App Store, `store_b` Google Play, `store_c` Microsoft Store, `processor_a` Stripe, `service_processor_a` Stripe by the account of the deployment, `processor_b` Braintree.',
    'store_a',
  ),
  describeValue(
    'PlatformToken',
    PlatformToken,
    'Store in the vocabulary of the app: neutral tokens, or the brand tokens `apple`, `google`, `windows`, `stripe`, `iaptic` and `braintree`. Ids have the same prefix.',
    'store_a',
  ),
  describeValue(
    'ProductType',
    ProductType,
    'Type of a product. `paid subscription` renews automatically.',
    'paid subscription',
  ),
  describeValue(
    'RenewalIntent',
    RenewalIntent,
    'Whether the customer lets the subscription renew (`Renew`) or expire (`Lapse`).',
    'Renew',
  ),
  describeValue(
    'PriceConsentStatus',
    PriceConsentStatus,
    'Whether the customer agreed to a price increase (`Agreed`) or was only notified of it (`Notified`).',
    'Agreed',
  ),
  describeValue(
    'CancelationReason',
    CancelationReason,
    'Why a purchase ended or does not renew: by the developer, the store or payment system, or the customer. `PAUSED`: the subscription is paused.',
    'Customer',
  ),
  describeValue(
    'TagType',
    TagType,
    'Kind of an event tag: `_A` customer, `_R` request id, `_X` error, `AT` access token, `_P` purchase, `_T` transaction, `_I` product.',
    '_A',
  ),
  describeFormat(DateTime, '2026-01-15T09:30:00.000Z', { type: 'string', format: 'date-time' }),
  describeFormat(DateOrDateTime, '2026-01-15T09:30:00Z', {
    type: 'string',
    anyOf: [{ format: 'date' }, { format: 'date-time' }],
  }),
  describeFormat(QueryDay, '2026-01-15', { type: 'string', format: 'date' }),
  describeFormat(CurrencyCode, 'EUR', { type: 'string', pattern: '^[A-Za-z]{3}$' }),
];
