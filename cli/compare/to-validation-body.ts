import { ServiceError } from '../../lib/foundation/errors.ts';
import { type Platform, platformTokens } from '../../lib/foundation/platform.ts';
import { resolveTransactionType, type Vocabulary } from '../../lib/foundation/vocabulary.ts';
import { parseImportRow, type RawRow } from '../../lib/import/parse-import-row.ts';
import { omitPlatform } from './validator-result.ts';

interface BodyOptions {
  /**
   * Vocabulary of `transaction.type` in bodies that are built from rows of an import. Recorded bodies stay as they are.
   */
  readonly vocabulary: Vocabulary;
  /** The bodies name the customer. Both validators then record a claim of the customer. */
  readonly includesUser: boolean;
}

const brandTypes: Readonly<Record<string, string>> = {
  'ios-store': 'ios-appstore',
  'android-store': 'android-playstore',
  'store_c-transaction': 'windows-store-transaction',
  'processor_a-charge': 'stripe-charge',
};

/**
 * Returns the body of a validation for a row: a recorded body, or one built from a row of an import. Throws
 * `InvalidPayload` if the row cannot be validated by both validators.
 */
export function toValidationBody(raw: RawRow, options: BodyOptions): object {
  const body = isRecordedBody(raw) ? raw : buildBody(raw, options);
  requireRepeatable(body);
  const { additionalData: _user, ...withoutUser } = body;
  return options.includesUser ? body : withoutUser;
}

const isRecordedBody = ({ transaction }: RawRow): boolean => typeof transaction === 'object' && transaction !== null;

const chargeMessage = 'A validation of Braintree charges the customer, so it is not repeated.';
const chargeError = (): ServiceError => new ServiceError('InvalidPayload', chargeMessage);

/** `toValidationBody` threw the error because the row must never be compared. */
export const isExclusion = ({ message }: ServiceError): boolean => message === chargeMessage;

/** A repeated validation of Braintree would charge the customer. */
function requireRepeatable({ transaction }: RawRow): void {
  const { type } = (transaction ?? {}) as { readonly type?: unknown };
  const platform = resolveTransactionType({ type: String(type) })?.platform;
  if (platform === platformTokens.braintree || 'paymentMethodNonce' in ((transaction ?? {}) as object))
    throw chargeError();
}

function buildBody(raw: RawRow, { vocabulary }: BodyOptions): RawRow {
  const { platform, query, evidence, usernames } = parseImportRow(raw);
  const request = 'validation' in query ? query.validation : buildRequest(platform, evidence, raw);
  const { type = '' } = request.transaction;
  const [applicationUsername] = usernames;
  return {
    ...request,
    transaction: { ...request.transaction, type: vocabulary === 'brand' ? (brandTypes[type] ?? type) : type },
    ...(applicationUsername !== undefined && { additionalData: { applicationUsername } }),
  };
}

function buildRequest(platform: Platform, evidence: string, { productId, type }: RawRow) {
  if (platform === platformTokens.appStore)
    throw new ServiceError(
      'InvalidPayload',
      'A validation of the App Store needs a receipt. Compare the purchases of the customers with --users.',
    );
  if (platform === platformTokens.braintree) throw chargeError();
  if (typeof productId !== 'string' || productId === '')
    throw new ServiceError('InvalidPayload', 'productId is missing, which a validation needs.');
  const transaction =
    platform === platformTokens.googlePlay
      ? { type: 'android-store', purchaseToken: evidence }
      : { type: 'processor_a-charge', id: evidence };
  return {
    id: omitPlatform(productId),
    type: typeof type === 'string' && type !== '' ? type : 'paid subscription',
    transaction,
  };
}
